package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// crashRounds is how often a server is killed: once, or as often as
// ROTE_TEST_CRASHES says.
func crashRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ROTE_TEST_CRASHES")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Two servers share a database under load, and one of them is killed at a random
// moment, again and again. Everything that was acknowledged exists exactly once,
// and no execution stays open.
func TestKilledUnderLoad(t *testing.T) {
	r := newRote(t)
	rounds := crashRounds(t)
	r.life = time.Duration(rounds) * testTime // one may survive all rounds
	first := r.serve()
	l := newLoad(r, first, r.serve())
	l.servers[1].Load().token = first.token
	for round := range rounds {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { l.run(ctx, 8); close(done) }()
		l.reach(5 + l.random.Int64N(60))
		victim := &l.servers[l.random.IntN(2)]
		victim.Load().stop(syscall.SIGKILL)
		l.reach(20) // through the other one
		again := r.serve()
		again.token = first.token
		victim.Store(again)
		l.reach(20)
		stop()
		<-done
		l.settle()
		if t.Failed() {
			t.Fatalf("in round %d of %d", round+1, rounds)
		}
	}
	l.check()
	for i := range l.servers {
		l.servers[i].Load().stop(os.Interrupt)
	}
	if n := openExecutions(t, r.home); n != 0 {
		t.Errorf("%d executions were still open", n)
	}
	if _, errs, code := r.run("backup", filepath.Join(r.home, "checked.db")); code != 0 { // reads and checks all of it
		t.Errorf("the database is not sound: %s", errs)
	}
	profiles(t, r.home) // of those that were killed: old enough for the next to sweep
	r.serve().stop(os.Interrupt)
	t.Logf("%d kills, %d routines, %d executions, %d versions", rounds, len(l.created), len(l.started), len(l.versions))
}

// reach waits until so many calls more were acknowledged.
func (l *load) reach(more int64) {
	l.t.Helper()
	late := time.After(testTime)
	for target := l.acks.Load() + more; l.acks.Load() < target; {
		select {
		case <-l.acked:
		case <-late:
			l.t.Fatalf("%d of %d calls were acknowledged in time", more-target+l.acks.Load(), more)
		}
	}
}

// When two servers share a database, no change is lost and no idempotency key is
// used twice.
func TestTwoServersUnderLoad(t *testing.T) {
	r := newRote(t)
	first := r.serve()
	l := newLoad(r, first, r.serve())
	l.servers[1].Load().token = first.token
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { l.run(ctx, 8); close(done) }()
	l.reach(60 * int64(crashRounds(t)))
	stop()
	<-done
	// Each key once more, at both servers at once.
	for _, keys := range [][]string{l.known(l.created), l.known(l.started)} {
		if len(keys) == 0 {
			t.Fatal("nothing was made")
		}
	}
	again := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { again <- struct{}{} }()
			for _, key := range l.known(l.created) {
				l.create(key)
			}
			for _, key := range l.known(l.started) {
				l.execute(key, true)
			}
		}()
	}
	for range 4 {
		<-again
	}
	l.settle()
	l.check()
	t.Logf("%d routines, %d executions, %d versions", len(l.created), len(l.started), len(l.versions))
}
