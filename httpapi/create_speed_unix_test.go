//go:build unix && !race

package httpapi_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine/routinetest/optional"
)

// creating creates routines concurrently and returns how many a second.
func creating(t *testing.T, e *env, routines int) float64 {
	t.Helper()
	var left atomic.Int64
	left.Store(int64(routines))
	var all sync.WaitGroup
	began := time.Now()
	for range callers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if got, err := e.plain(t, readPage); err != nil || got != 201 {
					t.Error(got, err)
					return
				}
			}
		})
	}
	all.Wait()
	return float64(routines) / time.Since(began).Seconds()
}

// plain creates a routine without a look at what is answered, which costs more
// than the call.
func (e *env) plain(t *testing.T, text string) (status int, err error) {
	q, err := http.NewRequestWithContext(t.Context(), "POST", e.URL+"/routines/", strings.NewReader(text))
	if err != nil {
		return 0, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Service-Token", adminToken)
	got, err := e.Client().Do(q)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, got.Body)
	return got.StatusCode, errors.Join(err, got.Body.Close())
}

// syncing writes to a file and waits for the disk, and returns how many times a
// second it can do so.
func syncing(t *testing.T, times int) float64 {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "synced"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	began := time.Now()
	for range times {
		_, err := f.WriteString("a row")
		if err := errors.Join(err, f.Sync()); err != nil {
			t.Fatal(err)
		}
	}
	return float64(times) / time.Since(began).Seconds()
}

// Each routine is on the disk before its creation is acknowledged. Still 300 are
// created in a second, or nearly as many as the disk can sync. A slow machine has
// to create fewer, in proportion to what a bare handler costs there.
func TestSpeedOfCreating(t *testing.T) {
	optional.Speed(t)
	e := newEnv(t)
	creating(t, e, 50) // to warm up
	bareCost := cost(t, bare(t, "{}").URL+"/routines/x", adminToken, 2000)
	enough := 300 * min(1, float64(40*time.Microsecond)/float64(bareCost))
	for range 20 {
		created, synced := creating(t, e, 200), syncing(t, 100)
		t.Logf("%.0f routines a second; the disk: %.0f; a bare handler: %v", created, synced, bareCost)
		if created >= enough || created >= 0.8*synced {
			return
		}
	}
	t.Errorf("fewer than %.0f a second, and than 0.8 of what the disk can do", enough)
}
