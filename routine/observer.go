package routine

// Observer is told of what a Service does, for statistics. Its methods are
// called by many goroutines at once and must not block.
type Observer interface {
	// ExecutionEnded is called once for each execution of the ledger that this
	// process has carried out, when e is final. It must neither change nor keep
	// e.
	ExecutionEnded(e *Execution)
	// WebhookSent is called after each attempt to deliver a webhook.
	WebhookSent(WebhookOutcome)
}

// WebhookOutcome is what came of an attempt to deliver a webhook.
type WebhookOutcome string

const (
	WebhookDelivered WebhookOutcome = "delivered"
	// WebhookRetried: it failed and will be repeated.
	WebhookRetried WebhookOutcome = "retried"
	// WebhookGivenUp: it failed for the last time.
	WebhookGivenUp WebhookOutcome = "given_up"
)

// unobserved is the Observer of a Service that has none.
type Unobserved struct{}

func (Unobserved) ExecutionEnded(*Execution)  {}
func (Unobserved) WebhookSent(WebhookOutcome) {}

// Statistics is how busy a Service is, and what it is on.
type Statistics struct {
	// Running and Waiting count the executions that have a browser and that wait
	// for one; of each there can be as many as its limit. One more runs while one
	// organization has all places and another has none.
	Running, RunningLimit int
	Waiting, WaitingLimit int
	// StoreBytes is what the rows take on disk; negative: the store did not say.
	StoreBytes int64
	// Browser is nil for a Browser that does not count.
	Browser *BrowserStatistics
}

// BrowserStatistics counts, since the start of the process, what a [Browser]
// has done behind the runs. One that counts has a method of this name.
type BrowserStatistics struct {
	// Starts are the browser processes that came up, Failures those that did
	// not, died or had to be killed, Replacements those that were retired for
	// their age.
	Starts, Failures, Replacements int64
}
