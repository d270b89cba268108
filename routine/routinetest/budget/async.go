package budget

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

const (
	// asyncRuns is how many asynchronous runs are counted.
	asyncRuns = 30
	// maxAsyncCommits limits the commits of one: to queue it with its job, to fetch the job,
	// to claim and to finish the run, and to complete the job.
	maxAsyncCommits = 5
)

// TestAsyncRuns runs a routine many times through the queue of an empty store: one run after
// the other, so that nothing is done for several at once. It fails if a run takes more
// commits than it may. jobs is the queue of the jobs; count returns what was counted so far.
func TestAsyncRuns(t *testing.T, store routine.Store, jobs routine.JobQueue, count func() Counts) {
	ends := endObserver{ended: make(chan *routine.Execution)}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}, Concurrency: 2, Queue: 2 * asyncRuns, ShareRuns: true, Async: 1, Jobs: jobs,
		Observer: ends})
	saved, _, err := s.CreateRoutine(t.Context(), caller, json.RawMessage(definition), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var maintained sync.WaitGroup
	maintained.Go(func() { s.Maintain(ctx) })
	defer maintained.Wait()
	defer stop()
	run := func() {
		if _, err := s.Start(t.Context(), caller, saved.ID, service.Call{}); err != nil {
			t.Fatal(err)
		}
		if e := <-ends.ended; e.Status != routine.ExecutionCompleted {
			t.Fatalf("%+v", e)
		}
	}
	run() // does what is done once
	before := count()
	for range asyncRuns {
		run()
	}
	took := count().Commits - before.Commits
	t.Logf("%d asynchronous runs took %d commits", asyncRuns, took)
	if took > asyncRuns*maxAsyncCommits {
		t.Errorf("%d asynchronous runs took %d commits, of which each may take %d", asyncRuns, took, maxAsyncCommits)
	}
	if took < 3*asyncRuns {
		t.Errorf("%d asynchronous runs took %d commits: they were not counted right", asyncRuns, took)
	}
}

// endObserver passes on executions that have ended.
type endObserver struct {
	routine.NoObserver
	ended chan *routine.Execution
}

func (o endObserver) ExecutionEnded(e *routine.Execution) { o.ended <- e }
