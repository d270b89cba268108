package service_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// two gives two services on one store, as two processes have them: each
// maintained until the end of the test.
func two(t *testing.T, store routine.Store) (here, there *service.Service) {
	t.Helper()
	make := func() *service.Service {
		s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{Page: routinetest.Page{HTML: "<p>shop</p>"}}, Concurrency: 2, Queue: 40})
		ctx, stop := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { s.Maintain(ctx) })
		t.Cleanup(func() { s.Close(ctx); stop(); done.Wait() })
		return s
	}
	return make(), make()
}

func start(t *testing.T, s *service.Service, id string) *routine.Execution {
	t.Helper()
	e, err := s.Start(t.Context(), ann, id, service.Call{Via: routine.ViaREST})
	if err != nil || e.Status != routine.ExecutionPending {
		t.Fatal(e, err)
	}
	return e
}

func TestStartGoesOnWithoutItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := two(t, routinetest.NewStore())
		r := create(t, s, ann, nap)
		ctx, leave := context.WithCancel(t.Context())
		e, err := s.Start(ctx, ann, r.ID, service.Call{Via: routine.ViaMCP})
		if err != nil {
			t.Fatal(err)
		}
		leave()
		soft, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if e, err = s.Wait(soft, ann, e.ID); err != nil || e.Status != routine.ExecutionRunning || e.OperationsTotal != 2 {
			t.Fatal("after 4 s: ", e, err)
		}
		if e, err = s.Wait(t.Context(), ann, e.ID); err != nil || e.Status != routine.ExecutionCompleted || e.OperationsDone != 2 ||
			*e.DurationSeconds != 10 || e.Via != routine.ViaMCP {
			t.Fatal("after the end: ", e, err)
		}
	})
}

func TestWaitTellsWhyARunFailed(t *testing.T) {
	b := &routinetest.Browser{OpenError: routine.Errorf(routine.CodeBrowserUnavailable, "no browser")}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
	r := create(t, s, ann, private)
	e := start(t, s, r.ID)
	for range 2 { // while it may go on, and after the end
		got, err := s.Wait(t.Context(), ann, e.ID)
		if routine.CodeOf(err) != routine.CodeBrowserUnavailable || err.Error() != "no browser" || got.Status != routine.ExecutionFailed {
			t.Fatal(got, err)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, row := range []struct {
		name  string
		there bool // through the other process
	}{{"in the process that runs it", false}, {"through another process", true}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, other := two(t, routinetest.NewStore())
				asked := s
				if row.there {
					asked = other
				}
				r := create(t, s, ann, nap)
				e := start(t, s, r.ID)
				synctest.Wait()
				begin := time.Now()
				for range 2 {
					got, err := asked.Cancel(t.Context(), ann, e.ID)
					if err != nil || got.Status != routine.ExecutionFailed || got.ErrorCode != routine.CodeCancelled {
						t.Fatal(got, err)
					}
				}
				if took := time.Since(begin); took > 2*time.Second {
					t.Errorf("cancelled after %v", took)
				}
				if _, err := other.Wait(t.Context(), ann, e.ID); routine.CodeOf(err) != routine.CodeCancelled {
					t.Error(err)
				}
			})
		})
	}
}

func TestCancelOfAWaitingRunFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &routinetest.Browser{}
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Queue: 1})
		r := create(t, s, ann, nap)
		first, second := start(t, s, r.ID), start(t, s, r.ID) // has the slot, waits
		synctest.Wait()
		if e, err := s.Cancel(t.Context(), ann, second.ID); err != nil || e.StartedAt != nil || e.ErrorCode != routine.CodeCancelled {
			t.Fatal(e, err)
		}
		third := start(t, s, r.ID)
		for _, e := range []*routine.Execution{first, third} {
			if _, err := s.Wait(t.Context(), ann, e.ID); err != nil {
				t.Error(err)
			}
		}
		if b.Opened() != 2 {
			t.Errorf("%d pages were opened", b.Opened())
		}
	})
}

func TestCancelKeepsWhatHasEnded(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	r := create(t, s, ann, private)
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Cancel(t.Context(), ann, e.ID); err != nil || got.Status != routine.ExecutionCompleted {
		t.Fatal(got, err)
	}
}

func TestWhoMayLookIntoTheLedger(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	r := create(t, s, ann, private)
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
	if err != nil {
		t.Fatal(err)
	}
	scoped := func(s routine.Scopes) routine.Principal { p := ann; p.Scopes = s; return p }
	for _, row := range []struct {
		name               string
		caller             routine.Principal
		id                 string
		wantRead, wantStop routine.Code
	}{
		{"the owner", ann, e.ID, "", ""},
		{"another organization", bob, e.ID, routine.CodeForbidden, routine.CodeForbidden},
		{"nobody", nobody, e.ID, routine.CodeUnauthenticated, routine.CodeUnauthenticated},
		{"nobody, unknown id", nobody, "x", routine.CodeUnauthenticated, routine.CodeUnauthenticated},
		{"unknown id", ann, "x", routine.CodeNotFound, routine.CodeNotFound},
		{"who may run only", scoped(routine.ScopeExecutionsRun), e.ID, routine.CodeForbidden, ""},
		{"who may read only", scoped(routine.ScopeExecutionsRead), e.ID, "", routine.CodeForbidden},
		{"who may do neither, unknown id", scoped(routine.ScopeRoutinesRead), "x", routine.CodeForbidden, routine.CodeForbidden},
		{"an admin", scoped(routine.ScopeAdmin), e.ID, "", ""},
	} {
		got := map[string]routine.Code{}
		_, err := s.Execution(t.Context(), row.caller, row.id)
		got["read"] = routine.CodeOf(err)
		_, err = s.Wait(t.Context(), row.caller, row.id)
		got["wait"] = routine.CodeOf(err)
		_, err = s.Cancel(t.Context(), row.caller, row.id)
		got["cancel"] = routine.CodeOf(err)
		got["watch"] = routine.CodeOf(s.Watch(t.Context(), row.caller, row.id, 0, func(routine.Event) error { return nil }))
		_, err = s.ExecutionFile(t.Context(), row.caller, row.id, "none")
		got["file"] = routine.CodeOf(err)
		want := map[string]routine.Code{"read": row.wantRead, "wait": row.wantRead, "watch": row.wantRead, "file": row.wantRead, "cancel": row.wantStop}
		if row.wantRead == "" {
			want["file"] = routine.CodeNotFound // for want of a file
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
	for want, caller := range []routine.Principal{bob, ann} {
		if es, total, err := s.Executions(t.Context(), caller, routine.ExecutionFilter{OrganizationID: "acme"}); err != nil || total != want || len(es) != want {
			t.Errorf("%s lists %d of %d: %v", caller.UserID, len(es), total, err)
		}
		if runs, err := s.RecentRuns(t.Context(), caller, []string{r.ID}, 10); err != nil || len(runs[r.ID]) != want {
			t.Errorf("%s has the recent runs %v: %v", caller.UserID, runs, err)
		}
	}
	for want, caller := range map[routine.Code]*routine.Principal{routine.CodeUnauthenticated: &nobody, routine.CodeForbidden: new(scoped(routine.ScopeExecutionsRun))} {
		if _, _, err := s.Executions(t.Context(), *caller, routine.ExecutionFilter{}); routine.CodeOf(err) != want {
			t.Errorf("list: %v, want %s", err, want)
		}
		if _, _, err := s.RoutineExecutions(t.Context(), *caller, r.ID, routine.ExecutionFilter{}); routine.CodeOf(err) != want {
			t.Errorf("list of a routine: %v, want %s", err, want)
		}
		if _, err := s.RecentRuns(t.Context(), *caller, []string{r.ID}, 1); routine.CodeOf(err) != want {
			t.Errorf("recent runs: %v, want %s", err, want)
		}
	}
}

// If the end of a run cannot be saved, its caller still gets the result, reads
// of the execution are correct, and it is saved later.
func TestEndIsSavedWhenTheStoreIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failing{Store: routinetest.NewStore(), finish: errors.New("disk full")}
		s, _ := two(t, store)
		e, err := s.Execute(t.Context(), ann, create(t, s, ann, private).ID, service.Call{})
		if err != nil || e.Status != routine.ExecutionCompleted || string(e.Result.Data) != `"<p>shop</p>"` || len(e.Result.Warnings) != 1 {
			t.Fatal(e, err)
		}
		if told, err := s.Execution(t.Context(), ann, e.ID); err != nil || told.Status != routine.ExecutionCompleted {
			t.Error(told, err)
		}
		store.mend()
		time.Sleep(3 * time.Second) // of the test's own clock
		if kept, err := store.Execution(t.Context(), e.ID); err != nil || kept.Status != routine.ExecutionCompleted {
			t.Error(kept, err)
		}
	})
}

// A process that ends while the ledger cannot be written saves the ends of its
// runs when it can at last.
func TestEndIsSavedWhenTheProcessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failing{Store: routinetest.NewStore(), finish: errors.New("locked")}
		s, stop := maintained(store, &receiver{})
		e, err := s.Execute(t.Context(), ann, create(t, s, ann, private).ID, service.Call{})
		if err != nil {
			t.Fatal(err)
		}
		store.mend()
		stop()
		if kept, err := store.Execution(t.Context(), e.ID); err != nil || kept.Status != routine.ExecutionCompleted {
			t.Error(kept, err)
		}
	})
}

// An execution whose end is not saved yet can be read while the store fails, by
// callers who may read it.
func TestUnsavedEndIsReadableWithoutTheStore(t *testing.T) {
	store := &unreadable{Store: routinetest.NewStore()}
	s := service.New(service.Config{Store: &failing{Store: store, finish: errors.New("locked")}, Browser: &routinetest.Browser{}})
	e, err := s.Execute(t.Context(), ann, create(t, s, ann, private).ID, service.Call{})
	if err != nil {
		t.Fatal(err)
	}
	store.ended.Store(true)
	if told, err := s.Execution(t.Context(), ann, e.ID); err != nil || told.Status != routine.ExecutionCompleted {
		t.Error(told, err)
	}
	if _, err := s.Execution(t.Context(), bob, e.ID); routine.CodeOf(err) != routine.CodeForbidden {
		t.Error(err)
	}
}

// endedByAnother is a store in which another process ends each execution before its own
// process does.
type endedByAnother struct{ routine.Store }

func (s endedByAnother) FinishExecution(ctx context.Context, e *routine.Execution) error {
	lost := *e
	lost.Status, lost.ErrorCode, lost.Error, lost.Result = routine.ExecutionFailed, routine.CodeInterrupted, new("the process died"), nil
	if err := s.Store.FinishExecution(ctx, &lost); err != nil {
		return err
	}
	return s.Store.FinishExecution(ctx, e)
}

// A run whose execution another process has ended is answered as it is recorded.
func TestRunThatAnotherProcessHasEnded(t *testing.T) {
	store := endedByAnother{routinetest.NewStore()}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	e, err := s.Execute(t.Context(), ann, create(t, s, ann, private).ID, service.Call{})
	if routine.CodeOf(err) != routine.CodeInterrupted {
		t.Fatal(e, err)
	}
	kept, err := s.Execution(t.Context(), ann, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kept, e); diff != "" || e.Status != routine.ExecutionFailed || e.Result != nil {
		t.Errorf("kept and answered differ: %s", diff)
	}
}
