package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"rote/routine"
	"rote/routine/audit"
)

const (
	// pollInterval is how often an execution of another process is read while a call
	// waits for it.
	pollInterval = 250 * time.Millisecond
	// cancelWait is how long Cancel waits for the execution to end.
	cancelWait = 5 * time.Second
)

// Execution returns one execution. An open one has the records of the operations that
// have ended so far. CodeUnauthenticated, CodeNotFound; CodeForbidden when it belongs to
// another organization or the token does not have the scope.
func (s *Service) Execution(ctx context.Context, p routine.Principal, id string) (*routine.Execution, error) {
	return s.execution(ctx, p, toReadExecutions, id)
}

// execution reads an execution and checks that p may do an action with it.
func (s *Service) execution(ctx context.Context, p routine.Principal, do action, id string) (*routine.Execution, error) {
	if err := may(p, do, nil); err != nil {
		return nil, err
	}
	e := s.unsavedExecution(id)
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
	return s.withActiveState(e), nil
}

// withActiveState returns a stored execution with what this process knows about it and
// the store does not: that it has ended, or the operations that are done. It may change e.
func (s *Service) withActiveState(e *routine.Execution) *routine.Execution {
	s.mu.Lock()
	run, unsaved := s.running[e.ID], s.unsaved[e.ID]
	s.mu.Unlock()
	switch {
	case !e.Open():
	case unsaved != nil:
		return unsaved
	case run != nil:
		run.addProgress(e)
	}
	return e
}

// Executions lists the executions of p's organization that match a filter, newest first
// and without their results. The number counts all matches, whatever the limit of the
// filter. CodeUnauthenticated, CodeForbidden.
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
		es[i] = s.withActiveState(e)
	}
	return es, total, nil
}

// RoutineExecutions lists the executions of one routine, as Executions does.
// CodeNotFound; CodeForbidden also when the routine belongs to another organization.
func (s *Service) RoutineExecutions(ctx context.Context, p routine.Principal, id string, f routine.ExecutionFilter) ([]*routine.Execution, int, error) {
	if _, err := s.find(ctx, p, toReadExecutions, id); err != nil {
		return nil, 0, err
	}
	f.RoutineID = id
	return s.Executions(ctx, p, f)
}

// RecentRuns returns the newest executions of some routines, such as those of a page of a list,
// in p's organization: at most n of each, newest first, by the id of the routine. See
// [routine.ExecutionStore].RecentRuns for what they have. CodeUnauthenticated, CodeForbidden.
func (s *Service) RecentRuns(ctx context.Context, p routine.Principal, routineIDs []string, n int) (map[string][]*routine.Execution, error) {
	if err := may(p, toReadExecutions, nil); err != nil {
		return nil, err
	}
	runs, err := s.store.RecentRuns(ctx, p.OrganizationID, routineIDs, n)
	if err != nil {
		return nil, storeError(ctx, "list recent runs", err)
	}
	for _, all := range runs {
		for i, e := range all {
			all[i] = s.withActiveState(e)
		}
	}
	return runs, nil
}

// ExecutionFile returns a file of an execution. It has the error codes of Execution.
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

// Cancel ends an open execution of any process, which then has failed with
// CodeCancelled, and returns what p may see of it. It waits for the end for at most
// cancelWait. An execution that has ended stays as it is. It has the error codes of
// Execution.
func (s *Service) Cancel(ctx context.Context, p routine.Principal, id string) (*routine.Execution, error) {
	e, err := s.execution(ctx, p, toCancel, id)
	if err != nil {
		return nil, err
	}
	if !e.Open() {
		return executionAnswer(e, p), nil
	}
	if run := s.activeRun(id); run != nil {
		run.cancel(errCancelled)
	} else if err := s.store.RequestCancel(ctx, id, s.now()); err != nil && !errors.Is(err, routine.ErrFinal) {
		return nil, storeError(ctx, "cancel execution", err)
	}
	s.audit.Changed(ctx, p, audit.ExecutionCancelled, slog.String("execution_id", id), slog.String("routine_id", e.RoutineID))
	waiting, stop := context.WithTimeout(ctx, cancelWait)
	defer stop()
	if e, err = s.wait(waiting, p, toCancel, id); e != nil {
		return executionAnswer(e, p), nil
	}
	return nil, err
}

// errCancelled is the error of a run that Cancel has ended.
var errCancelled = &routine.Error{Code: routine.CodeCancelled, Message: routine.CancelledMessage}

// Wait waits until an execution of any process has ended, until ctx ends, or until
// Close. If the execution has ended, Wait returns what Execute would have returned; if it
// is still open, the error is nil. It has the error codes of Execution.
func (s *Service) Wait(ctx context.Context, p routine.Principal, id string) (*routine.Execution, error) {
	return s.wait(ctx, p, toReadExecutions, id)
}

// wait is Wait for a caller who wants to do an action with the execution.
func (s *Service) wait(ctx context.Context, p routine.Principal, do action, id string) (*routine.Execution, error) {
	e, err := s.execution(ctx, p, do, id)
	if err != nil {
		return nil, err
	}
	reading := context.WithoutCancel(ctx)
	if run := s.activeRun(id); run != nil {
		select {
		case <-run.ended:
			return run.execution, run.err
		case <-ctx.Done():
		}
		if e, err = s.execution(reading, p, do, id); err != nil {
			return nil, err
		}
		return e, failureOf(e)
	}
	tick := time.NewTicker(pollInterval)
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

// failureOf returns the error of an execution that has failed, and nil for any other.
func failureOf(e *routine.Execution) error {
	if e.Status != routine.ExecutionFailed || e.Error == nil {
		return nil
	}
	return &routine.Error{Code: e.ErrorCode, Message: *e.Error}
}
