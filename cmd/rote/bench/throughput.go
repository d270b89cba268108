package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// load is one contender of the throughput measurement: a way to do the task from several
// callers at once.
type load struct {
	name, engine string
	run          func(context.Context) (string, error)
	// rote and browser are the processes to measure. The floor is a part of this program and
	// has no rote process (0).
	rote, browser int
	// perRun is how much passes between the client and the browser for one run.
	perRun  traffic
	windows map[int]*window // by number of callers
	burst   burst
}

// window is what was seen of one contender at one number of callers, in all rounds.
type window struct {
	times   []time.Duration
	elapsed time.Duration
	cpu     cpuShares
	memory  int64 // the highest sample, in bytes
}

// throughputOptions say what runThroughput measures.
type throughputOptions struct {
	rounds int
	// callers is a list of numbers with commas; empty: only bursts are measured.
	callers string
	window  time.Duration // for each number of callers
	// burst is how many calls are made at once after the quiet time; 0: none.
	burst int
	quiet time.Duration
}

// counts are the numbers of callers.
func (o throughputOptions) counts() (counts []int, err error) {
	for text := range strings.SplitSeq(o.callers, ",") {
		if o.callers == "" {
			break
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-callers: %q is no number of callers", text)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// throughput measures all loads at each number of callers. In each round every contender
// has one window of the given length, in random order.
func (b *bench) throughput(ctx context.Context, loads []*load, callers []int, rounds int, length time.Duration) error {
	for _, l := range loads {
		l.windows = map[int]*window{}
		for _, n := range callers {
			l.windows[n] = &window{}
		}
	}
	for round := range rounds {
		for _, n := range callers {
			for _, i := range rand.Perm(len(loads)) {
				l := loads[i]
				fmt.Fprintf(b.progress, "\rround %d of %d, %d callers, %s on %s          ", round+1, rounds, n, l.name, l.engine)
				if err := b.pause(ctx); err != nil {
					return err
				}
				if err := l.measure(ctx, n, length, l.windows[n]); err != nil {
					return fmt.Errorf("%s on %s, %d callers: %w", l.name, l.engine, n, err)
				}
			}
		}
	}
	fmt.Fprint(b.progress, "\r\x1b[K")
	return nil
}

// once does the task and checks its result.
func (l *load) once(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	answer, err := l.run(ctx)
	took := time.Since(start)
	if err == nil && !strings.Contains(answer, greeting) {
		err = fmt.Errorf("read %q", answer)
	}
	return took, err
}

// measure lets n callers do the task again and again until length has passed, and adds what
// it sees to w. Runs that are under way then are waited for and counted, with their time.
func (l *load) measure(ctx context.Context, n int, length time.Duration, w *window) error {
	before, err := readShares(l.rote, l.browser)
	if err != nil {
		return err
	}
	stop := sampleMemory(l.rote, l.browser)
	start := time.Now()
	err = l.repeat(ctx, n, start.Add(length), w)
	w.elapsed += time.Since(start)
	w.memory = max(w.memory, stop())
	if err != nil {
		return err
	}
	after, err := readShares(l.rote, l.browser)
	if err != nil {
		return err
	}
	w.cpu = w.cpu.plus(after.minus(before))
	return nil
}

// repeat lets n callers do the task until a time. It returns the first error.
func (l *load) repeat(ctx context.Context, n int, until time.Time, w *window) error {
	var mu sync.Mutex
	var failed error
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for time.Now().Before(until) && ctx.Err() == nil {
				took, err := l.once(ctx)
				mu.Lock()
				w.times = append(w.times, took)
				failed = errors.Join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return failed
}

// throughputTable returns the result in Markdown, one row per number of callers and
// contender. The ratios are those of its runs a second and its median time to the floor's.
func throughputTable(loads []*load, callers []int) string {
	var t strings.Builder
	t.WriteString("| callers | who | browser | runs/s | × the floor | p50 ms | × the floor | p95 ms | " +
		"CPU ms a run | rote | browser | renderers | GPU | network | other | messages a run | KB a run | peak MiB |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, n := range callers {
		for _, l := range loads {
			w := l.windows[n]
			runs := float64(len(w.times))
			rate := func(w *window) float64 { return float64(len(w.times)) / w.elapsed.Seconds() }
			rates, medians := "–", "–"
			if f := floorOf(loads, l.engine); f != nil {
				rates = fmt.Sprintf("%.2f", rate(w)/rate(f.windows[n]))
				medians = fmt.Sprintf("%.2f", float64(quantile(w.times, 0.5))/float64(quantile(f.windows[n].times, 0.5)))
			}
			fmt.Fprintf(&t, "| %d | %s | %s | %.1f | %s | %d | %s | %d | %s | %.0f | %.0f | %d |\n",
				n, l.name, l.engine, rate(w), rates, quantile(w.times, 0.5).Milliseconds(), medians, quantile(w.times, 0.95).Milliseconds(),
				w.cpu.perRun(runs), l.perRun.messages, l.perRun.bytes/1000, w.memory>>20)
		}
	}
	return t.String()
}

// runThroughput measures the contenders of all engines and prints the tables.
func (b *bench) runThroughput(ctx context.Context, engines []engine, o throughputOptions) error {
	counts, err := o.counts()
	if err != nil {
		return err
	}
	var all []*load
	for _, e := range engines {
		loads, err := b.addLoads(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		all = append(all, loads...)
	}
	if err := b.throughput(ctx, all, counts, o.rounds, o.window); err != nil {
		return err
	}
	if len(counts) > 0 {
		fmt.Print(throughputTable(all, counts))
	}
	if o.burst == 0 {
		return nil
	}
	if err := b.bursts(ctx, all, o.burst, o.rounds, o.quiet); err != nil {
		return err
	}
	fmt.Print("\n" + burstTable(all, o.burst))
	return nil
}

// addLoads starts the contenders for one browser: the bare protocol with a fresh context for
// each task, on a browser like rote's own, and rote's two front ends. The floor is the first.
func (b *bench) addLoads(ctx context.Context, e engine) ([]*load, error) {
	perRun, err := b.countMessages(ctx, e)
	if err != nil {
		return nil, err
	}
	server, err := b.startREST(ctx, engine{e.name + "-throughput", e.path})
	if err != nil {
		return nil, err
	}
	agent, err := b.startMCP(ctx, engine{e.name + "-throughput", e.path}) // it has the routine of the server
	if err != nil {
		return nil, err
	}
	loads := []*load{{name: oursREST, engine: e.name, run: server.run, rote: server.pid, perRun: perRun},
		{name: oursMCP, engine: e.name, run: agent.run, rote: agent.pid, perRun: perRun}}
	for _, l := range loads {
		if _, err := l.once(ctx); err != nil { // not counted: it starts the browser
			return nil, err
		}
		if l.browser, err = browserOf(l.rote); err != nil {
			return nil, err
		}
	}
	floor, err := b.addFloorLoad(ctx, e, loads[0].browser)
	return append([]*load{floor}, loads...), err
}

// addFloorLoad adds the bare protocol on a browser like that of rote, whose main process is
// given. What passes is counted in one task.
func (b *bench) addFloorLoad(ctx context.Context, e engine, like int) (*load, error) {
	profile, err := os.MkdirTemp("", "rote-bench-profile-")
	if err != nil {
		return nil, err
	}
	browser, err := commandLike(like, profile)
	if err != nil {
		return nil, err
	}
	w, err := startWire(browser, profile)
	if err != nil {
		return nil, err
	}
	b.addCleanup(w.close)
	l := &load{name: floorFresh, engine: e.name, browser: w.browser.Process.Pid, run: func(ctx context.Context) (string, error) {
		return w.freshTask(ctx, b.site.url())
	}}
	if _, err := l.once(ctx); err != nil {
		return nil, err
	}
	before := w.traffic()
	_, err = l.once(ctx)
	l.perRun = w.traffic().minus(before)
	return l, err
}

// countedRuns is how many runs the count of messages is the mean of.
const countedRuns = 20

// countMessages returns how much passes between rote and its browser for one run, with
// what prepares the context of the next one. A relay counts it, in a server of its own,
// because counting takes time.
func (b *bench) countMessages(ctx context.Context, e engine) (traffic, error) {
	r, err := b.startRelay(e.path)
	if err != nil {
		return traffic{}, err
	}
	server, err := b.startREST(ctx, engine{e.name + "-relay", r.executable})
	if err != nil {
		return traffic{}, err
	}
	var before traffic
	for n := range 2 * countedRuns {
		if n == countedRuns {
			if before, err = r.settled(ctx); err != nil {
				return traffic{}, err
			}
		}
		if _, err := server.run(ctx); err != nil {
			return traffic{}, err
		}
	}
	after, err := r.settled(ctx)
	all := after.minus(before)
	return traffic{all.messages / countedRuns, all.bytes / countedRuns}, err
}
