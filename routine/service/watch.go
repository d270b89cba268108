package service

import (
	"context"
	"rote/routine"
	"time"
)

// Watch tells of the events of an execution that come after a sequence number,
// oldest first, those of the past at once and the others when they come; 0
// gives all. It returns after the end of the execution was told, or when tell
// or ctx ends it, with that error, or at Close (CodeShuttingDown). Of an execution in another process the
// events may come a second late. The codes of Execution.
func (s *Service) Watch(ctx context.Context, p routine.Principal, id string, after int, tell func(routine.Event) error) error {
	e, err := s.Execution(ctx, p, id)
	if err != nil {
		return err
	}
	next := s.followLedger(ctx, p, e)
	if l := s.live(id); l != nil {
		next = l.follow(ctx)
	}
	for after < endedSequence(e) {
		events, err := next(after)
		if err != nil {
			return err
		}
		for _, event := range events {
			if err := tell(event); err != nil {
				return err
			}
			after = event.Sequence
		}
	}
	return nil
}

// follow gives the events after a sequence number, and waits until there are
// some.
func (l *live) follow(ctx context.Context) func(after int) ([]routine.Event, error) {
	return func(after int) ([]routine.Event, error) {
		for {
			events, more := l.since(after)
			if len(events) > 0 {
				return events, nil
			}
			select {
			case <-more:
			case <-ctx.Done():
				return nil, routine.CauseOf(ctx)
			}
		}
	}
}

// followLedger does the same for an execution that is not in this process, by
// looking into the ledger again and again. e is what it holds now.
func (s *Service) followLedger(ctx context.Context, p routine.Principal, e *routine.Execution) func(after int) ([]routine.Event, error) {
	return func(after int) ([]routine.Event, error) {
		tick := time.NewTicker(pollTime)
		defer tick.Stop()
		for {
			if events := laterThan(after, eventsOf(e)); len(events) > 0 {
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
