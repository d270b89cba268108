package jobs_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/jobs"
	"rote/routine/routinetest"
	"rote/routine/sqlite"
)

// pollers returns a function that makes pollers on a store.
func pollers(s routine.Store) func() routine.JobQueue {
	return func() routine.JobQueue {
		return &jobs.Poller{Store: s, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().UTC() }}
	}
}

func TestPollerInMemory(t *testing.T) {
	routinetest.TestJobs(t, func(*testing.T) (routine.Store, func() routine.JobQueue) {
		s := routinetest.NewStore()
		return s, pollers(s)
	})
}

func TestPollerOnSQLite(t *testing.T) {
	routinetest.TestJobs(t, func(t *testing.T) (routine.Store, func() routine.JobQueue) {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "rote.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s, pollers(s)
	})
}
