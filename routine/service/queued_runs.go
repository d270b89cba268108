package service

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/tracing"
)

// An asynchronous run is queued in the store if processes share their runs: each process
// that has a place takes the next one. The claim in the store decides which process runs
// it, so that no run is repeated, however often its job is handed out.

// defaultQueueTime is the default of Config.QueueTime.
const defaultQueueTime = time.Hour

// errQueueTime is the error of a run that waited for a place for longer than the queue time.
var errQueueTime = &routine.Error{Code: routine.CodeTimeout, Message: routine.QueueTimeMessage}

// queuedCall is the form in which the call of a queued execution is stored.
type queuedCall struct {
	UserID         string          `json:"user_id"`
	OrganizationID string          `json:"organization_id"`
	ProjectID      string          `json:"project_id"`
	TokenID        string          `json:"token_id,omitempty"`
	Scopes         []string        `json:"scopes"`
	AllowedHosts   []string        `json:"allowed_hosts,omitempty"`
	Parameters     json.RawMessage `json:"parameters,omitempty"`
	Timeout        time.Duration   `json:"timeout"`
	Outline        bool            `json:"outline,omitempty"`
	// Definition is that of an unsaved routine. That of a saved one is the version of the
	// execution.
	Definition *routine.Definition `json:"definition,omitempty"`
	// Trace is the span of the call, if it has one. A process of an older version cannot run
	// such a call, but traces are off unless the operator wants them.
	Trace *tracing.Parent `json:"trace,omitempty"`
}

func (c queuedCall) principal() (routine.Principal, error) {
	scopes, err := routine.ParseScopes(c.Scopes)
	return routine.Principal{UserID: c.UserID, OrganizationID: c.OrganizationID, ProjectID: c.ProjectID, TokenID: c.TokenID, Scopes: scopes,
		AllowedHosts: c.AllowedHosts}, err
}

// enqueue is Start for processes that share their runs. The functions of the call are not
// called, because another process may run it.
func (s *Service) enqueue(ctx context.Context, p routine.Principal, id string, call Call) (*routine.Execution, error) {
	run, before, err := s.prepareCall(ctx, p, id, call)
	if err != nil || before != nil {
		return before, err
	}
	if s.stopped() {
		return nil, errStopping
	}
	run.queuedCall, err = routine.EncodeJSON(queuedCall{UserID: p.UserID, OrganizationID: p.OrganizationID, ProjectID: p.ProjectID, TokenID: p.TokenID,
		Scopes: p.Scopes.Names(), AllowedHosts: p.AllowedHosts, Parameters: call.Parameters, Timeout: run.timeout, Outline: call.Outline,
		Definition: call.Definition, Trace: s.traceOf(ctx)})
	if err != nil {
		return nil, routine.Internal("encode call", err)
	}
	if err := s.storeQueue.admit(ctx, s, run.execution.OrganizationID); err != nil {
		return nil, err
	}
	if err := s.createExecution(context.WithoutCancel(ctx), run); err != nil {
		return s.executionOfTakenKey(ctx, run, err)
	}
	select {
	case s.runMade <- struct{}{}:
	default: // the queue will look anyway
	}
	return run.accepted, nil
}

// jobTaken is the outcome of the job of an execution that has ended or that another process
// runs.
const jobTaken = "another process has run it, or it has ended"

// postponed is the result of a job that waits in the queue until this process has room.
var postponed = routine.JobResult{Retry: time.Second}

// runQueued runs the queued execution of a job as soon as this process has a place for it,
// unless another process is faster.
func (s *Service) runQueued(ctx context.Context, j *routine.Job) (routine.JobResult, error) {
	place, err := s.queue.enter(j.Run.OrganizationID)
	if err != nil {
		return postponed, nil
	}
	defer place.leave()
	select {
	case <-place.running:
	case <-s.stopping:
		return postponed, nil
	case <-ctx.Done():
		return postponed, nil
	}
	s.mu.Lock() // Close waits for what has begun
	if s.stopped() {
		s.mu.Unlock()
		return postponed, nil
	}
	s.done.Add(1)
	s.mu.Unlock()
	defer s.done.Done()

	// It does not end with ctx: an execution that was claimed must be run or ended.
	ctx = context.WithoutCancel(ctx)
	cancelled, forget := s.awaitCancel(j.Run.ID)
	defer forget()
	claiming, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	e, call, err := s.store.ClaimExecution(claiming, j.Run.ID, s.now(), s.queueTime)
	if errors.Is(err, routine.ErrExpired) {
		return routine.JobResult{Outcome: jobTaken}, s.expireQueued(ctx)
	}
	if e == nil && slices.ContainsFunc([]error{routine.ErrTaken, routine.ErrFinal, routine.ErrNotFound}, func(taken error) bool { return errors.Is(err, taken) }) {
		return routine.JobResult{Outcome: jobTaken}, nil
	}
	if e == nil {
		return routine.JobResult{}, err
	}
	s.observer.RunDequeued(max(e.StartedAt.Sub(e.CreatedAt), 0)) // clocks may differ
	if !s.runClaimed(ctx, e, call, err, place, cancelled) {
		return postponed, s.release(ctx, e.ID, call)
	}
	return routine.JobResult{}, nil
}

// release gives an execution back to the queue that this process has claimed and not started.
// If that fails, nothing else is tried: the store may have saved it, and another process may run
// it already. An execution that was not given back is ended as interrupted when this process is
// gone.
func (s *Service) release(ctx context.Context, id string, call []byte) error {
	releasing, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	err := s.store.ReleaseExecution(releasing, id, call, s.now())
	if err != nil {
		s.log.ErrorContext(ctx, "a queued execution could not be given back to the queue by a process that stops", "execution_id", id, "error", err)
		return err
	}
	s.log.InfoContext(ctx, "gave a queued execution back to the queue, because this process stops", "execution_id", id)
	return nil
}

// awaitCancel has cancelRun remember a request to cancel an execution that this process is
// about to run, in case it comes before trackRun. The caller calls forget at the end.
func (s *Service) awaitCancel(id string) (cancelled *atomic.Bool, forget func()) {
	cancelled = new(atomic.Bool)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims[cancelled] = id
	return cancelled, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.claims, cancelled)
	}
}

// cancelRun cancels a run of this process, or one that this process is about to run.
func (s *Service) cancelRun(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run := s.running[id]; run != nil {
		run.cancel(errCancelled)
	}
	for cancelled, claimed := range s.claims {
		if claimed == id {
			cancelled.Store(true)
		}
	}
}

// runClaimed runs or ends an execution that this process has claimed. It does neither, and
// returns false, if the service stops before the run starts. claimErr is why its call cannot be
// read; nil if it was. place is its place in the queue. cancelled reports whether it was cancelled meanwhile.
func (s *Service) runClaimed(ctx context.Context, e *routine.Execution, call []byte, claimErr error, place *ticket, cancelled *atomic.Bool) (done bool) {
	startedAt := e.StartedAt
	e.Status, e.StartedAt = routine.ExecutionPending, nil // as watchers have seen it last
	run := newActiveRun(e, routine.Principal{OrganizationID: e.OrganizationID})
	run.startedAt, run.async, run.ticket = startedAt, true, place
	defer close(run.ended)
	run.refused = s.retryReadQueuedCall(ctx, run, call, claimErr)
	ctx = s.tracer.Below(ctx, run.traced.parent)
	if run.refused != nil {
		if s.stopped() && routine.CodeOf(run.refused) == routine.CodeStoreUnavailable {
			return false
		}
		s.runAndRecord(ctx, run)
		return true
	}
	running, end, err := s.trackRun(ctx, run)
	if err != nil {
		return false
	}
	defer end()
	if cancelled.Load() {
		run.refused = errCancelled
	}
	s.runAndRecord(running, run)
	return true
}

// claimedReads is how often, once a second, a claimed run is read from a store that does not
// answer. The run was accepted, so it should not fail for a short outage.
const claimedReads = 30

// retryReadQueuedCall is readQueuedCall, again until the store answers or the service stops.
func (s *Service) retryReadQueuedCall(ctx context.Context, run *activeRun, stored []byte, claimErr error) (err error) {
	retry := time.NewTicker(time.Second)
	defer retry.Stop()
	for range claimedReads {
		if err = s.readQueuedCall(ctx, run, stored, claimErr); routine.CodeOf(err) != routine.CodeStoreUnavailable {
			return err
		}
		select {
		case <-retry.C:
		case <-s.stopping:
			return err
		}
	}
	return err
}

// readQueuedCall completes a run with the stored call, or returns why it cannot be run.
func (s *Service) readQueuedCall(ctx context.Context, run *activeRun, stored []byte, err error) error {
	if stored == nil || err != nil {
		return &routine.Error{Code: routine.CodeInterrupted, Message: "the call of this execution was lost while it waited: make it again", Cause: err}
	}
	e := run.execution
	var call queuedCall
	newer, err := routine.DecodeStored(stored, &call)
	switch {
	case err != nil:
		return routine.Internal("decode queued call", err)
	case newer:
		return routine.Errorf(routine.CodeInvalid, "a newer version of rote has queued this run, with what this version does not know: update rote")
	}
	if call.Trace != nil {
		run.traced.parent = *call.Trace
	}
	if run.caller, err = call.principal(); err != nil {
		return err
	}
	if err := s.mayStillRun(ctx, run.caller, e.RoutineID); err != nil {
		return err
	}
	run.definition, run.timeout, run.outline = call.Definition, call.Timeout, call.Outline
	if run.definition == nil {
		version, err := s.store.Version(ctx, e.RoutineID, e.RoutineVersion)
		if err != nil {
			return storeError(ctx, "read routine", err)
		}
		run.definition = version.Definition
	}
	run.values, err = definition.Bind(run.definition, call.Parameters)
	return err
}

// mayStillRun returns nil if the caller of a queued run still has the right to it: while it
// waited, the token may have been revoked, or the routine archived. The id of an unsaved
// routine is empty. CodeUnauthenticated, CodeForbidden, CodeConflict, CodeNotFound,
// CodeStoreUnavailable.
func (s *Service) mayStillRun(ctx context.Context, p routine.Principal, id string) error {
	if p.TokenID != "" {
		t, err := s.validToken(ctx, p.TokenID, s.now())
		if err != nil {
			return err
		}
		if t == nil {
			return routine.Errorf(routine.CodeUnauthenticated, "the token %s was revoked or has expired while the run waited: make the call again with another token",
				p.TokenID)
		}
	}
	if id == "" {
		return nil
	}
	r, err := s.store.Routine(ctx, id)
	switch {
	case errors.Is(err, routine.ErrNotFound):
		return routine.Errorf(routine.CodeNotFound, "there is no routine %s", routine.Quote(routine.Truncate(id, 80)))
	case err != nil:
		return storeError(ctx, "read routine", err)
	}
	return may(p, toExecute, routineObject(r))
}

// expireQueued ends the queued executions that have waited too long, if this process takes
// part in the queue.
func (s *Service) expireQueued(ctx context.Context) error {
	if !s.shareRuns && s.async == 0 {
		return nil
	}
	n, err := s.store.ExpireExecutions(ctx, s.queueTime, s.now())
	if n > 0 {
		s.log.WarnContext(ctx, "ended queued executions for which nobody had room", "count", n, "queue_time", s.queueTime)
	}
	return err
}
