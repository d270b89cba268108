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

// watcher is an Observer that counts.
type watcher struct {
	routine.NoObserver
	mu     sync.Mutex
	counts map[string]int
}

func (w *watcher) ExecutionEnded(e *routine.Execution) {
	w.count(string(e.Status) + " " + string(e.ErrorCode))
}

func (w *watcher) WebhookSent(o routine.WebhookOutcome) { w.count(string(o)) }

func (w *watcher) count(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what]++
}

func (w *watcher) holds(t *testing.T, want map[string]int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if diff := cmp.Diff(want, w.counts); diff != "" {
		t.Error(diff)
	}
}

// finishPanics is a store that breaks down when an execution is to be finished.
type finishPanics struct{ routine.Store }

func (finishPanics) FinishExecution(context.Context, *routine.Execution) error { panic("a bug") }

// The observer gets each execution exactly once, however it ended.
func TestObserverOfExecutions(t *testing.T) {
	for _, row := range []struct {
		name string
		edit func(*service.Config)
		want string
	}{
		{"completed", func(*service.Config) {}, "completed "},
		{"failed", func(c *service.Config) { c.Browser = &routinetest.Browser{OpenError: errors.New("boom")} }, "failed internal"},
		{"whose end could not be saved", func(c *service.Config) { c.Store = finishPanics{c.Store} }, "completed "},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := &watcher{counts: map[string]int{}}
			c := service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, Observer: w}
			row.edit(&c)
			s := service.New(c)
			_, _ = s.Execute(t.Context(), ann, create(t, s, ann, private).ID, service.Call{}) // fails where it should
			w.holds(t, map[string]int{row.want: 1})
		})
	}
}

func TestObserverOfWebhooks(t *testing.T) {
	for name, row := range map[string]struct {
		statuses []int
		want     map[string]int
	}{
		"at last":    {[]int{500, 503, 200}, map[string]int{"retried": 2, "delivered": 1}},
		"not wanted": {[]int{500, 410}, map[string]int{"retried": 1, "given_up": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watcher{counts: map[string]int{}}
				s, stop := maintained(routinetest.NewStore(), &receiver{statuses: row.statuses}, func(c *service.Config) { c.Observer = w })
				defer stop()
				called(t, s)
				time.Sleep(48 * time.Hour) // of the test's own clock
				row.want["completed "] = 1
				w.holds(t, row.want)
			})
		})
	}
}

// sizeless is a store that cannot tell its size.
type sizeless struct{ routine.Store }

func (sizeless) Size() (int64, error) { return 0, errors.New("no disk") }

func TestStatisticsWithoutSizeAndCounts(t *testing.T) {
	s := service.New(service.Config{Store: sizeless{routinetest.NewStore()}, Browser: &routinetest.Browser{}, Concurrency: 3, Queue: 5})
	if got, want := s.Statistics(), (routine.Statistics{RunningLimit: 3, WaitingLimit: 5, StoreBytes: -1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
