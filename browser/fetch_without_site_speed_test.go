package browser

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
	"rote/routine/routinetest/optional"
	"rote/routine/service"
)

// maxRequestOverhead is how much longer a run of two requests may take than the requests, as
// a part of what the same run takes with a page for the site.
const maxRequestOverhead = 0.5

// Runs, ordinary runs and the bare requests are made in turn, so that all are under the same
// load. Other work on the machine slows down single rounds, a slow run all of them.
func TestSpeedOfRequests(t *testing.T) {
	optional.Speed(t)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := New(Config{Egress: shared.config.Egress, Executable: kind.executable(t), Log: complaints})
			t.Cleanup(b.Close)
			at := site(t, map[string]any{"/{$}": form, "/api": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id":7}`) }})
			d, _, err := definition.Parse(fmt.Appendf(nil, `{"name":"n","description":"d","operations":[
				{"type":"fetch","session_storage_key":"a","endpoint":{"url":"%[1]s/api"}},
				{"type":"fetch","session_storage_key":"a","endpoint":{"url":"%[1]s/api?id={{sessionStorage:a.id}}"}},
				{"type":"return","session_storage_key":"a"}]}`, at))
			if err != nil {
				t.Fatal(err)
			}
			run := func(ordinary bool) func() error {
				s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &openAs{Browser: b, ordinary: ordinary}})
				return func() error {
					_, err := s.RunOnce(context.Background(), routine.Principal{}, d, service.Call{})
					return err
				}
			}
			ways := []func() error{func() error { return bareRequests(at) }, run(false), run(true)}
			overhead := 0.0
			for range 4 {
				took := alternately(t, ways, 15, b)
				overhead = float64(took[1]-took[0]) / float64(took[2])
				t.Logf("the requests %v, a run %v, an ordinary run %v: %.2f", took[0], took[1], took[2], overhead)
				if overhead < maxRequestOverhead {
					break
				}
			}
			t.Logf("four callers: %.1f runs a second, %.1f ordinary ones", rateOf(t, ways[1]), rateOf(t, ways[2]))
			if overhead >= maxRequestOverhead && kind.name == "shell" {
				t.Errorf("a run takes longer than its requests by %.2f of an ordinary run, at most %.2f is allowed", overhead, maxRequestOverhead)
			}
		})
	}
}

// bareRequests makes the two requests without a browser.
func bareRequests(at string) error {
	for _, query := range []string{"", "?id=7"} {
		r, err := http.Get(at + "/api" + query)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return nil
}

// alternately does each way so many times and returns the medians. It waits for ready pages
// before each.
func alternately(t *testing.T, ways []func() error, times int, b *Browser) []time.Duration {
	t.Helper()
	took := make([][]time.Duration, len(ways))
	for range times {
		for n, way := range ways {
			b.waitReady(t)
			start := time.Now()
			if err := way(); err != nil {
				t.Fatal(err)
			}
			took[n] = append(took[n], time.Since(start))
		}
	}
	medians := make([]time.Duration, len(ways))
	for n := range ways {
		slices.Sort(took[n])
		medians[n] = took[n][times/2]
	}
	return medians
}

// waitReady waits until a started browser has all its ready pages.
func (b *Browser) waitReady(t *testing.T) {
	t.Helper()
	soon(t, "the browser has its ready pages", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		i := b.current
		return i == nil || !i.idleWork && i.creating == 0 && len(i.ended) == 0 && !b.needsPrepared(i)
	})
}

// rateOf is how many times a second four callers do something.
func rateOf(t *testing.T, do func() error) float64 {
	t.Helper()
	const window = 3 * time.Second
	var all sync.WaitGroup
	var done atomic.Int64
	start := time.Now()
	for range 4 {
		all.Go(func() {
			for time.Since(start) < window {
				if err := do(); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(start).Seconds()
}
