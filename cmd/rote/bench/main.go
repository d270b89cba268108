// Command bench runs one task through rote, through the public browser tools
// that agents are given, and through the bare DevTools Protocol, all on this
// machine and interleaved, and prints how long each takes.
//
//	go run ./cmd/rote/bench
//
//	go run ./cmd/rote/bench -throughput
//
// measures instead how many runs a second rote and the bare protocol do for several
// callers at once, what each run takes, and how soon a burst of calls after a quiet time is
// answered.
//
//	go run ./cmd/rote/bench -model -db postgres://USER@HOST/DATABASE -window 15s
//
// measures what 20 services with 50 runs each, whose browsers only take time, do to one
// Postgres database, and fails if that is more than promised. The server needs
// max_connections = 200.
//
// The task has five steps: open a form, type into it, click its button, wait for
// the URL that the click leads to, read the result. It needs Node and npm for the
// public tools, which it installs into the user's cache directory. It exits with
// 1 when rote is slower than the README promises.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"time"
)

// settleTime is the pause between two contenders, so that the cleanup of one
// does not slow down the next.
const settleTime = 500 * time.Millisecond

// warmUp is the number of first rounds that are not counted.
const warmUp = 3

func main() {
	relayIfAsked(os.Stderr)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	rounds := flag.Int("n", 30, "how many rounds to measure")
	shell := flag.String("shell", "/usr/lib/chromium/chromium-headless-shell", "the headless shell")
	full := flag.String("full", "/usr/lib/chromium/chromium", "full Chromium; empty: leave it out")
	peers := flag.Bool("peers", true, "measure the public tools too (needs Node and npm)")
	throughput := flag.Bool("throughput", false, "measure several callers at once")
	var o throughputOptions
	flag.StringVar(&o.callers, "callers", "1,2,4,8,16", "how many callers, with -throughput; empty: only bursts")
	flag.DurationVar(&o.window, "window", 4*time.Second, "how long one measurement takes, with -throughput or -model")
	flag.IntVar(&o.burst, "burst", 8, "how many calls come at once after a quiet time, with -throughput; 0: leave it out")
	flag.DurationVar(&o.quiet, "quiet", 10*time.Second, "how long that quiet time is")
	model := flag.Bool("model", false, "measure what many replicas take of one Postgres database")
	var m modelOptions
	flag.StringVar(&m.db, "db", "", "address of an empty Postgres database on this machine, with -model")
	flag.IntVar(&m.replicas, "replicas", 20, "how many services, with -model")
	flag.IntVar(&m.slots, "slots", 50, "how many runs at once of each service, with -model")
	flag.DurationVar(&m.run, "run", 2*time.Second, "how long a run is in its browser on average, with -model")
	flag.Parse()
	o.rounds = *rounds
	if m.window = o.window; *model {
		return runModel(ctx, m, os.Stdout)
	}

	b := &bench{rest: settleTime, progress: os.Stderr}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.prepare(ctx, *peers && !*throughput); err != nil {
		return err
	}
	engines := []engine{{"shell", *shell}}
	if *full != "" {
		engines = append(engines, engine{"full", *full})
	}
	for _, e := range engines {
		if _, err := os.Stat(e.path); err != nil {
			return fmt.Errorf("%w (name another with -%s)", err, e.name)
		}
		if *throughput {
			continue
		}
		if err := b.addContenders(ctx, e, *peers); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	if *throughput {
		return b.runThroughput(ctx, engines, o)
	}
	if err := b.measure(ctx, *rounds); err != nil {
		return err
	}
	fmt.Print(b.table())
	if _, how := b.broken(promises); len(how) > 0 {
		return fmt.Errorf("slower than promised:\n  %s", strings.Join(how, "\n  "))
	}
	return nil
}

// engine is a browser with which all contenders are measured.
type engine struct{ name, path string }

// contender is a way to do the task.
type contender struct {
	name, engine string
	// calls is the number of calls that an agent or a program makes.
	calls int
	// run does the task and returns the text that it read.
	run func(context.Context) (string, error)
	// reset, if not nil, prepares the next run. It is not measured.
	reset func(context.Context) error
	times []time.Duration
}

// bench is one comparison.
type bench struct {
	rest       time.Duration // before each run
	progress   io.Writer
	site       *formSite
	dir        string // of all that is left on disk, removed at the end
	rote       string // the program
	peers      string // where the public tools are installed
	contenders []*contender
	cleanup    []func() error
}

func (b *bench) addCleanup(do func() error) { b.cleanup = append(b.cleanup, do) }

// close stops everything that was started, in reverse order.
func (b *bench) close() error {
	var all []error
	for n := len(b.cleanup) - 1; n >= 0; n-- {
		all = append(all, b.cleanup[n]())
	}
	return errors.Join(all...)
}

func (b *bench) add(c *contender) { b.contenders = append(b.contenders, c) }

// measure runs every contender once per round, each time in another order, so
// that other work of the machine affects all of them equally.
func (b *bench) measure(ctx context.Context, rounds int) error {
	for n := range warmUp + rounds {
		fmt.Fprintf(b.progress, "\rround %d of %d ", n+1, warmUp+rounds)
		for _, i := range rand.Perm(len(b.contenders)) {
			c := b.contenders[i]
			if err := b.pause(ctx); err != nil {
				return err
			}
			start := time.Now()
			answer, err := c.run(ctx)
			took := time.Since(start)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", c.name, c.engine, err)
			}
			if !strings.Contains(answer, greeting) {
				return fmt.Errorf("%s on %s read %q", c.name, c.engine, answer)
			}
			if n >= warmUp {
				c.times = append(c.times, took)
			}
			if c.reset != nil {
				if err := c.reset(ctx); err != nil {
					return fmt.Errorf("%s on %s: %w", c.name, c.engine, err)
				}
			}
		}
	}
	fmt.Fprint(b.progress, "\r                    \r")
	return nil
}

// pause waits until the machine is idle again.
func (b *bench) pause(ctx context.Context) error { return pause(ctx, b.rest) }

// pause waits for a time.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
