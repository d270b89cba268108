package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"rote/routine"
	"rote/routine/jobs"
	"rote/routine/routinetest"
)

func TestPoller(t *testing.T) {
	t.Parallel()
	const database = "poller"
	emptied(t, database) // before the clock of synctest
	routinetest.TestJobs(t, func(t *testing.T) (routine.Store, func() routine.JobQueue) {
		s := open(t, emptied(t, database))
		return s, func() routine.JobQueue {
			return &jobs.Poller{Store: s, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().UTC() }}
		}
	})
}

func TestJobQueue(t *testing.T) {
	t.Parallel()
	const database = "river"
	emptied(t, database) // before the clock of synctest
	routinetest.TestJobs(t, func(t *testing.T) (routine.Store, func() routine.JobQueue) {
		s := open(t, emptied(t, database), withoutNotifications)
		return s, func() routine.JobQueue { return s.JobQueue() }
	})
}

// withoutNotifications is for tests with the clock of synctest, which does not advance while a
// goroutine waits for a notification. River takes it for the clock of the database too.
//
// Half an hour of it passes in a moment, so River looks for jobs less often.
func withoutNotifications(c *Config) {
	c.editRiver = func(r *river.Config) {
		r.PollOnly, r.Test.Time = true, testClock{}
		for name, queue := range r.Queues {
			queue.FetchPollInterval = 10 * time.Second
			r.Queues[name] = queue
		}
	}
}

type testClock struct{}

func (testClock) Now() time.Time       { return time.Now() }
func (testClock) NowOrNil() *time.Time { return new(time.Now()) }

// ended makes an execution that has ended and has a webhook.
func ended(t *testing.T, s *Store) *routine.Execution {
	t.Helper()
	e := routinetest.Execution(t)
	e.CreatedAt, e.Callback = time.Now().UTC(), &routine.Callback{URL: "https://receiver.example/"}
	must(t, s.CreateExecution(t.Context(), e))
	must(t, s.FinishExecution(t.Context(), routinetest.Ended(e)))
	return e
}

// riverJobs returns how many jobs of a kind River has.
func riverJobs(t *testing.T, s *Store, kind routine.JobKind) (n int) {
	t.Helper()
	must(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE kind = $1`, string(kind)).Scan(&n))
	return n
}

// A job of River is made with what it is about, or not at all.
func TestJobIsMadeInTheTransaction(t *testing.T) {
	s := open(t, emptyDatabase(t))
	e := ended(t, s)
	if err := s.FinishExecution(t.Context(), routinetest.Ended(e)); err == nil {
		t.Error("it has ended twice")
	}
	must(t, s.FinishExecution(t.Context(), routinetest.Ended(create(t, s))))
	if n := riverJobs(t, s, routine.JobWebhook); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

// Whatever happens to the jobs of River, what they are about is done once.
func TestJobsOfRiverAreHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, emptyDatabase(t), withoutNotifications)
		want := map[string]int{}
		for _, change := range []string{
			`INSERT INTO river_job (kind, queue, args, max_attempts, scheduled_at)
				SELECT kind, queue, args, max_attempts, scheduled_at FROM river_job, generate_series(1, 2)`,
			`DELETE FROM river_job WHERE id = (SELECT max(id) FROM river_job)`,
			`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = scheduled_at, attempted_by = '{dead}' WHERE id = (SELECT max(id) FROM river_job)`,
		} {
			want[ended(t, s).ID] = 1
			execute(t, s.config.URL, change)
		}
		var mu sync.Mutex
		got := map[string]int{}
		work(t, s, map[routine.JobKind]routine.JobHandler{routine.JobWebhook: {Do: func(_ context.Context, j *routine.Job) (routine.JobResult, error) {
			mu.Lock()
			defer mu.Unlock()
			got[j.Webhook.ExecutionID]++
			return routine.JobResult{Outcome: "status 200"}, nil
		}}})
		time.Sleep(8 * time.Minute) // until the job of the dead process has been handed out again
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("done (-want +got):\n%s", diff)
		}
		var open int
		must(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE state <> 'completed'`).Scan(&open))
		if open != 0 {
			t.Errorf("River has %d more jobs", open)
		}
	})
}

// work does jobs until the test ends.
func work(t *testing.T, s *Store, handlers map[routine.JobKind]routine.JobHandler) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { s.JobQueue().Work(ctx, handlers) })
	t.Cleanup(func() {
		stop()
		working.Wait()
	})
}

// A repeated job is done although the process that did it last has died in it, and although
// the process that makes the repeated jobs of all does others itself.
func TestRepeatedJobOfADeadProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, emptyDatabase(t), withoutNotifications)
		_, err := s.pool.Exec(t.Context(), `
			INSERT INTO river_job (kind, queue, args, max_attempts, state, scheduled_at, attempt, attempted_at, attempted_by, unique_key, unique_states)
			VALUES ('prune', 'prune', '{}', 1, 'running', $1, 1, $1, '{dead}', sha256('&kind=prune'), B'11110101')`, time.Now())
		must(t, err)
		done := make(chan routine.JobKind, 100)
		do := func(_ context.Context, j *routine.Job) (routine.JobResult, error) {
			done <- j.Kind
			return routine.JobResult{}, nil
		}
		work(t, s, map[routine.JobKind]routine.JobHandler{routine.JobCleanup: {Do: do, Every: 10 * time.Minute}})
		time.Sleep(time.Minute) // it makes the repeated jobs from now on
		work(t, s, map[routine.JobKind]routine.JobHandler{routine.JobPrune: {Do: do, Every: 10 * time.Minute}})
		time.Sleep(35 * time.Minute)
		close(done)
		counts := map[routine.JobKind]int{}
		for kind := range done {
			counts[kind]++
		}
		if counts[routine.JobCleanup] != 4 || counts[routine.JobPrune] < 2 || counts[routine.JobPrune] > 3 {
			t.Errorf("done: %v", counts)
		}
	})
}

// River notifies a process of a job at once: this one would not look for an hour.
func TestJobIsHeardOf(t *testing.T) {
	s := open(t, emptyDatabase(t), func(c *Config) {
		c.editRiver = func(r *river.Config) { r.FetchPollInterval, r.FetchCooldown = time.Hour, time.Millisecond }
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	defer stop()
	woken := make(chan struct{}, 1)
	stopped := make(chan error, 1)
	go func() {
		stopped <- s.JobQueue().listen(ctx, map[routine.JobKind]routine.JobHandler{routine.JobWebhook: {}},
			map[routine.JobKind]chan struct{}{routine.JobWebhook: woken})
	}()
	var took []time.Duration
	for range 3 { // the first may be found by the look at the start
		eventually(t, func() bool { // River notifies at most once in FetchCooldown
			var open int
			must(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE state <> 'completed'`).Scan(&open))
			return open == 0
		})
		ended(t, s)
		began := time.Now()
		select {
		case <-woken:
			took = append(took, time.Since(began))
		case err := <-stopped:
			t.Fatal(err)
		case <-time.After(operationTimeout):
			t.Fatalf("not heard: %v", took)
		}
	}
	t.Logf("heard after %v", took)
	stop()
	must(t, <-stopped)
}

// A process that stops does not wait for a start of River to which the database does not
// answer.
func TestStopWhileRiverStarts(t *testing.T) {
	s := open(t, emptyDatabase(t), func(c *Config) { c.Connections = 1 })
	taken, err := s.pool.Acquire(t.Context())
	must(t, err)
	defer taken.Release()
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() {
		stopped <- s.JobQueue().listen(ctx, map[routine.JobKind]routine.JobHandler{routine.JobWebhook: {}}, nil)
	}()
	time.AfterFunc(100*time.Millisecond, stop) // River waits for a connection then
	select {
	case err := <-stopped:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(operationTimeout / 2):
		t.Error("it waits for the database")
	}
}

// A new version of River that has migrations needs a migration of this package.
func TestRiverMigrationsAreCurrent(t *testing.T) {
	s := open(t, emptyDatabase(t))
	m, err := rivermigrate.New(riverpgxv5.New(s.pool), &rivermigrate.Config{Logger: s.riverLog})
	must(t, err)
	versions := m.AllVersions()
	var last string
	for _, name := range riverMigrations {
		last = max(last, name)
	}
	if want := fmt.Sprintf("_river_%d.go", versions[len(versions)-1].Version); !strings.HasSuffix(last, want) {
		t.Errorf("the last migration of River is %s, want 0000N%s: add one to riverMigrations", last, want)
	}
	if result, err := m.Validate(t.Context(), nil); err != nil || !result.OK {
		t.Errorf("%+v, %v", result, err)
	}
}
