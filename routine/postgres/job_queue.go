package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"rote/routine"
	"rote/routine/jobs"
)

const (
	// fetchCooldown is the shortest time between two times that a process asks for jobs of
	// a kind, and fetchInterval the longest, if it hears of none.
	fetchCooldown = 50 * time.Millisecond
	fetchInterval = time.Second
	// repeatedInterval is fetchInterval for repeated jobs.
	repeatedInterval = 30 * time.Second
	// minRepeated is the shortest interval of the repeated jobs that River makes. For one
	// that comes more often, River writes more than the claims of the poller do.
	minRepeated = time.Minute
	// jobTimeout limits a job. Only repeated jobs take longer than a moment. The job of a
	// process that died is taken from it after rescueAfter. Without a limit it never would.
	jobTimeout  = 330 * time.Second
	rescueAfter = 360 * time.Second
	// keepCompleted is how long River keeps jobs that are done.
	keepCompleted = 10 * time.Minute
	// maxFetched is how many jobs of a kind are fetched at once. A process looks once for
	// what all of them are about.
	maxFetched = 100
	// restartPause is the pause before River is started again if the database did not
	// answer.
	restartPause = 5 * time.Second
	// riverStopTimeout limits the time in which River saves what it has done.
	riverStopTimeout = 10 * time.Second
)

var _ routine.JobQueue = (*JobQueue)(nil)

// JobQueue is a [routine.JobQueue] on River. River notifies one process of each new job at
// once, and has jobs that are repeated now and then done by one process each time. Which webhook or run comes next
// is the decision of the Store, because River's order is not fair between organizations.
//
// So the process does what the poller of routine/jobs does, which asks the Store for due
// jobs, also at intervals, and is woken by River.
type JobQueue struct{ store *Store }

// JobQueue returns the queue of the jobs of the Store.
func (s *Store) JobQueue() *JobQueue { return &JobQueue{s} }

// Work hands out jobs until ctx ends, and returns when all handlers have returned.
func (q *JobQueue) Work(ctx context.Context, handlers map[routine.JobKind]routine.JobHandler) {
	polled, woken := map[routine.JobKind]routine.JobHandler{}, map[routine.JobKind]chan struct{}{}
	handlers = maps.Clone(handlers)
	var all sync.WaitGroup
	for kind, h := range handlers {
		switch {
		case h.Every >= minRepeated:
			continue
		case h.Every > 0:
			delete(handlers, kind) // River has nothing to do with it
		default:
			wakes := make(chan struct{}, 1)
			if made := h.Made; made != nil { // this process looks for its own jobs before River wakes one
				all.Go(func() { passOn(ctx, made, wakes) })
			}
			woken[kind], h.Made = wakes, wakes
		}
		polled[kind] = h
	}
	poller := &jobs.Poller{Store: q.store, Log: q.store.config.Log, Now: func() time.Time { return time.Now().UTC() }}
	all.Go(func() { poller.Work(ctx, polled) })
	if len(handlers) > 0 {
		all.Go(func() { q.keepListening(ctx, handlers, woken) })
	}
	all.Wait()
}

// passOn wakes a poller each time that made receives, until ctx ends.
func passOn(ctx context.Context, made <-chan struct{}, woken chan<- struct{}) {
	for {
		select {
		case <-made:
			wake(woken)
		case <-ctx.Done():
			return
		}
	}
}

// wake makes a poller look, unless it is about to.
func wake(woken chan<- struct{}) {
	select {
	case woken <- struct{}{}:
	default:
	}
}

// keepListening runs River until ctx ends. It starts River again if that fails.
func (q *JobQueue) keepListening(ctx context.Context, handlers map[routine.JobKind]routine.JobHandler, woken map[routine.JobKind]chan struct{}) {
	for {
		if err := q.listen(ctx, handlers, woken); err != nil && ctx.Err() == nil {
			q.store.riverLog.ErrorContext(ctx, "it cannot be started, so jobs begin up to a second later, and old executions are not deleted", "error", err)
		}
		pause := time.NewTimer(restartPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

// listen runs River until ctx ends, and returns when its handlers have returned.
func (q *JobQueue) listen(ctx context.Context, handlers map[routine.JobKind]routine.JobHandler, woken map[routine.JobKind]chan struct{}) (err error) {
	direct, err := q.store.directPool()
	if err != nil {
		return err
	}
	defer direct.Close()
	w := &riverWorker{handlers: handlers, woken: woken}
	client, err := river.NewClient(riverDriver{riverpgxv5.New(q.store.pool), riverpgxv5.New(direct)}, q.riverConfig(w))
	if err != nil {
		return fmt.Errorf("start River: %w", err)
	}
	if err := startRiver(ctx, client); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-client.Stopped():
		err = errors.New("the job queue River has stopped")
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), riverStopTimeout)
	defer cancel()
	err = errors.Join(err, client.StopAndCancel(stopping))
	w.working.Wait()
	return err
}

// startRiver starts River. It gives up if ctx ends, or if the database does not answer for
// operationTimeout. Once River has started, the end of ctx does not cancel what it saves.
func startRiver(ctx context.Context, client *river.Client[pgx.Tx]) error {
	running, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	starting, started := context.WithTimeout(ctx, operationTimeout)
	defer started()
	keep := context.AfterFunc(starting, giveUp)
	err := client.Start(running)
	if !keep() && err == nil { // it has started, but its context has ended
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), riverStopTimeout)
		defer cancel()
		err = errors.Join(starting.Err(), client.StopAndCancel(stopping))
	}
	if err != nil {
		giveUp()
		return fmt.Errorf("start River: %w", err)
	}
	return nil
}

// riverConfig returns the settings of River for a process with these handlers.
func (q *JobQueue) riverConfig(w *riverWorker) *river.Config {
	c := &river.Config{
		ID:            uuid.NewString(),
		FetchCooldown: fetchCooldown, FetchPollInterval: fetchInterval,
		JobTimeout: jobTimeout, RescueStuckJobsAfter: rescueAfter, CompletedJobRetentionPeriod: keepCompleted,
		ReindexerSchedule: river.NeverSchedule(), // the indexes are vacuumed like those of other tables
		Logger:            q.store.riverLog,
		Queues:            map[string]river.QueueConfig{}, Workers: river.NewWorkers(),
	}
	for kind, h := range w.handlers {
		queue := river.QueueConfig{MaxWorkers: maxFetched}
		if h.Every > 0 {
			queue = river.QueueConfig{MaxWorkers: 1, FetchPollInterval: repeatedInterval}
		}
		c.Queues[string(kind)] = queue
	}
	for kind, every := range repeatedJobs(w.handlers) {
		c.PeriodicJobs = append(c.PeriodicJobs, periodicJob(kind, every))
	}
	for _, kind := range []routine.JobKind{routine.JobRun, routine.JobWebhook, routine.JobPrune, routine.JobCleanup} {
		river.AddWorkerArgs(c.Workers, jobArgs{kind}, w)
	}
	q.store.config.editRiver(c)
	return c
}

// repeatedJobs returns the repeated jobs and their intervals. One process makes those of
// all processes, so they include the one of JobPrune and JobCleanup that others may do
// instead of this process.
func repeatedJobs(handlers map[routine.JobKind]routine.JobHandler) map[routine.JobKind]time.Duration {
	all := map[routine.JobKind]time.Duration{}
	for kind, h := range handlers {
		if h.Every == 0 {
			continue
		}
		all[kind] = h.Every
		if kind == routine.JobPrune || kind == routine.JobCleanup {
			all[routine.JobPrune], all[routine.JobCleanup] = h.Every, h.Every
		}
	}
	return all
}

// periodicJob returns a repeated job. It is not made while the last one waits or is being
// done.
func periodicJob(kind routine.JobKind, every time.Duration) *river.PeriodicJob {
	unfinished := []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable,
		rivertype.JobStateScheduled}
	return river.NewPeriodicJob(river.PeriodicInterval(every), func() (river.JobArgs, *river.InsertOpts) {
		return jobArgs{kind}, &river.InsertOpts{Queue: string(kind), MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByState: unfinished}}
	}, &river.PeriodicJobOpts{ID: string(kind), RunOnStart: true})
}

// riverWorker does what River hands out: it wakes the poller, and does repeated jobs.
type riverWorker struct {
	river.WorkerDefaults[jobArgs]
	handlers map[routine.JobKind]routine.JobHandler
	woken    map[routine.JobKind]chan struct{}
	working  sync.WaitGroup
}

// Work does one job of River.
func (w *riverWorker) Work(ctx context.Context, j *river.Job[jobArgs]) error {
	w.working.Add(1)
	defer w.working.Done()
	kind := routine.JobKind(j.Kind)
	if made := w.woken[kind]; made != nil {
		wake(made)
		return nil
	}
	h, known := w.handlers[kind]
	if !known {
		return nil
	}
	if _, err := h.Do(ctx, &routine.Job{Kind: kind}); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

var _ river.Worker[jobArgs] = (*riverWorker)(nil)
