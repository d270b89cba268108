package routine

// Observer receives the events of a service from which metrics are made. Its methods
// are called by many goroutines at once and must not block.
type Observer interface {
	// ExecutionEnded is called once for each stored execution that this process ran,
	// when e is final. It must neither change nor keep e.
	ExecutionEnded(e *Execution)
	// WebhookSent is called after each attempt to deliver a webhook.
	WebhookSent(WebhookOutcome)
}

// WebhookOutcome is the outcome of one attempt to deliver a webhook.
type WebhookOutcome string

const (
	WebhookDelivered WebhookOutcome = "delivered"
	// WebhookRetried means that the attempt failed and will be repeated.
	WebhookRetried WebhookOutcome = "retried"
	// WebhookGivenUp means that the last attempt failed.
	WebhookGivenUp WebhookOutcome = "given_up"
)

// NoObserver is an [Observer] that ignores all events.
type NoObserver struct{}

func (NoObserver) ExecutionEnded(*Execution)  {}
func (NoObserver) WebhookSent(WebhookOutcome) {}

// Statistics describes how busy a service is.
type Statistics struct {
	// Running counts the executions that have a browser, Waiting those that wait for
	// one, each with its limit. Running can exceed its limit by one: while one
	// organization holds all places, another that has none gets an extra one.
	Running, RunningLimit int
	Waiting, WaitingLimit int
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
}
