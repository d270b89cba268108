package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	killUnderLoad(r)
	if n := openExecutions(t, r.home); n != 0 {
		t.Errorf("%d executions were still open", n)
	}
	if _, errs, code := r.run("backup", filepath.Join(r.home, "checked.db")); code != 0 { // reads and checks all of it
		t.Errorf("the database is not sound: %s", errs)
	}
	profiles(t, r.home) // of those that were killed: old enough for the next to sweep
	r.serve().stop(os.Interrupt)
}

// The same with Postgres. A server takes some seconds to take another for dead, so this test
// is long: it runs only if ROTE_TEST_CRASHES is set.
func TestKilledUnderLoadOnPostgres(t *testing.T) {
	if os.Getenv("ROTE_TEST_CRASHES") == "" {
		t.Skip("set ROTE_TEST_CRASHES to how often a server is killed")
	}
	r := newPostgresRote(t)
	killUnderLoad(r)
	profiles(t, r.home)
	s := r.serve()
	s.token = r.newToken()
	for _, status := range []string{"pending", "running"} {
		if _, answer := s.call("GET", "/executions?status="+status, ""); answer["total"] != 0.0 {
			t.Errorf("executions are still %s: %v", status, answer)
		}
	}
	s.stop(os.Interrupt)
}

// newToken returns the secret of a new service token.
func (r *rote) newToken() string {
	r.t.Helper()
	secret, errs, code := r.run("token", "create")
	if code != 0 {
		r.t.Fatal(errs)
	}
	return strings.TrimSpace(secret)
}

// killUnderLoad is the load of these tests.
func killUnderLoad(r *rote) {
	t := r.t
	t.Helper()
	rounds := crashRounds(t)
	r.life = time.Duration(rounds+1) * testTime // one may survive all rounds
	first := r.serve()
	if first.token == "" {
		first.token = r.newToken()
	}
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
		t.Logf("round %d of %d has ended", round+1, rounds)
		if t.Failed() {
			t.FailNow()
		}
	}
	l.check()
	for i := range l.servers {
		l.servers[i].Load().stop(os.Interrupt)
	}
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

// Servers on different machines, as far as they know: they share nothing but the database.
// One is killed and one is frozen in a run. A third ends both runs; the frozen one writes
// nothing when it continues, and serves again.
func TestPostgresServersTakeOverFromTheDead(t *testing.T) {
	t.Parallel() // it waits for a limit
	r := newPostgresRote(t)
	token := r.newToken()
	all := []*server{r.serve("--async", "1"), r.serve("--async", "1"), r.serve("--async", "0")} // the first two get one run each
	for _, s := range all {
		s.token = token
	}
	dead, frozen, living := all[0], all[1], all[2]
	path := "/routines/" + dead.made(endless)
	lost := []string{dead.startEndless(path), frozen.startEndless(path)}

	began := time.Now()
	if err := frozen.cmd.Process.Signal(syscall.SIGSTOP); err != nil { // first: its script ends by itself after 10 s
		t.Fatal(err)
	}
	dead.stop(syscall.SIGKILL)
	for _, execution := range lost {
		if e := living.awaitStatus(execution, "failed"); e["error_code"] != "interrupted" {
			t.Errorf("%v", e)
		}
	}
	took := time.Since(began)
	t.Logf("the runs of the dead were ended after %v", took)
	if took > 14*time.Second+testTime/4 { // this machine may have much else to do
		t.Errorf("the runs of the dead were ended after %v", took)
	}
	if err := frozen.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	frozen.log.wait(t, func(log string) string {
		_, after, _ := strings.Cut(log, "continues as a new one")
		return after
	})
	for _, execution := range lost {
		if _, e := living.call("GET", execution, ""); e["error_code"] != "interrupted" {
			t.Errorf("after it continued: %v", e)
		}
	}
	for from, through := range map[*server]*server{frozen: living, living: frozen} { // it runs on the frozen one
		if status, e := through.call("POST", from.startEndless(path)+"/cancel", ""); status != 200 || e["error_code"] != "cancelled" {
			t.Errorf("cancel: %d %v", status, e)
		}
	}
	for _, s := range all[1:] {
		s.stop(os.Interrupt)
	}
	wantPrivate(t, fmt.Sprint(dead.log, frozen.log, living.log))
	profiles(t, r.home) // of the one that was killed: old enough for the next to sweep
	r.serve().stop(os.Interrupt)
}
