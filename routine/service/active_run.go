package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"rote/routine"
	"rote/routine/engine"
)

// activeRun is a run that waits or runs in this process.
type activeRun struct {
	caller     routine.Principal
	definition *routine.Definition
	values     routine.Values
	progress   func(routine.Progress) // Call.Progress; may be nil
	// completed is Call.Ended; it may be nil.
	completed func(context.Context, routine.Page)
	reached   func(host string) // Call.Reached; may be nil
	outline   bool              // Call.Outline
	traced    tracedRun
	given     map[string]GivenSecret // Call.Secrets
	ticket    *ticket                // the run's entry in the queue; nil for RunOnce
	// queuesAgain reports whether the run has given its place in the queue back, and has to wait
	// for another one. waited is how long it has waited for its session, which counts into its timeout.
	queuesAgain bool
	waited      time.Duration
	cancel      context.CancelCauseFunc
	// timeout limits the run, from its acceptance or, if async is set, from its start.
	timeout time.Duration
	async   bool
	// queuedCall is the call of a run that is queued in the store; nil for any other.
	queuedCall []byte
	// refused is why a run that was claimed from the queue cannot be run; nil if it can.
	refused error

	// accepted is the execution as it was when the call was accepted.
	accepted *routine.Execution
	// execution and err, the error of the run, belong to the goroutine of the run until
	// ended is closed. After that they do not change.
	execution *routine.Execution
	err       error
	ended     chan struct{}
	// page is nil until it is opened. The goroutine of the run uses it.
	page routine.Page
	view liveView
	// session is the saved session of the run; nil: it has none. The goroutine of the run uses
	// it.
	session *runSession
	// lease is that of its exclusive session; nil: it has none.
	lease *routine.SessionLease
	// leasedAt is when it was leased.
	leasedAt time.Time
	// files are what the pages downloaded. They are stored after the run.
	files []routine.File

	mu      sync.Mutex
	events  []routine.Event
	records []routine.OperationRecord
	// begun is the operation that is running; nil: none is.
	begun   *routine.BegunOperation
	changed chan struct{} // closed and replaced with each event
	// waitsFor is Execution.WaitsForCodeOf.
	waitsFor string
	// startedAt is when the run got its place in the queue. It is set before the
	// execution is stored if the run does not wait, and else when it has waited.
	startedAt *time.Time

	// savedRecords is how many records are stored. Only Maintain uses it.
	savedRecords int
}

func newActiveRun(e *routine.Execution, caller routine.Principal) *activeRun {
	run := &activeRun{accepted: new(*e), execution: e, caller: caller, ended: make(chan struct{}), changed: make(chan struct{})}
	run.emitStatus()
	return run
}

// requestsOnly reports whether the run only makes requests, and its caller does not ask for an
// outline of the page. It returns the origin of the requests. The run that proves a routine is
// no exception: it has to be like those that follow.
func (run *activeRun) requestsOnly() (origin string, only bool) {
	if run.outline {
		return "", false
	}
	return engine.RequestsOnly(run.definition)
}

// withTimeout returns a context that ends with CodeTimeout after the timeout of the run.
func (run *activeRun) withTimeout(ctx context.Context) (_ context.Context, stop func()) {
	return context.WithTimeoutCause(ctx, max(run.timeout-run.waited, 0), &routine.Error{Code: routine.CodeTimeout,
		Message: fmt.Sprintf("the run took longer than its timeout_seconds of %v", run.timeout.Seconds())})
}

// startAgain closes the page of the run and forgets its operations, because the run starts again
// from the first one. Who watches it sees each operation once.
func (run *activeRun) startAgain() {
	run.closePage()
	run.page, run.files = nil, nil
	run.mu.Lock()
	defer run.mu.Unlock()
	run.records, run.begun = nil, nil
	run.events = slices.DeleteFunc(run.events, func(e routine.Event) bool { return e.Operation != nil })
}

// closePage closes the page of the run, if there is one. It is called after the end of
// the run is saved, because closing keeps the browser busy and the caller of the run
// waits for the save.
func (run *activeRun) closePage() {
	run.view.show(nil)
	if run.page != nil {
		run.page.Close()
	}
}

// emitStatus adds an event with the present status of the execution.
func (run *activeRun) emitStatus() { run.emit(statusEvent(run.execution)) }

// emitOperation adds an event for an operation that has ended.
func (run *activeRun) emitOperation(o routine.OperationRecord) {
	run.emit(routine.Event{Sequence: operationSequence(o.Index), Operation: &o})
}

// emitBegun tells those who wait for an event of the operation that is running.
func (run *activeRun) emitBegun(o routine.BegunOperation) {
	run.mu.Lock()
	defer run.mu.Unlock()
	run.begun = &o
	run.wake()
}

// emit adds an event and wakes those who wait for one.
func (run *activeRun) emit(e routine.Event) {
	run.mu.Lock()
	defer run.mu.Unlock()
	run.events, run.begun = append(run.events, e), nil
	if e.Operation != nil {
		run.records, run.waitsFor = append(run.records, *e.Operation), ""
	}
	run.wake()
}

// wake wakes those who wait for an event. run.mu must be held.
func (run *activeRun) wake() {
	close(run.changed)
	run.changed = make(chan struct{})
}

// showProgress reports the progress of the run to its caller, and notes what it waits for.
func (run *activeRun) showProgress(p routine.Progress) {
	run.mu.Lock()
	run.waitsFor = p.WaitsFor
	run.mu.Unlock()
	if run.progress != nil {
		run.progress(p)
	}
}

// addProgress sets what e, the execution of the run, has of its progress.
func (run *activeRun) addProgress(e *routine.Execution) {
	run.mu.Lock()
	defer run.mu.Unlock()
	e.Operations, e.WaitsForCodeOf = slices.Clone(run.records), run.waitsFor
	e.OperationsDone = len(e.Operations)
}

// eventsAfter returns the events after a sequence number, the operation that is running, and
// a channel that is closed when there are more.
func (run *activeRun) eventsAfter(sequence int) ([]routine.Event, *routine.BegunOperation, <-chan struct{}) {
	run.mu.Lock()
	defer run.mu.Unlock()
	return slices.Clone(eventsAfter(sequence, run.events)), run.begun, run.changed
}

// operations returns the records of the operations that have ended so far.
func (run *activeRun) operations() []routine.OperationRecord {
	run.mu.Lock()
	defer run.mu.Unlock()
	return slices.Clone(run.records)
}

// snapshot returns a copy of the execution in its present state.
func (run *activeRun) snapshot() *routine.Execution {
	run.mu.Lock()
	e := *run.accepted
	for _, event := range run.events {
		if event.Execution != nil {
			e = *event.Execution
		}
	}
	run.mu.Unlock()
	run.addProgress(&e)
	return &e
}

// activeRun returns a run of this process, or nil if no run has this execution id.
func (s *Service) activeRun(id string) *activeRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id]
}

// activeRuns returns all runs of this process, in no order.
func (s *Service) activeRuns() []*activeRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.running))
}

// InFlight returns the executions that run or wait in this process, oldest first.
func (s *Service) InFlight() []*routine.Execution {
	var es []*routine.Execution
	for _, run := range s.activeRuns() {
		es = append(es, run.snapshot())
	}
	slices.SortFunc(es, func(a, b *routine.Execution) int { return cmp.Compare(a.ID, b.ID) }) // ids begin with the time
	return es
}
