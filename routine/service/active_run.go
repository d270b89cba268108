package service

import (
	"cmp"
	"context"
	"maps"
	"rote/routine"
	"slices"
	"sync"
)

// live is an execution that goes on in this process.
type live struct {
	// accepted is the execution as it was when the call was accepted.
	accepted *routine.Execution
	// last is the run's own until ended is closed, and final from then on; so
	// is err, why it failed.
	last   *routine.Execution
	caller routine.Principal
	err    error
	ended  chan struct{}
	cancel context.CancelCauseFunc
	// page is the run's own; nil while it has none.
	files []routine.File // that the run's pages were sent, until they are saved
	page  routine.Page

	mu      sync.Mutex
	events  []routine.Event
	records []routine.OperationRecord
	more    chan struct{} // closed, and made anew, with each event
	saved   int           // how many records the ledger has; Maintain's own
}

// closePage ends the run's page. It comes after the save: the browser is busy
// with it, and the caller waits for the save.
func (l *live) closePage() {
	if l.page != nil {
		l.page.Close()
	}
}

func newLive(e *routine.Execution, caller routine.Principal) *live {
	l := &live{accepted: new(*e), last: e, caller: caller, ended: make(chan struct{}), more: make(chan struct{})}
	l.tellStatus()
	return l
}

// Sequence numbers: accepted, running, one for each operation of the routine,
// ended.
const (
	acceptedSequence = 1
	startedSequence  = 2
)

func operationSequence(index int) int { return startedSequence + 1 + index }

func endedSequence(e *routine.Execution) int { return operationSequence(e.OperationsTotal) }

// statusEvent is the event of e's present status.
func statusEvent(e *routine.Execution) routine.Event {
	c := *e
	c.Result, c.Operations, c.Evidence = nil, nil, nil
	switch e.Status {
	case routine.ExecutionPending:
		return routine.Event{Sequence: acceptedSequence, Execution: &c}
	case routine.ExecutionRunning:
		return routine.Event{Sequence: startedSequence, Execution: &c}
	}
	return routine.Event{Sequence: endedSequence(e), Execution: &c}
}

// eventsOf are the events that have led to e as it is in the ledger.
func eventsOf(e *routine.Execution) []routine.Event {
	before := *e
	before.Status, before.Error, before.ErrorCode, before.CompletedAt, before.DurationSeconds = routine.ExecutionPending, nil, "", nil, nil
	before.StartedAt, before.OperationsDone, before.Files = nil, 0, nil
	events := []routine.Event{statusEvent(&before)}
	if e.StartedAt != nil {
		before.Status, before.StartedAt = routine.ExecutionRunning, e.StartedAt
		events = append(events, statusEvent(&before))
	}
	records := e.Operations
	if e.Result != nil {
		records = e.Result.OperationsMetadata
	}
	for i := range records {
		events = append(events, routine.Event{Sequence: operationSequence(i), Operation: &records[i]})
	}
	if !e.Open() {
		events = append(events, statusEvent(e))
	}
	return events
}

// tellStatus tells of the status that the execution has now.
func (l *live) tellStatus() { l.tell(statusEvent(l.last)) }

// tellOperation tells of an operation that has ended.
func (l *live) tellOperation(o routine.OperationRecord) {
	l.tell(routine.Event{Sequence: operationSequence(o.Index), Operation: &o})
}

func (l *live) tell(e routine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	if e.Operation != nil {
		l.records = append(l.records, *e.Operation)
	}
	close(l.more)
	l.more = make(chan struct{})
}

// since gives the events after a sequence number, and what is closed when there
// are more.
func (l *live) since(after int) ([]routine.Event, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(laterThan(after, l.events)), l.more
}

// laterThan is the part of events that comes after a sequence number.
func laterThan(after int, events []routine.Event) []routine.Event {
	i := slices.IndexFunc(events, func(e routine.Event) bool { return e.Sequence > after })
	if i < 0 {
		return nil
	}
	return events[i:]
}

// done is the records so far.
func (l *live) done() []routine.OperationRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records)
}

// standing is the execution as it is now.
func (l *live) standing() *routine.Execution {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := *l.accepted
	for _, event := range l.events {
		if event.Execution != nil {
			e = *event.Execution
		}
	}
	e.Operations = slices.Clone(l.records)
	e.OperationsDone = len(e.Operations)
	return &e
}

// InFlight are the executions that run or wait in this process, oldest first.
func (s *Service) InFlight() []*routine.Execution {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	var es []*routine.Execution
	for _, l := range all {
		es = append(es, l.standing())
	}
	slices.SortFunc(es, func(a, b *routine.Execution) int { return cmp.Compare(a.ID, b.ID) }) // ids begin with the time
	return es
}
