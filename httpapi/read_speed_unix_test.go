//go:build unix && !race

package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"rote/httpapi"
	"rote/routine/routinetest/optional"
)

const callers = 16

// cost is the processor time of one GET, of many that come at once, on both
// sides of the connection. Callers that come at once keep all processors busy, so
// throughput goes by it; but unlike that it does not change with what else the
// machine has to do.
func cost(t testing.TB, url, token string, requests int) time.Duration {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	var left atomic.Int64
	left.Store(int64(requests))
	var all sync.WaitGroup
	started := spent(t)
	for range callers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("X-Service-Token", token)
				got, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				_, err = io.Copy(io.Discard, got.Body)
				got.Body.Close()
				if err != nil || got.StatusCode != http.StatusOK {
					t.Error(got.Status, err)
					return
				}
			}
		})
	}
	all.Wait()
	return (spent(t) - started) / time.Duration(requests)
}

// spent is the processor time of this process so far.
func spent(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bare is a chi handler that writes the bytes that the service answers with.
func bare(t testing.TB, body string) *httptest.Server {
	t.Helper()
	r := chi.NewRouter()
	r.Get("/routines/{routine_id}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	})
	s := httptest.NewUnstartedServer(nil)
	s.Config = httpapi.NewServer("", r)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// reading returns what it takes to measure a read against a handler that writes
// the same bytes.
func reading(t testing.TB) (ours, floor, token string) {
	t.Helper()
	e := newEnv(t)
	path := e.names.Replace("/routines/$private")
	secret, _, err := e.service.CreateToken(t.Context(), admin, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.do(t.Context(), "GET", path, asAdmin, "")
	if err != nil {
		t.Fatal(err)
	}
	ours, floor = e.URL+path, bare(t, got.body).URL+path
	cost(t, ours, secret, 500) // to warm up
	cost(t, floor, secret, 500)
	return ours, floor, secret
}

// With token, access and log line, a read has at least half the throughput of a
// handler that only writes the same bytes.
func TestSpeedOfReading(t *testing.T) {
	optional.Speed(t)
	ours, floor, token := reading(t)
	best := 0.0
	for range 20 {
		read, wrote := cost(t, ours, token, 2000), cost(t, floor, token, 2000)
		t.Logf("%v, a bare handler %v", read, wrote)
		if best = max(best, float64(wrote)/float64(read)); best >= 0.5 {
			return
		}
	}
	t.Errorf("a read has %.2f of the throughput of a bare handler, want 0.5", best)
}

func BenchmarkRead(b *testing.B) {
	ours, floor, token := reading(b)
	for name, url := range map[string]string{"routine": ours, "bare": floor} {
		b.Run(name, func(b *testing.B) { b.ReportMetric(float64(cost(b, url, token, b.N).Microseconds()), "cpu-µs/op") })
	}
}
