package service

import (
	"context"
	"slices"
	"time"

	"rote/routine"
)

// Sequence numbers of events: accepted, running, one for each operation of the routine,
// ended.
const (
	acceptedSequence = 1
	startedSequence  = 2
)

func operationSequence(index int) int { return startedSequence + 1 + index }

func endedSequence(e *routine.Execution) int { return operationSequence(e.OperationsTotal) }

// Watch calls send for each event of an execution after a sequence number, oldest first:
// past events at once, later ones when they happen. after 0 means all events. Events of
// an execution in another process may come a few seconds late, and none of them says that
// an operation has begun.
//
// Watch returns nil after the event of the end, the error of send, the cause of ctx when
// it ends, CodeShuttingDown after Close, or an error with a code of Execution.
func (s *Service) Watch(ctx context.Context, p routine.Principal, id string, after int, send func(routine.Event) error) error {
	e, err := s.Execution(ctx, p, id)
	if err != nil {
		return err
	}
	next := s.pollEvents(ctx, p, e)
	if run := s.activeRun(id); run != nil {
		next = run.waitEvents(ctx)
	}
	for after < endedSequence(e) {
		events, err := next(after)
		if err != nil {
			return err
		}
		for _, event := range events {
			if err := send(event); err != nil {
				return err
			}
			after = max(after, event.Sequence) // the beginning of an operation has no number
		}
	}
	return nil
}

// waitEvents returns a function that waits for events after a sequence number and
// returns them, and with them once the operation that is running.
func (run *activeRun) waitEvents(ctx context.Context) func(after int) ([]routine.Event, error) {
	var told *routine.BegunOperation
	return func(after int) ([]routine.Event, error) {
		for {
			events, begun, changed := run.eventsAfter(after)
			if begun != nil && begun != told {
				told = begun
				events = append(events, routine.Event{Begun: begun})
			}
			if len(events) > 0 {
				return events, nil
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return nil, routine.CauseOf(ctx)
			}
		}
	}
}

// pollEvents does the same for an execution of another process: it reads the stored
// execution at intervals. e is the execution as it was stored last.
func (s *Service) pollEvents(ctx context.Context, p routine.Principal, e *routine.Execution) func(after int) ([]routine.Event, error) {
	return func(after int) ([]routine.Event, error) {
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		for {
			if events := eventsAfter(after, eventsOf(e)); len(events) > 0 {
				return events, nil
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil, routine.CauseOf(ctx)
			case <-s.stopping:
				return nil, errStopping
			}
			var err error
			if e, err = s.Execution(ctx, p, e.ID); err != nil {
				return nil, err
			}
		}
	}
}

// eventsAfter returns the part of events that comes after a sequence number.
func eventsAfter(sequence int, events []routine.Event) []routine.Event {
	i := slices.IndexFunc(events, func(e routine.Event) bool { return e.Sequence > sequence })
	if i < 0 {
		return nil
	}
	return events[i:]
}

// statusEvent returns the event of an execution's present status.
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

// eventsOf returns the events that a stored execution has had so far.
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
