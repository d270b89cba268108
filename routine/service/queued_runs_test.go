package service_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// replica is a process of a service that shares its runs with others.
type replica struct {
	*service.Service
	browser *routinetest.Browser
	stop    func()
}

// newReplica starts a process that does a number of queued runs at once.
func newReplica(t *testing.T, store routine.Store, async int, edits ...func(*service.Config)) *replica {
	b := &routinetest.Browser{}
	c := service.Config{Store: store, Browser: b, Concurrency: max(async, 1), Queue: 100, ShareRuns: true, Async: async}
	for _, edit := range edits {
		edit(&c)
	}
	s := service.New(c)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { s.Maintain(ctx) })
	stop := sync.OnceFunc(func() {
		closing, cancelClosing := context.WithTimeout(ctx, 10*time.Second)
		defer cancelClosing()
		s.Close(closing)
		cancel()
		done.Wait()
	})
	t.Cleanup(stop)
	return &replica{s, b, stop}
}

func (r *replica) start(t *testing.T, p routine.Principal, id string, call service.Call) *routine.Execution {
	t.Helper()
	e, err := r.Start(t.Context(), p, id, call)
	if err != nil {
		t.Fatal(err)
	}
	if e.Status != routine.ExecutionPending || e.StartedAt != nil {
		t.Errorf("accepted as %+v", e)
	}
	return e
}

// ended waits for an execution and returns it.
func (r *replica) ended(t *testing.T, p routine.Principal, id string, within time.Duration) *routine.Execution {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	e, _ := r.Wait(ctx, p, id)
	if e == nil || e.Open() {
		t.Fatalf("after %v: %+v", within, e)
	}
	return e
}

// A queued run does what its call asked for, in the version that the routine had then, in
// whichever process.
func TestQueuedRunIsThatOfItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := routinetest.NewStore()
		front, worker := newReplica(t, store, 0), newReplica(t, store, 4)
		r := create(t, front.Service, ann, definitionOf(`{"type":"input_text","selector":"#q","text":"{{a}}"},{"type":"return_html"}`,
			`{"name":"a","x-secret":true}`))
		p := ann
		p.AllowedHosts = []string{"shop.test"}
		_, token, err := front.CreateToken(t.Context(), p, 0)
		wantNoError(t, err)
		p.TokenID = token.ID
		e := front.start(t, p, r.ID, service.Call{Parameters: json.RawMessage(`{"a":"s3cret"}`), Via: routine.ViaREST})
		unsaved := front.start(t, ann, "", service.Call{Definition: parse(t, definitionOf(`{"type":"input_text","selector":"#u","text":"{{b}}"}`, `{"name":"b"}`)),
			Parameters: json.RawMessage(`{"b":"plain"}`), Outline: true})
		if _, _, err := front.ReplaceRoutine(t.Context(), ann, r.ID, []byte(private), nil); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]string{e.ID: `{"a":"***"}`, unsaved.ID: `{"b":"plain"}`} {
			got := front.ended(t, ann, id, 5*time.Second)
			if got.Status != routine.ExecutionCompleted || string(got.Parameters) != want || len(got.Result.OperationsMetadata) == 0 {
				t.Errorf("%+v %s", got, got.Parameters)
			}
		}
		if got := front.ended(t, ann, e.ID, 0); got.RoutineVersion != 1 || got.TokenID != token.ID || got.Via != routine.ViaREST || got.OperationsDone != 2 {
			t.Errorf("%+v", got)
		}
		if worker.browser.Opened() != 2 || front.browser.Opened() != 0 {
			t.Errorf("%d and %d pages were opened", worker.browser.Opened(), front.browser.Opened())
		}
	})
}

// The process that accepts a run and has room begins it at once, and not when it looks next.
func TestQueuedRunBeginsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReplica(t, routinetest.NewStore(), 1)
		r := create(t, s.Service, ann, private)
		time.Sleep(1500 * time.Millisecond) // between two looks
		began := time.Now()
		if e := s.ended(t, ann, s.start(t, ann, r.ID, service.Call{}).ID, time.Second); e.StartedAt.Sub(began) > 10*time.Millisecond {
			t.Errorf("it began after %v", e.StartedAt.Sub(began))
		}
	})
}

// The wait for a place does not count into the timeout of a run whose caller does not wait,
// but is limited itself. The same holds where a process runs what it accepts.
func TestQueueTime(t *testing.T) {
	for name, share := range map[string]bool{"in the store": true, "in the process": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newReplica(t, routinetest.NewStore(), 1, func(c *service.Config) { c.ShareRuns, c.QueueTime = share, 25*time.Second })
				r := create(t, s.Service, ann, nap) // for 10 s
				var all []*routine.Execution
				for range 5 {
					all = append(all, s.start(t, ann, r.ID, service.Call{Timeout: 12 * time.Second}))
				}
				for i, e := range all {
					e = s.ended(t, ann, e.ID, time.Minute)
					if i < 3 && e.Status != routine.ExecutionCompleted ||
						i >= 3 && (e.ErrorCode != routine.CodeTimeout || *e.Error != "nobody had room for it within --queue-time" || e.StartedAt != nil) {
						t.Errorf("run %d: %+v", i, e)
					}
				}
				slow := create(t, s.Service, ann, definitionOf(`{"type":"sleep","timeout_seconds":60}`, ""))
				e := s.ended(t, ann, s.start(t, ann, slow.ID, service.Call{Timeout: 5 * time.Second}).ID, time.Minute)
				if e.ErrorCode != routine.CodeTimeout || !strings.Contains(*e.Error, "timeout_seconds of 5") {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// Runs that no process takes end, too: when their job is lost, or when all workers are gone.
func TestQueuedRunWithoutWorkersEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReplica(t, routinetest.NewStore(), 0)
		e := s.start(t, ann, create(t, s.Service, ann, private).ID, service.Call{})
		if e = s.ended(t, ann, e.ID, time.Hour+5*time.Second); e.ErrorCode != routine.CodeTimeout || *e.DurationSeconds < 3600 {
			t.Errorf("%+v", e)
		}
	})
}

func TestQueueInTheStoreIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := routinetest.NewStore()
		first, second := newReplica(t, store, 0, limitedTo(6)), newReplica(t, store, 0, limitedTo(6))
		accepted := func(s *replica, organization string) (n int) {
			id := create(t, s.Service, member(organization), private).ID
			for ; ; n++ {
				_, err := s.Start(t.Context(), member(organization), id, service.Call{})
				if err == nil {
					continue
				}
				if e := routine.AsError(err); e.Code != routine.CodeBusy || e.RetryAfter == 0 || !strings.Contains(e.Message, "all again") {
					t.Fatal(err)
				}
				return n
			}
		}
		if n := accepted(first, "a"); n != 3 {
			t.Errorf("%d of one organization", n)
		}
		time.Sleep(time.Second)
		if n := accepted(second, "b"); n != 2 {
			t.Errorf("%d of another, in another process", n)
		}
		if n := accepted(second, "c"); n != 1 {
			t.Errorf("%d of a third", n)
		}
		if n := accepted(second, "d"); n != 0 {
			t.Errorf("%d of a fourth", n)
		}
		if w := first.Statistics(); w.WaitingRuns != 6 {
			t.Errorf("%+v", w)
		}
	})
}

// Runs that have left the queue make room at once.
func TestQueueInTheStoreHasRoomAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReplica(t, routinetest.NewStore(), 2, limitedTo(4))
		id := create(t, s.Service, ann, private).ID
		for range 20 {
			s.ended(t, ann, s.start(t, ann, id, service.Call{}).ID, 100*time.Millisecond)
			time.Sleep(60 * time.Millisecond)
		}
	})
}

func limitedTo(n int) func(*service.Config) { return func(c *service.Config) { c.Queue = n } }

// A call that is repeated with its key gets the run of the first call, also while that is
// queued.
func TestQueuedRunWithKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := routinetest.NewStore()
		front := newReplica(t, store, 0)
		r := create(t, front.Service, ann, private)
		call := service.Call{Idempotency: service.Idempotency{Key: "k"}}
		first, second := front.start(t, ann, r.ID, call), front.start(t, ann, r.ID, call)
		worker := newReplica(t, store, 2)
		front.ended(t, ann, first.ID, 5*time.Second)
		if first.ID != second.ID || worker.browser.Opened() != 1 {
			t.Errorf("%s and %s, %d runs", first.ID, second.ID, worker.browser.Opened())
		}
	})
}

func TestQueuedRunIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := routinetest.NewStore()
		front := newReplica(t, store, 0)
		r := create(t, front.Service, ann, nap)
		waiting := front.start(t, ann, r.ID, service.Call{})
		began := time.Now()
		if e, err := front.Cancel(t.Context(), ann, waiting.ID); routine.CodeOf(err) != routine.CodeCancelled && err != nil || e.ErrorCode != routine.CodeCancelled {
			t.Errorf("%+v, %v", e, err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		worker := newReplica(t, store, 1)
		running := front.start(t, ann, r.ID, service.Call{})
		time.Sleep(2 * time.Second)
		e, _ := front.Cancel(t.Context(), ann, running.ID)
		if e.ErrorCode != routine.CodeCancelled || e.StartedAt == nil || worker.browser.Opened() != 1 {
			t.Errorf("%+v, %d runs", e, worker.browser.Opened())
		}
	})
}

// A process that stops takes no more runs and ends those that it has. What is queued waits
// for others.
func TestQueuedRunsOutliveTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := routinetest.NewStore()
		first := newReplica(t, store, 1)
		r := create(t, first.Service, ann, definitionOf(`{"type":"sleep","timeout_seconds":60}`, ""))
		running, waiting := first.start(t, ann, r.ID, service.Call{}), first.start(t, ann, r.ID, service.Call{})
		time.Sleep(2 * time.Second)
		began := time.Now()
		first.stop()
		if took := time.Since(began); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("it stopped after %v", took)
		}
		if _, err := first.Start(t.Context(), ann, r.ID, service.Call{}); routine.CodeOf(err) != routine.CodeShuttingDown {
			t.Errorf("start: %v", err)
		}
		second := newReplica(t, store, 1)
		if e := second.ended(t, ann, running.ID, 0); e.ErrorCode != routine.CodeInterrupted {
			t.Errorf("%+v", e)
		}
		if e := second.ended(t, ann, waiting.ID, 2*time.Minute); e.Status != routine.ExecutionCompleted {
			t.Errorf("%+v", e)
		}
		if first.browser.Opened() != 1 || second.browser.Opened() != 1 {
			t.Errorf("%d and %d runs", first.browser.Opened(), second.browser.Opened())
		}
	})
}

// handedTwice is a queue that hands out each queued execution to two attempts at once.
type handedTwice struct{ store routine.Store }

func (q handedTwice) Work(ctx context.Context, handlers map[routine.JobKind]routine.JobHandler) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		queued, _ := q.store.QueuedExecutions(ctx, 10)
		for _, run := range queued {
			for range 2 {
				all.Go(func() { _, _ = handlers[routine.JobRun].Do(ctx, &routine.Job{Kind: routine.JobRun, Run: &run}) })
			}
		}
	}
}

// jobCounter counts the outcomes of jobs.
type jobCounter struct {
	watcher
	waited []time.Duration
}

func (c *jobCounter) JobEnded(kind routine.JobKind, o routine.JobOutcome) {
	c.count(string(kind) + " " + string(o))
}

func (c *jobCounter) RunDequeued(waited time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waited = append(c.waited, waited)
}

// A job that is handed out twice runs once.
func TestQueuedRunIsHandedOutTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, counter := routinetest.NewStore(), &jobCounter{watcher: watcher{counts: map[string]int{}}}
		s := newReplica(t, store, 4, func(c *service.Config) { c.Jobs, c.Observer = handedTwice{store}, counter })
		e := s.start(t, ann, create(t, s.Service, ann, nap).ID, service.Call{})
		if e = s.ended(t, ann, e.ID, time.Minute); e.Status != routine.ExecutionCompleted || s.browser.Opened() != 1 {
			t.Errorf("%+v, %d runs", e, s.browser.Opened())
		}
		synctest.Wait()
		counter.holds(t, map[string]int{"run done": 1, "run taken": 1, "completed ": 1})
		if len(counter.waited) != 1 || counter.waited[0] != time.Second {
			t.Errorf("waited %v", counter.waited)
		}
	})
}

// lossyStore loses the calls of queued executions.
type lossyStore struct {
	*routinetest.Store
	err error
}

func (s lossyStore) ClaimExecution(ctx context.Context, id string, at time.Time, limit time.Duration) (*routine.Execution, []byte, error) {
	e, _, err := s.Store.ClaimExecution(ctx, id, at, limit)
	if err == nil {
		err = s.err
	}
	return e, nil, err
}

// A run whose call is lost, or cannot be read, ends and says so.
func TestQueuedRunWhoseCallIsLost(t *testing.T) {
	for name, fault := range map[string]error{"lost": nil, "sealed with another key": routine.ErrSealed} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newReplica(t, lossyStore{routinetest.NewStore(), fault}, 1)
				e := s.start(t, ann, create(t, s.Service, ann, private).ID, service.Call{})
				e = s.ended(t, ann, e.ID, time.Minute)
				if e.ErrorCode != routine.CodeInterrupted || !strings.Contains(*e.Error, "make it again") || s.browser.Opened() != 0 {
					t.Errorf("%+v, %d runs", e, s.browser.Opened())
				}
			})
		})
	}
}

// Queued runs leave places for callers who wait, and callers who wait do not keep queued
// runs from ever running.
func TestQueuedRunsAndCallersShareThePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReplica(t, routinetest.NewStore(), 2, func(c *service.Config) { c.Concurrency = 4 })
		r := create(t, s.Service, ann, nap)
		for range 6 {
			s.start(t, ann, r.ID, service.Call{})
		}
		time.Sleep(time.Second)
		var all sync.WaitGroup
		defer all.Wait()
		began := time.Now()
		for i := range 8 {
			all.Go(func() {
				if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); i < 2 && took > 50*time.Second {
					t.Errorf("a caller waited %v", took)
				}
			})
		}
		time.Sleep(45 * time.Second)
		if open, _, err := s.Executions(t.Context(), ann, routine.ExecutionFilter{Status: routine.ExecutionPending}); err != nil || len(open) > 0 {
			t.Errorf("%d still wait, %v", len(open), err)
		}
	})
}
