package postgres

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// sharing is a process that shares its asynchronous runs with others. Their jobs come from
// River. It counts the pages that it opens.
type sharing struct {
	*service.Service
	store  *Store
	opened atomic.Int64
}

func newSharing(t *testing.T, url string, edits ...func(*Config)) *sharing {
	t.Helper()
	r := &sharing{store: open(t, url, edits...)}
	browser := &routinetest.Browser{OnOpen: func(context.Context, *routinetest.Page) error { r.opened.Add(1); return nil }}
	r.Service = maintained(t, service.Config{Store: r.store, Browser: browser, Concurrency: 8, Queue: 200, Async: 8, ShareRuns: true,
		Jobs: r.store.JobQueue(), Sender: delivered{}, Log: slog.New(slog.DiscardHandler)})
	return r
}

// delivered is a Sender whose receivers take every webhook.
type delivered struct{}

func (delivered) Allows(context.Context, string, []string) error { return nil }

func (delivered) Send(context.Context, string, []string, map[string]string, []byte) (int, error) {
	return 200, nil
}

// start starts n runs of a new routine.
func (r *sharing) start(t *testing.T, name string, n int) {
	t.Helper()
	r.startCalls(t, name, n, service.Call{})
}

func (r *sharing) startCalls(t *testing.T, name string, n int, call service.Call) {
	t.Helper()
	definition := `{"name": "` + name + `", "description": "d", "operations": [{"type": "return_html"}]}`
	saved, _, err := r.CreateRoutine(t.Context(), caller, json.RawMessage(definition), service.Idempotency{})
	must(t, err)
	for range n {
		_, err := r.Start(t.Context(), caller, saved.ID, call)
		must(t, err)
	}
}

// awaitCompleted waits until n executions are completed and River has nothing to do.
func (r *sharing) awaitCompleted(t *testing.T, n int) {
	t.Helper()
	eventually(t, func() bool {
		var completed, jobs int
		must(t, r.store.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM executions WHERE status = 'completed'),
			(SELECT count(*) FROM river_job WHERE queue = 'run' AND state <> 'completed')`).Scan(&completed, &jobs))
		return completed == n && jobs == 0
	})
}

// An asynchronous run takes at most five commits: one to queue it, one to claim it, one for
// its end, and at most two of River, which takes and completes many jobs at once.
func TestQueuedRunBudget(t *testing.T) {
	const runs, maxCommits = 40, 5
	r := newSharing(t, emptyDatabase(t), func(c *Config) {
		c.timing = timing{beatInterval: time.Hour, deadAfter: time.Hour, maxLookGap: time.Hour, maxSilence: time.Hour} // a beat is a commit
	})
	r.start(t, "first", 1) // does what is done once
	r.awaitCompleted(t, 1)
	commits := func() (n int) {
		must(t, r.store.pool.QueryRow(t.Context(), `SELECT txid_snapshot_xmax(txid_current_snapshot())`).Scan(&n))
		return n
	}
	before := commits()
	r.start(t, "second", runs)
	r.awaitCompleted(t, 1+runs)
	took := commits() - before
	t.Logf("%d runs took %d commits", runs, took)
	if took > runs*maxCommits || took < 3*runs {
		t.Errorf("%d runs took %d commits, want at most %d each", runs, took, maxCommits)
	}
}

// Whatever happens to the jobs of River, each queued run is done once, by one of many
// processes.
func TestQueuedRunsAreDoneOnce(t *testing.T) {
	url := emptyDatabase(t)
	const runs = 60
	var all []*sharing
	for range 3 {
		all = append(all, newSharing(t, url))
	}
	var tampering sync.WaitGroup
	done, stop := context.WithCancel(t.Context())
	tampering.Go(func() {
		for done.Err() == nil {
			for _, change := range []string{
				`INSERT INTO river_job (kind, queue, args, max_attempts) SELECT 'run', 'run', '{}', 25 FROM generate_series(1, 3)`,
				`DELETE FROM river_job WHERE queue = 'run' AND state = 'available'`,
			} {
				if _, err := all[0].store.pool.Exec(context.WithoutCancel(done), change); err != nil {
					t.Error(err)
				}
			}
		}
	})
	all[0].start(t, "many", runs)
	stop()
	tampering.Wait()
	all[0].awaitCompleted(t, runs)
	var opened []int64
	sum := int64(0)
	for _, r := range all {
		opened = append(opened, r.opened.Load())
		sum += r.opened.Load()
	}
	t.Logf("pages of each process: %v", opened)
	if sum != runs {
		t.Errorf("%d runs opened %d pages", runs, sum)
	}
	_, total, err := all[0].store.Executions(t.Context(), routine.ExecutionFilter{OrganizationID: caller.OrganizationID})
	if err != nil || total != runs {
		t.Errorf("%d executions, %v", total, err)
	}
}

// The end of a queued run with a callback makes a job of River, which tells another process
// of the webhook at once.
func TestQueuedRunMakesWebhookJob(t *testing.T) {
	r := newSharing(t, emptyDatabase(t))
	r.startCalls(t, "plain", 1, service.Call{})
	r.startCalls(t, "reported", 1, service.Call{CallbackURL: "https://receiver.example/"})
	r.awaitCompleted(t, 2)
	if n := riverJobs(t, r.store, routine.JobWebhook); n != 1 {
		t.Errorf("%d jobs", n)
	}
}
