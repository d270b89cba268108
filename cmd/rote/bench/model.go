package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// modelOptions say what runModel measures.
type modelOptions struct {
	db              string // address of a Postgres database
	replicas, slots int
	run             time.Duration // the mean; each run takes from half of it to one and a half
	window          time.Duration
}

// modelLimits are what the model program must keep with many replicas. The rate is a share
// of the one at which no slot is ever idle.
const (
	minModelRate   = 0.9
	maxServerCores = 0.6
	maxBeyond      = 10 * time.Millisecond // of half of the runs
)

// modelResult is what a contender of the model program took.
type modelResult struct {
	name   string
	runs   int
	window time.Duration
	server time.Duration   // processor time of the database server
	own    time.Duration   // processor time of this program
	beyond []time.Duration // of each run, beyond the time in its browser
}

func (r modelResult) rate() float64  { return float64(r.runs) / r.window.Seconds() }
func (r modelResult) cores() float64 { return r.server.Seconds() / r.window.Seconds() }

// contend does runs of a contender in a slot of a replica. It returns the time beyond the
// browser.
type contend func(ctx context.Context, replica int) (beyond time.Duration, err error)

// runModel runs many services against one database, all in this process and with a browser
// that only takes time: what many machines would do to the database. A bare loop of INSERT
// and UPDATE is the floor. It fails if the limits are broken.
func runModel(ctx context.Context, o modelOptions, out io.Writer) (err error) {
	if o.db == "" || o.replicas < 1 || o.slots < 1 {
		return errors.New("-model needs an empty Postgres database of this machine, as in -db postgres://USER@HOST/DATABASE, and at least one replica and slot")
	}
	conn, err := pgx.Connect(ctx, o.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	server, err := readProcess(int(conn.PgConn().PID()))
	if err != nil {
		return fmt.Errorf("the database server is on another machine, or not readable: %w", err)
	}
	var results []modelResult
	for _, contender := range []struct {
		name  string
		start func(context.Context, modelOptions) (contend, func(), error)
	}{{"bare INSERT and UPDATE (the floor)", startFloor}, {"**rote**", startServices}} {
		run, stop, err := contender.start(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", contender.name, err)
		}
		r, err := o.measure(ctx, server.parent, run)
		stop()
		if err != nil {
			return fmt.Errorf("%s: %w", contender.name, err)
		}
		r.name = contender.name
		results = append(results, r)
	}
	fmt.Fprint(out, modelTable(o, results))
	return o.check(results[1])
}

// check returns an error that says which limits a result breaks.
func (o modelOptions) check(r modelResult) error {
	var broken []error
	if want := minModelRate * float64(o.replicas*o.slots) / o.run.Seconds(); r.rate() < want {
		broken = append(broken, fmt.Errorf("%.0f runs a second, want %.0f", r.rate(), want))
	}
	if r.cores() > maxServerCores {
		broken = append(broken, fmt.Errorf("the database takes %.2f cores, want %.2f", r.cores(), maxServerCores))
	}
	if half := quantile(r.beyond, 0.5); half > maxBeyond {
		broken = append(broken, fmt.Errorf("half of the runs take %v beyond the browser, want %v", half, maxBeyond))
	}
	return errors.Join(broken...)
}

// modelTable returns the results in Markdown.
func modelTable(o modelOptions, results []modelResult) string {
	var t strings.Builder
	fmt.Fprintf(&t, "%d replicas of %d slots, runs of %v\n\n", o.replicas, o.slots, o.run)
	t.WriteString("| who | runs/s | server cores | server ms a run | own cores | beyond the browser p50 ms | p99 ms |\n|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		fmt.Fprintf(&t, "| %s | %.0f | %.2f | %.2f | %.2f | %.1f | %.1f |\n", r.name, r.rate(), r.cores(), ms(r.server)/float64(max(r.runs, 1)),
			r.own.Seconds()/r.window.Seconds(), ms(quantile(r.beyond, 0.5)), ms(quantile(r.beyond, 0.99)))
	}
	return t.String()
}

// measure keeps all slots busy. It counts for the window, when each slot has done some
// runs. The server is the process with that id and its children.
func (o modelOptions) measure(ctx context.Context, server int, run contend) (r modelResult, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	beyond := &samples{}
	var all sync.WaitGroup
	for replica := range o.replicas {
		for range o.slots {
			all.Go(func() {
				if err := o.keepBusy(ctx, replica, run, beyond); err != nil {
					stop(err)
				}
			})
		}
	}
	if err = rest(ctx, 2*o.run); err == nil {
		r, err = o.takeWindow(ctx, server, beyond)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	stop(nil)
	all.Wait()
	if err == nil && r.runs == 0 {
		err = errors.New("no run ended in the window")
	}
	return r, err
}

// keepBusy does one run after the other until ctx ends.
func (o modelOptions) keepBusy(ctx context.Context, replica int, run contend, beyond *samples) error {
	if rest(ctx, rand.N(o.run)) != nil { // so that not all begin at once
		return nil
	}
	for {
		took, err := run(ctx, replica)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		beyond.add(took)
	}
}

// takeWindow measures for the window.
func (o modelOptions) takeWindow(ctx context.Context, server int, beyond *samples) (r modelResult, err error) {
	before, err := modelTimes(server)
	if err != nil {
		return r, err
	}
	began := time.Now()
	beyond.take()
	if err := rest(ctx, o.window); err != nil {
		return r, err
	}
	r.beyond, r.window = beyond.take(), time.Since(began)
	r.runs = len(r.beyond)
	after, err := modelTimes(server)
	r.server, r.own = after[0]-before[0], after[1]-before[1]
	return r, err
}

// modelTimes returns the processor times of the server with its children, and of this
// program.
func modelTimes(server int) (times [2]time.Duration, err error) {
	for i, pid := range []int{server, os.Getpid()} {
		all, err := descendants(pid)
		if err != nil {
			return times, err
		}
		for _, p := range all {
			times[i] += p.own + p.children
		}
	}
	return times, nil
}

// samples collects durations from many goroutines.
type samples struct {
	mu  sync.Mutex
	all []time.Duration
}

func (s *samples) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, d)
}

// take returns the durations since the last call.
func (s *samples) take() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// rest waits, and returns an error if ctx ends before.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// browse waits as long as one run is in its browser, and returns that time.
func (o modelOptions) browse(ctx context.Context) (time.Duration, error) {
	d := o.run/2 + rand.N(o.run)
	began := time.Now()
	err := rest(ctx, d)
	return time.Since(began), err
}
