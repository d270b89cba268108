package routine

import (
	"context"
	"time"
)

// JobKind says what a job does.
type JobKind string

const (
	// JobRun runs a queued execution.
	JobRun JobKind = "run"
	// JobWebhook sends a webhook of an execution that has ended.
	JobWebhook JobKind = "webhook"
	// JobPrune deletes executions that are no longer kept. It is repeated.
	JobPrune JobKind = "prune"
	// JobCleanup deletes expired idempotency keys and unused files, but no executions. It
	// is repeated. Processes that keep all executions do it instead of JobPrune: if they
	// claimed that, no process would delete executions.
	JobCleanup JobKind = "cleanup"
	// JobSchedule starts the runs of the schedules that are due. It is repeated.
	JobSchedule JobKind = "schedule"
)

// Job is work that one of the processes that share a store does.
type Job struct {
	Kind JobKind
	// Webhook is what a JobWebhook sends. It says which attempt this is.
	Webhook *Webhook
	// Run is what a JobRun runs. It may be handed out to several processes at once, or
	// after it has ended: ClaimExecution decides which of them runs it.
	Run *QueuedExecution
}

// JobResult is how an attempt at a job ended.
type JobResult struct {
	// Outcome is stored with the job, for operators.
	Outcome string
	// Retry is after how long the job is handed out again; 0: it is done or given up.
	Retry time.Duration
}

// JobHandler does the jobs of one kind.
type JobHandler struct {
	// Do does one job. It is called from many goroutines. A job may be handed out more
	// than once, because a process can die between doing it and saving that: Do has to
	// bear that. An error means that this process could not make the attempt, for
	// example because it stops: the job is handed out again later, to any process.
	Do func(ctx context.Context, j *Job) (JobResult, error)
	// Every is how often a repeated job is done, by one of all processes each time; 0:
	// the job is not repeated.
	Every time.Duration
	// Everywhere reports whether every process does the repeated job each time, because its
	// handler lets no two of them do the same. An idle process then writes nothing.
	Everywhere bool
	// Places is how many jobs of the kind JobRun this process does at once. One more is
	// allowed while one organization has all places and another has none, unless Places
	// is 1.
	Places int
	// Made, if not nil, receives a value when this process has made a job of the kind, so
	// that the queue looks for it at once. A queue that learns of jobs in another way need
	// not read it, and senders do not wait.
	Made <-chan struct{}
}

// JobQueue hands out the work that a [Store] keeps for later. The Store makes a job when it
// saves what the job is about, in the same transaction. The test suite in routinetest
// defines this contract as code.
type JobQueue interface {
	// Work hands out jobs to the handlers of their kinds until ctx ends. It then waits
	// for the handlers and returns. Each job is handed to one process at a time.
	// Organizations take turns, however many jobs each of them has.
	Work(ctx context.Context, handlers map[JobKind]JobHandler)
}

// JobStore is the part of a [Store] with which a [JobQueue] repeats jobs.
type JobStore interface {
	// ClaimRepeated reports whether the caller has to do the repeated job of a kind,
	// which is so if nobody has claimed it until after now. It is then claimed until
	// next. Of callers in all processes one succeeds. A claim that lasts more than twice
	// as long as from now to next was made by a clock that was wrong: it has expired. The
	// clocks of processes may differ a little, therefore twice.
	ClaimRepeated(ctx context.Context, kind JobKind, now, next time.Time) (bool, error)
}
