package service

import (
	"context"
	"errors"
	"rote/routine"
	"time"
)

const (
	// pollTime is how often the ledger is asked about what another process
	// does.
	pollTime = 250 * time.Millisecond
	// cancelTime is how long Cancel waits for the end that it asked for.
	cancelTime = 5 * time.Second
)

// Execution reads one execution; one that goes on has the records of its
// operations so far. CodeUnauthenticated, CodeNotFound; CodeForbidden when it
// is not of p's organization or the token lacks the scope.
func (s *Service) Execution(ctx context.Context, p routine.Principal, id string) (*routine.Execution, error) {
	return s.execution(ctx, p, toReadExecutions, id)
}

// execution is one with which p may do an action.
func (s *Service) execution(ctx context.Context, p routine.Principal, do action, id string) (*routine.Execution, error) {
	if err := may(p, do, nil); err != nil {
		return nil, err
	}
	e := s.unsavedEnd(id)
	if e == nil {
		var err error
		if e, err = s.store.Execution(ctx, id); errors.Is(err, routine.ErrNotFound) {
			return nil, routine.Errorf(routine.CodeNotFound, "there is no execution %s", routine.Quote(routine.Truncate(id, 80)))
		} else if err != nil {
			return nil, storeError(ctx, "read execution", err)
		}
	}
	if err := may(p, do, executionObject(e)); err != nil {
		return nil, err
	}
	return s.present(e), nil
}

// present is an execution of the ledger as this process knows it.
func (s *Service) present(e *routine.Execution) *routine.Execution {
	s.mu.Lock()
	l, unsaved := s.running[e.ID], s.unsaved[e.ID]
	s.mu.Unlock()
	switch {
	case !e.Open():
	case unsaved != nil:
		return unsaved
	case l != nil:
		e.Operations = l.done()
		e.OperationsDone = len(e.Operations)
	}
	return e
}

// Executions lists the executions of p's organization, newest first, without
// their results, and tells the number of all of them. CodeUnauthenticated,
// CodeForbidden.
func (s *Service) Executions(ctx context.Context, p routine.Principal, f routine.ExecutionFilter) ([]*routine.Execution, int, error) {
	if err := may(p, toReadExecutions, nil); err != nil {
		return nil, 0, err
	}
	f.OrganizationID = p.OrganizationID
	es, total, err := s.store.Executions(ctx, f)
	if err != nil {
		return nil, 0, storeError(ctx, "list executions", err)
	}
	for i, e := range es {
		es[i] = s.present(e)
	}
	return es, total, nil
}

// RoutineExecutions lists the executions of one routine, as Executions does.
// CodeNotFound; CodeForbidden also when the routine is not of p's organization.
func (s *Service) RoutineExecutions(ctx context.Context, p routine.Principal, id string, f routine.ExecutionFilter) ([]*routine.Execution, int, error) {
	if _, err := s.find(ctx, p, toReadExecutions, id); err != nil {
		return nil, 0, err
	}
	f.RoutineID = id
	return s.Executions(ctx, p, f)
}

// ExecutionFile reads a file of an execution. The codes of Execution.
func (s *Service) ExecutionFile(ctx context.Context, p routine.Principal, id, name string) (*routine.File, error) {
	if _, err := s.Execution(ctx, p, id); err != nil {
		return nil, err
	}
	f, err := s.store.File(ctx, id, name)
	if errors.Is(err, routine.ErrNotFound) {
		return nil, routine.Errorf(routine.CodeNotFound, "the execution has no file %s", routine.Quote(routine.Truncate(name, 80)))
	}
	if err != nil {
		return nil, storeError(ctx, "read file", err)
	}
	return f, nil
}

// Cancel ends an execution, as failed with CodeCancelled, whichever process
// runs it, and gives what p may see of it then. One that has ended stays as it
// is. The codes of Execution.
func (s *Service) Cancel(ctx context.Context, p routine.Principal, id string) (*routine.Execution, error) {
	e, err := s.execution(ctx, p, toCancel, id)
	if err != nil {
		return nil, err
	}
	if !e.Open() {
		return executionAnswer(e, p), nil
	}
	if l := s.live(id); l != nil {
		l.cancel(cancelled())
	} else if err := s.store.RequestCancel(ctx, id, s.now()); err != nil && !errors.Is(err, routine.ErrFinal) {
		return nil, storeError(ctx, "cancel execution", err)
	}
	waiting, stop := context.WithTimeout(ctx, cancelTime)
	defer stop()
	if e, err = s.wait(waiting, p, toCancel, id); e != nil {
		return executionAnswer(e, p), nil
	}
	return nil, err
}

// cancelled is why a run ended that Cancel has ended.
func cancelled() error {
	return &routine.Error{Code: routine.CodeCancelled, Message: "the run was cancelled"}
}

// Wait waits until the execution has ended or ctx has, whichever process runs
// it, or until Close. Of one that has ended it gives what Execute would have; one
// that still goes on comes without error. The codes of Execution.
func (s *Service) Wait(ctx context.Context, p routine.Principal, id string) (*routine.Execution, error) {
	return s.wait(ctx, p, toReadExecutions, id)
}

func (s *Service) wait(ctx context.Context, p routine.Principal, do action, id string) (*routine.Execution, error) {
	e, err := s.execution(ctx, p, do, id)
	if err != nil {
		return nil, err
	}
	reading := context.WithoutCancel(ctx)
	if l := s.live(id); l != nil {
		select {
		case <-l.ended:
			return l.last, l.err
		case <-ctx.Done():
		}
		if e, err = s.execution(reading, p, do, id); err != nil {
			return nil, err
		}
		return e, failureOf(e)
	}
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for e.Open() && ctx.Err() == nil && !s.stopped() {
		select {
		case <-tick.C:
		case <-ctx.Done():
		case <-s.stopping:
		}
		if e, err = s.execution(reading, p, do, id); err != nil {
			return nil, err
		}
	}
	return e, failureOf(e)
}

// live finds an execution that goes on in this process; nil: it does not.
func (s *Service) live(id string) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id]
}

// failureOf returns why a failed execution failed, as an Error; nil for any other.
func failureOf(e *routine.Execution) error {
	if e.Status != routine.ExecutionFailed || e.Error == nil {
		return nil
	}
	return &routine.Error{Code: e.ErrorCode, Message: *e.Error}
}
