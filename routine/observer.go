package routine

import "time"

// Observer receives the events of a service from which metrics are made. Its methods
// are called by many goroutines at once and must not block.
type Observer interface {
	// ExecutionEnded is called once for each stored execution that this process ran,
	// when e is final. It must neither change nor keep e.
	ExecutionEnded(e *Execution)
	// WebhookSent is called after each attempt to deliver a webhook.
	WebhookSent(WebhookOutcome)
	// JobEnded is called after each job that was handed to this process.
	JobEnded(JobKind, JobOutcome)
	// RunDequeued is called when this process takes a run from the queue of the store,
	// with the time that it waited there.
	RunDequeued(waited time.Duration)
	// LessonStarted is called when the page of a lesson was opened, LessonEnded when it
	// was closed. A lesson that opens a new page for its operations starts again.
	LessonStarted()
	LessonEnded(LessonEnd)
	// LessonOperation is called after each operation that was tried in a lesson. ok
	// reports whether it worked.
	LessonOperation(operationType string, ok bool)
}

// LessonEnd says why the page of a lesson was closed.
type LessonEnd string

const (
	// LessonSaved means that a routine was made of the lesson.
	LessonSaved LessonEnd = "saved"
	// LessonEnded means that its owner closed it without saving.
	LessonEnded LessonEnd = "ended"
	// LessonIdle means that nothing was asked of it for a long time, or that it was open
	// for too long.
	LessonIdle LessonEnd = "idle"
	// LessonLost means that its page crashed or that the service was stopped.
	LessonLost LessonEnd = "lost"
)

// WebhookOutcome is the outcome of one attempt to deliver a webhook.
type WebhookOutcome string

const (
	WebhookDelivered WebhookOutcome = "delivered"
	// WebhookRetried means that the attempt failed and will be repeated.
	WebhookRetried WebhookOutcome = "retried"
	// WebhookGivenUp means that the last attempt failed.
	WebhookGivenUp WebhookOutcome = "given_up"
)

// JobOutcome is the outcome of one job.
type JobOutcome string

const (
	JobDone JobOutcome = "done"
	// JobTaken means that another process had done the job already.
	JobTaken JobOutcome = "taken"
	// JobRetried means that the job is handed out again later: it did not succeed, or this
	// process had no place for it.
	JobRetried JobOutcome = "retried"
	// JobFailed means that this process could not do the job.
	JobFailed JobOutcome = "failed"
)

// NoObserver is an [Observer] that ignores all events.
type NoObserver struct{}

func (NoObserver) ExecutionEnded(*Execution)    {}
func (NoObserver) WebhookSent(WebhookOutcome)   {}
func (NoObserver) JobEnded(JobKind, JobOutcome) {}
func (NoObserver) RunDequeued(time.Duration)    {}
func (NoObserver) LessonStarted()               {}
func (NoObserver) LessonEnded(LessonEnd)        {}
func (NoObserver) LessonOperation(string, bool) {}

// Statistics describes how busy a service is.
type Statistics struct {
	// Running counts the executions that have a browser, Waiting those that wait for
	// one, each with its limit. Running can exceed its limit by one: while one
	// organization holds all places, another that has none gets an extra one.
	Running, RunningLimit int
	Waiting, WaitingLimit int
	// WaitingRuns counts the executions in the queue of the store, WaitingWebhooks the
	// webhooks that are due; negative if the store did not answer.
	WaitingRuns, WaitingWebhooks int
	// StoreBytes is the size of the store on disk; negative if the store did not
	// answer.
	StoreBytes int64
	// Browser is nil if the browser keeps no statistics.
	Browser *BrowserStatistics
}

// BrowserStatistics counts events of a browser's processes since the service started.
// A [Browser] that counts them has a method BrowserStatistics.
type BrowserStatistics struct {
	// Starts counts the processes that started, Failures those that failed to start,
	// died or had to be killed, Replacements those that were replaced because of their
	// age.
	Starts, Failures, Replacements int64
	// Endpoints counts the browsers of a pool in each state; nil if there is no pool.
	Endpoints *EndpointStatistics
}

// EndpointStatistics counts the browsers of a pool in each state. A Ready one gets runs, a Busy
// one has no room for another connection, and a Down one has failed and is tried again later.
type EndpointStatistics struct{ Ready, Connecting, Busy, Down int }
