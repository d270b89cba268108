package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// told is an event in short form.
func told(e routine.Event) string {
	if e.Begun != nil {
		return fmt.Sprintf("%s begins", e.Begun.Type)
	}
	if e.Operation != nil {
		return fmt.Sprintf("%d %s", e.Sequence, e.Operation.Type)
	}
	return fmt.Sprintf("%d %s", e.Sequence, e.Execution.Status)
}

// All watchers get the same events with the same numbers, whenever they begin
// and in whichever process.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		r := create(t, here, ann, nap)
		e := start(t, here, r.ID)
		whole := "1 pending, 2 running, 3 sleep, 4 return_html, 5 completed"
		watch := func(s *service.Service, after int) string {
			var all []string
			if err := s.Watch(t.Context(), ann, e.ID, after, func(e routine.Event) error {
				if e.Execution != nil && e.Execution.Result != nil {
					t.Error("an event has a result")
				}
				if e.Begun == nil {
					all = append(all, told(e))
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			return strings.Join(all, ", ")
		}
		var watchers sync.WaitGroup
		for _, s := range []*service.Service{here, there} {
			watchers.Go(func() {
				if got := watch(s, 0); got != whole {
					t.Errorf("from the beginning: %s", got)
				}
			})
		}
		watchers.Wait()
		for after, want := range map[int]string{0: whole, 3: "4 return_html, 5 completed", 5: "", 99: ""} {
			if got := watch(there, after); got != want {
				t.Errorf("after %d: %s, want %s", after, got, want)
			}
		}
		mine := errors.New("mine")
		if err := here.Watch(t.Context(), ann, e.ID, 0, func(routine.Event) error { return mine }); !errors.Is(err, mine) {
			t.Error(err)
		}
	})
}

// Watchers in the process of a run learn of each operation when it begins, once, and the
// records say when it began. The numbers of the other events stay as they are.
func TestWatchTellsOfOperationsThatBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		r := create(t, here, ann, definitionOf(`{"type":"sleep","timeout_seconds":2},{"type":"sleep","timeout_seconds":3},{"type":"sleep","timeout_seconds":1}`, ""))
		e := start(t, here, r.ID)
		type log struct {
			service *service.Service
			after   int
			begins  []string
		}
		watchers := []*log{{service: here}, {service: here, after: 3}, {service: there}}
		var all sync.WaitGroup
		for _, w := range watchers {
			all.Go(func() {
				if err := w.service.Watch(t.Context(), ann, e.ID, w.after, func(e routine.Event) error {
					if o := e.Begun; o != nil {
						w.begins = append(w.begins, fmt.Sprintf("%d %s at %v after %d", o.Index, o.Type, o.StartSeconds, w.after))
					}
					w.after = max(w.after, e.Sequence)
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		want := []string{"0 sleep at 0 after 2", "1 sleep at 2 after 3", "2 sleep at 5 after 4"}
		late := []string{"0 sleep at 0 after 3", "1 sleep at 2 after 3", "2 sleep at 5 after 4"}
		if diff := cmp.Diff([][]string{want, late, nil}, [][]string{watchers[0].begins, watchers[1].begins, watchers[2].begins}); diff != "" {
			t.Error(diff)
		}
		ended, err := there.Execution(t.Context(), ann, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		var starts []float64
		for _, o := range ended.Result.OperationsMetadata {
			starts = append(starts, *o.StartSeconds)
		}
		if diff := cmp.Diff([]float64{0, 2, 5}, starts); diff != "" {
			t.Errorf("the records' starts: %s", diff)
		}
	})
}

func TestWatchEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		e := start(t, here, create(t, here, ann, nap).ID)
		for _, s := range []*service.Service{here, there} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := s.Watch(ctx, ann, e.ID, 2, func(routine.Event) error { return nil }); routine.CodeOf(err) != routine.CodeTimeout {
				t.Error(err)
			}
		}
	})
}

// When a service closes, its callers stop waiting for executions of other
// processes.
func TestWaitingEndsWithTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		e := start(t, here, create(t, here, ann, nap).ID)
		synctest.Wait()
		var all sync.WaitGroup
		all.Go(func() {
			if err := there.Watch(t.Context(), ann, e.ID, 2, func(routine.Event) error { return nil }); routine.CodeOf(err) != routine.CodeShuttingDown {
				t.Error(err)
			}
		})
		all.Go(func() {
			if e, err := there.Wait(t.Context(), ann, e.ID); err != nil || e.Status != routine.ExecutionRunning {
				t.Error(e, err)
			}
		})
		synctest.Wait()
		begin := time.Now()
		there.Close(t.Context())
		all.Wait()
		if took := time.Since(begin); took > 0 {
			t.Errorf("after %v", took)
		}
	})
}

// The event with an operation's record is masked although the run has not ended.
func TestWatchHidesSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := two(t, routinetest.NewStore())
		r := create(t, s, ann, definitionOf(`{"type":"sleep","timeout_seconds":1},{"type":"navigate","url":"https://shop.example/?q={{pw}}"},{"type":"sleep","timeout_seconds":1}`,
			`{"name":"pw","type":"string","description":"d","x-secret":true}`))
		e, err := s.Start(t.Context(), ann, r.ID, service.Call{Parameters: json.RawMessage(`{"pw":"s3cret"}`)})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		if err = s.Watch(t.Context(), ann, e.ID, 0, func(e routine.Event) error {
			text, err := json.Marshal(e)
			all = append(all, string(text))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(all, "\n"); strings.Contains(text, "s3cret") || !strings.Contains(text, "shop.example/?q=") {
			t.Errorf("told:\n%s", text)
		}
	})
}
