package routinetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"rote/routine"
)

// runner claims and runs queued executions, as a process does.
type runner struct {
	*office
	store routine.Store
	mu    sync.Mutex
	// running and most count the runs of each process: those at present, and the most
	// there were at once.
	running, most map[int]int
}

func newRunner(t *testing.T, s routine.Store) *runner {
	return &runner{office: newOffice(t), store: s, running: map[int]int{}, most: map[int]int{}}
}

// employ adds a process with a number of places, whose runs take a time.
func (r *runner) employ(process int, q routine.JobQueue, places int, takes time.Duration) {
	r.employFor(q, places, func(ctx context.Context, job *routine.QueuedExecution) (routine.JobResult, error) {
		e, call, err := r.store.ClaimExecution(context.WithoutCancel(ctx), job.ID, time.Now().UTC(), QueueTime)
		if errors.Is(err, routine.ErrTaken) || errors.Is(err, routine.ErrFinal) {
			return routine.JobResult{}, nil
		}
		if err != nil {
			return routine.JobResult{}, err
		}
		if string(call) != "the call" || e.OrganizationID != job.OrganizationID {
			return routine.JobResult{}, fmt.Errorf("claimed %+v with %q for %+v", e, call, job)
		}
		r.began(process)
		r.add(handOut{execution: e.ID, process: process, at: time.Now()})
		time.Sleep(takes)
		r.ended(process)
		return routine.JobResult{}, r.store.FinishExecution(context.WithoutCancel(ctx), Ended(e))
	})
}

func (r *runner) employFor(q routine.JobQueue, places int,
	do func(context.Context, *routine.QueuedExecution) (routine.JobResult, error)) {
	r.all.Go(func() {
		q.Work(r.ctx, map[routine.JobKind]routine.JobHandler{routine.JobRun: {Places: places,
			Do: func(ctx context.Context, j *routine.Job) (routine.JobResult, error) { return do(ctx, j.Run) }}})
	})
}

func (r *runner) began(process int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[process]++
	r.most[process] = max(r.most[process], r.running[process])
}

func (r *runner) ended(process int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[process]--
}

// addRuns queues n executions of an organization and returns their ids.
func addRuns(t *testing.T, s routine.Store, organization string, n int) (ids []string) {
	t.Helper()
	for range n {
		ids = append(ids, enqueue(t, s, func(e *routine.Execution) {
			e.OrganizationID, e.CreatedAt = organization, time.Now().UTC()
		}).ID)
	}
	return ids
}

// wantRunOnce wants that each of the executions was run exactly once, and no other.
func (r *runner) wantRunOnce(t *testing.T, ids []string) {
	t.Helper()
	times := map[string]int{}
	for _, h := range r.handOuts() {
		times[h.execution]++
	}
	for _, id := range ids {
		equal(t, "times that "+id+" was run", times[id], 1)
		e, err := r.store.Execution(context.WithoutCancel(t.Context()), id)
		must(t, err)
		equal(t, "status", e.Status, routine.ExecutionCompleted)
	}
	equal(t, "runs", len(times), len(ids))
}

func runsOnce(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	r := newRunner(t, s)
	for i := range 8 {
		r.employ(i, process(), 4, 10*time.Millisecond)
	}
	ids := addRuns(t, s, "acme", 60)
	time.Sleep(time.Minute)
	r.wantRunOnce(t, ids)
}

func runsHavePlaces(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	ids := addRuns(t, s, "acme", 30)
	r := newRunner(t, s)
	r.employ(1, process(), 3, 10*time.Second)
	r.employ(2, process(), 1, 10*time.Second)
	time.Sleep(2 * time.Minute)
	r.mu.Lock()
	most := maps.Clone(r.most)
	r.mu.Unlock()
	equal(t, "most at once", most, map[int]int{1: 3, 2: 1})
	r.wantRunOnce(t, ids)
}

func runsAreFair(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	many := addRuns(t, s, "many", 30)
	r := newRunner(t, s)
	for i := range 2 {
		r.employ(i, process(), 4, time.Minute)
	}
	time.Sleep(30 * time.Second) // all places are taken for half a minute more
	began := time.Now()
	others := addRuns(t, s, "one", 3)
	time.Sleep(20 * time.Second)
	waited := time.Duration(-1)
	for _, h := range r.handOuts() {
		if h.execution == others[0] {
			waited = h.at.Sub(began)
		}
	}
	if waited < 0 || waited > 3*time.Second {
		t.Errorf("the first run of another organization waited %v (negative: it has not begun)", waited)
	}
	time.Sleep(6 * time.Minute)
	r.wantRunOnce(t, append(many, others...))
	for process, most := range r.most {
		if most > 5 {
			t.Errorf("process %d had %d runs at once", process, most)
		}
	}
}

func runsArePostponed(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	ids := addRuns(t, s, "acme", 1)
	r, asked := newRunner(t, s), 0
	r.employFor(process(), 1, func(context.Context, *routine.QueuedExecution) (routine.JobResult, error) {
		asked++
		return routine.JobResult{Retry: time.Second}, nil
	})
	time.Sleep(time.Minute)
	r.close()
	if asked < 10 || asked > 61 {
		t.Errorf("handed out %d times in a minute", asked)
	}
	next := newRunner(t, s)
	next.employ(2, process(), 1, 0)
	time.Sleep(time.Minute)
	next.wantRunOnce(t, ids)
}

func runsOfTheFailing(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	ids := addRuns(t, s, "acme", 1)
	r := newRunner(t, s)
	r.employFor(process(), 1, func(context.Context, *routine.QueuedExecution) (routine.JobResult, error) {
		return routine.JobResult{}, errors.New("the database does not answer")
	})
	time.Sleep(5 * time.Second)
	r.close()
	next := newRunner(t, s)
	next.employ(2, process(), 1, 0)
	time.Sleep(10 * time.Minute)
	next.wantRunOnce(t, ids)
}

func endedRunsAreSkipped(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	ids := addRuns(t, s, "acme", 3)
	must(t, s.RequestCancel(t.Context(), ids[0], time.Now().UTC()))
	_, err := s.ExpireExecutions(t.Context(), QueueTime, time.Now().UTC()) // none
	must(t, err)
	r := newRunner(t, s)
	r.employ(1, process(), 2, 0)
	time.Sleep(time.Minute)
	r.wantRunOnce(t, ids[1:])
}

func runsAreAwaited(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	ids := addRuns(t, s, "acme", 2)
	r := newRunner(t, s)
	r.employ(1, process(), 1, time.Minute)
	time.Sleep(5 * time.Second)
	r.close()
	equal(t, "begun", len(r.handOuts()), 1)
	e, err := s.Execution(t.Context(), r.handOuts()[0].execution)
	must(t, err)
	equal(t, "status", e.Status, routine.ExecutionCompleted)
	next := newRunner(t, s)
	next.employ(2, process(), 1, 0)
	time.Sleep(time.Minute)
	equal(t, "begun by the next", len(next.handOuts()), len(ids)-1)
}
