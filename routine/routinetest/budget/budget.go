// Package budget counts what runs cost a store. Commits decide how many runs a second a
// database can keep, so a change that adds one has to show.
package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// Counts are the commits of a store and the statements that were sent to it, each of which
// is a round trip. BEGIN and COMMIT are statements too.
type Counts struct{ Commits, Statements int }

// runs is how many runs of each kind are counted.
const runs = 100

// Limits of one run: the commits, and the statements including those that read.
const (
	maxCommits       = 2
	maxWaitedCommits = 3
	maxStatements    = 5
	maxKeyStatements = 8
)

const definition = `{"name": "budget", "description": "Clicks and returns the page.",
	"operations": [{"type": "click", "selector": "#a"}, {"type": "click", "selector": "#b"}, {"type": "return_html"}]}`

var caller = routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "p", Scopes: routine.DefaultScopes}

// TestRuns runs a routine many times on an empty store: one run after the other, with
// idempotency keys, and all at once so that they wait for each other. It fails if a run
// takes more commits or statements than it may. count returns what was counted so far.
func TestRuns(t *testing.T, store routine.Store, count func() Counts) {
	keyed := func(i int) service.Call {
		return service.Call{Idempotency: service.Idempotency{Key: fmt.Sprint("run ", i)}}
	}
	plain := func(int) service.Call { return service.Call{} }
	for _, row := range []struct {
		name  string
		call  func(i int) service.Call
		doAll func(r *runner, t *testing.T, call func(i int) service.Call)
		most  Counts // of one run
	}{
		{"one after the other", plain, (*runner).oneByOne, Counts{maxCommits, maxStatements}},
		{"with a key", keyed, (*runner).oneByOne, Counts{maxCommits, maxKeyStatements}},
		{"that wait", plain, (*runner).atOnce, Counts{maxWaitedCommits, maxStatements}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRunner(t, store)
			r.run(t, row.call(runs)) // reads the routine, and does what is done once
			before := count()
			row.doAll(r, t, row.call)
			after := count()
			took := Counts{after.Commits - before.Commits, after.Statements - before.Statements}
			t.Logf("%d runs took %+v", runs, took)
			if took.Commits > runs*row.most.Commits || took.Statements > runs*row.most.Statements {
				t.Errorf("%d runs took %+v, of which each run may take %+v", runs, took, row.most)
			}
			if took.Commits < runs || took.Statements < took.Commits {
				t.Errorf("%d runs took %+v: they were not counted right", runs, took)
			}
		})
	}
}

// runner runs one routine. Its runs wait for gate before they open a page.
type runner struct {
	service *service.Service
	id      string
	gate    atomic.Pointer[chan struct{}]
}

func newRunner(t *testing.T, store routine.Store) *runner {
	t.Helper()
	r := &runner{}
	browser := &routinetest.Browser{OnOpen: func(context.Context, *routinetest.Page) error {
		if gate := r.gate.Load(); gate != nil {
			<-*gate
		}
		return nil
	}}
	r.service = service.New(service.Config{Store: store, Browser: browser, Concurrency: 1, Queue: 2 * runs})
	saved, _, err := r.service.CreateRoutine(t.Context(), caller, json.RawMessage(definition), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	r.id = saved.ID
	return r
}

func (r *runner) run(t *testing.T, call service.Call) {
	t.Helper()
	if _, err := r.service.Execute(t.Context(), caller, r.id, call); err != nil {
		t.Error(err)
	}
}

func (r *runner) oneByOne(t *testing.T, call func(i int) service.Call) {
	t.Helper()
	for i := range runs {
		r.run(t, call(i))
	}
}

func (r *runner) atOnce(t *testing.T, call func(i int) service.Call) {
	t.Helper()
	gate := make(chan struct{})
	r.gate.Store(&gate)
	// A poll of the service's statistics would be counted too, because they read the store.
	queued := make(chan struct{}, runs)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			c := call(i)
			c.Queued = func(func() int) { queued <- struct{}{} }
			r.run(t, c)
		})
	}
	deadline := time.After(20 * time.Second)
	for waiting := 0; waiting < runs-1; waiting++ { // all but the one that waits for the gate
		select {
		case <-queued:
		case <-deadline:
			t.Errorf("%d runs wait, not %d", waiting, runs-1)
			waiting = runs
		}
	}
	close(gate)
	all.Wait()
}
