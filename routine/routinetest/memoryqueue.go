package routinetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"rote/routine"
)

func (s *Store) ClaimExecution(_ context.Context, id string, at time.Time, limit time.Duration) (claimed *routine.Execution, call []byte, err error) {
	err = s.change("claim execution", id, func(e *execution) error {
		if !e.queued {
			return routine.ErrTaken
		}
		if e.expired(limit, at) {
			return routine.ErrExpired
		}
		e.Status, e.StartedAt, e.queued = routine.ExecutionRunning, copyTime(&at), false
		call, e.call = e.call, nil
		claimed, err = copyExecution(e.Execution)
		return err
	})
	return claimed, call, err
}

func (s *Store) ReleaseExecution(_ context.Context, id string, call []byte, at time.Time) error {
	return s.change("release execution", id, func(e *execution) error {
		if e.queued || e.Status != routine.ExecutionRunning {
			return routine.ErrTaken
		}
		if e.StartedAt = nil; e.cancelled {
			e.fail(routine.CodeCancelled, routine.CancelledMessage, at)
			return nil
		}
		e.Status, e.queued, e.call = routine.ExecutionPending, true, slices.Clone(call)
		return nil
	})
}

func (s *Store) QueuedExecutions(_ context.Context, perOrganization int) ([]routine.QueuedExecution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, counts := []routine.QueuedExecution{}, map[string]int{}
	for _, e := range s.queued() {
		if counts[e.OrganizationID]++; counts[e.OrganizationID] <= perOrganization {
			list = append(list, routine.QueuedExecution{ID: e.ID, OrganizationID: e.OrganizationID})
		}
	}
	return list, nil
}

// queued returns the queued executions, oldest first. s.mu must be held.
func (s *Store) queued() (all []*execution) {
	for _, e := range s.executions {
		if e.queued {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *execution) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return all
}

// expired reports whether a queued execution has waited for longer than limit.
func (e *execution) expired(limit time.Duration, at time.Time) bool {
	return at.Sub(e.CreatedAt) > limit
}

func (s *Store) ExpireExecutions(_ context.Context, limit time.Duration, at time.Time) (n int, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.queued() {
		if e.expired(limit, at) {
			e.fail(routine.CodeTimeout, routine.QueueTimeMessage, at)
			n++
		}
	}
	return n, nil
}

func (s *Store) CountQueued(context.Context) (map[string]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]int{}
	for _, e := range s.queued() {
		counts[e.OrganizationID]++
	}
	return counts, nil
}

// fail ends a queued execution.
func (e *execution) fail(code routine.Code, message string, at time.Time) {
	e.queued, e.call = false, nil
	e.Status, e.ErrorCode, e.Error, e.CompletedAt = routine.ExecutionFailed, code, &message, copyTime(&at)
	e.DurationSeconds = new(max(at.Sub(e.CreatedAt), 0).Seconds())
}

// checkQueuedCall returns an error if an execution that is not pending has a queued call.
func checkQueuedCall(e *routine.Execution) error {
	if e.QueuedCall != nil && e.Status != routine.ExecutionPending {
		return fmt.Errorf("an execution that is %s cannot be queued", e.Status)
	}
	return nil
}
