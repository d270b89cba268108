package service_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// recordingStore records the calls that change executions.
type recordingStore struct {
	*routinetest.Store
	mu    sync.Mutex
	calls []string
	// progress has the number of records of each execution, for each SaveProgress.
	progress []map[string]int
}

func (s *recordingStore) record(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

func (s *recordingStore) CreateExecution(ctx context.Context, e *routine.Execution) error {
	s.record("create " + string(e.Status))
	return s.Store.CreateExecution(ctx, e)
}

func (s *recordingStore) StartExecution(ctx context.Context, id string, at time.Time) error {
	s.record("start")
	return s.Store.StartExecution(ctx, id, at)
}

func (s *recordingStore) FinishExecution(ctx context.Context, e *routine.Execution) error {
	s.record("finish " + string(e.Status))
	return s.Store.FinishExecution(ctx, e)
}

func (s *recordingStore) SaveProgress(ctx context.Context, records map[string][]routine.OperationRecord) error {
	s.mu.Lock()
	counts := map[string]int{}
	for id, all := range records {
		counts[id] = len(all)
	}
	s.progress = append(s.progress, counts)
	s.mu.Unlock()
	return s.Store.SaveProgress(ctx, records)
}

// A run that has its place at once is stored as running, and its watchers get the pending
// execution first all the same. A run that waits is stored as pending.
func TestRunIsStoredAsRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &recordingStore{Store: routinetest.NewStore()}
		s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}, Concurrency: 1, Queue: 2})
		r := create(t, s, ann, nap)
		first, err := s.Start(t.Context(), ann, r.ID, service.Call{})
		if err != nil || first.Status != routine.ExecutionPending || first.StartedAt != nil {
			t.Fatalf("%+v %v", first, err)
		}
		second, err := s.Start(t.Context(), ann, r.ID, service.Call{})
		if err != nil || second.Status != routine.ExecutionPending {
			t.Fatalf("%+v %v", second, err)
		}
		want := []routine.ExecutionStatus{routine.ExecutionPending, routine.ExecutionRunning, routine.ExecutionCompleted}
		for _, e := range []*routine.Execution{first, second} {
			var told []routine.ExecutionStatus
			if err := s.Watch(t.Context(), ann, e.ID, 0, func(event routine.Event) error {
				if event.Execution != nil {
					told = append(told, event.Execution.Status)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(told, want) {
				t.Errorf("watchers were told %v", told)
			}
			kept, err := store.Execution(t.Context(), e.ID)
			if err != nil || kept.StartedAt == nil || kept.StartedAt.Before(kept.CreatedAt) {
				t.Errorf("%+v %v", kept, err)
			}
		}
		wantCalls := []string{"create running", "create pending", "finish completed", "start", "finish completed"}
		if diff := cmp.Diff(wantCalls, store.calls); diff != "" {
			t.Error(diff)
		}
	})
}

// The progress of all runs that take longer than two seconds is saved in one call, once
// for each operation that has ended. Short runs have none saved.
func TestProgressIsSavedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &recordingStore{Store: routinetest.NewStore()}
		s, stop := maintained(store, nil, func(c *service.Config) { c.Sender, c.Concurrency = nil, 9 })
		long := create(t, s, ann, definitionOf(`{"type":"scroll","delta_y":1},{"type":"sleep","timeout_seconds":7},{"type":"return_html"}`, ""))
		short := create(t, s, ann, definitionOf(`{"type":"scroll","delta_y":1},{"type":"sleep","timeout_seconds":1.5},{"type":"return_html"}`, ""))
		a, err := s.Start(t.Context(), ann, long.ID, service.Call{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Start(t.Context(), ann, long.ID, service.Call{})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 { // each ends before it is two seconds old
			if _, err := s.Execute(t.Context(), ann, short.ID, service.Call{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range []*routine.Execution{a, b} {
			if e, err := s.Wait(t.Context(), ann, e.ID); err != nil || e.OperationsDone != 3 {
				t.Errorf("%+v %v", e, err)
			}
		}
		stop()
		if diff := cmp.Diff([]map[string]int{{a.ID: 1, b.ID: 1}}, store.progress); diff != "" {
			t.Error(diff)
		}
	})
}
