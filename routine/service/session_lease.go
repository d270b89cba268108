package service

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"rote/routine"
	"rote/routine/definition"
)

// A run with an exclusive session leases it before it takes a place in the queue, and has it until
// its execution ends, however that ends. While another run has the session, it holds no place, so
// that the other can get one. Runs of this process wait in line, and the first asks the store.

// leasePoll is how often a run asks for a session that another one has.
const leasePoll = 250 * time.Millisecond

// sessionOf identifies a session.
type sessionOf struct{ organization, project, name string }

// sessionLines are the runs of this process that wait for sessions. The zero value is empty.
type sessionLines struct {
	mu    sync.Mutex
	lines map[sessionOf][]chan struct{}
}

// enter adds a run to the line of a session. first is closed when it is the first one. The caller
// calls leave afterwards.
func (l *sessionLines) enter(of sessionOf) (first <-chan struct{}, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := make(chan struct{})
	if l.lines == nil {
		l.lines = map[sessionOf][]chan struct{}{}
	}
	if len(l.lines[of]) == 0 {
		close(own)
	}
	l.lines[of] = append(l.lines[of], own)
	return own, func() { l.leave(of, own) }
}

func (l *sessionLines) leave(of sessionOf, own chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.lines[of]
	wasFirst := line[0] == own
	line = slices.DeleteFunc(line, func(other chan struct{}) bool { return other == own })
	switch {
	case len(line) == 0:
		delete(l.lines, of)
		return
	case wasFirst:
		close(line[0])
	}
	l.lines[of] = line
}

// waitForSession leases the session of a run if that is exclusive. While another run has it, the
// run gives its place in the queue back. The wait counts into the time of the run.
// CodeSessionMissing, CodeTimeout, CodeCancelled, CodeStoreUnavailable.
func (s *Service) waitForSession(ctx context.Context, run *activeRun) error {
	if run.refused != nil {
		return nil // waitForTurn says why
	}
	name := definition.SessionOf(run.definition, run.values)
	if name == "" {
		return nil
	}
	found, err := s.findSession(ctx, run.caller, name)
	if err != nil || found.Mode != routine.SessionExclusive || logsIn(found, run.execution.RoutineID) {
		return err
	}
	began := time.Now()
	ctx, stop := run.withTimeout(ctx)
	defer stop()
	defer func() { run.waited = time.Since(began) }()
	lease := &routine.SessionLease{OrganizationID: found.OrganizationID, ProjectID: found.ProjectID, Name: name, Purpose: routine.LeaseForRun,
		ExecutionID: run.execution.ID}
	if err := s.leaseInTurn(ctx, run, lease); err != nil {
		if ctx.Err() == nil {
			return err
		}
		e := routine.AsError(routine.CauseOf(ctx))
		return &routine.Error{Code: e.Code, Message: e.Message + ", waiting for session " + name, Cause: e}
	}
	run.lease, run.leasedAt = lease, time.Now()
	if run.queuesAgain {
		run.ticket.unpark()
	}
	return nil
}

// leaseInTurn waits until a run has a lease.
func (s *Service) leaseInTurn(ctx context.Context, run *activeRun, lease *routine.SessionLease) error {
	first, leave := s.sessionLines.enter(sessionOf{lease.OrganizationID, lease.ProjectID, lease.Name})
	defer leave()
	poll := time.NewTicker(leasePoll)
	defer poll.Stop()
	for {
		select {
		case <-first:
			leased, err := s.store.LeaseSession(ctx, *lease)
			switch {
			case errors.Is(err, routine.ErrNotFound):
				return missingSession(lease.ProjectID, lease.Name)
			case err != nil:
				return storeError(ctx, "lease session", err)
			case leased:
				return nil
			}
		default:
		}
		if !run.queuesAgain {
			run.queuesAgain = true
			run.ticket.park()
			run.showProgress(routine.Progress{Total: len(run.definition.Operations), Operation: "waiting for session " + lease.Name})
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return routine.CauseOf(ctx)
		}
	}
}

// checkLease returns nil if a run still has its lease, or needs none. A process that was frozen may
// have lost it.
func (s *Service) checkLease(ctx context.Context, lease *routine.SessionLease) error {
	if lease == nil {
		return nil
	}
	leased, err := s.store.LeaseSession(ctx, *lease)
	if err == nil && !leased {
		err = routine.Errorf(routine.CodeInterrupted, "another run has got it meanwhile, because this one looked dead")
	}
	return err
}

// leaseProofTime is how old the proof that a run has its lease may be when an operation begins. It is
// less than the time after which other processes take this one for dead.
const leaseProofTime = 5 * time.Second

// stillLeased returns what tells before each operation of a run whether the run still has its
// lease. A process that was frozen may have lost it to a run that now uses the session, and then
// the operation must not be done (CodeInterrupted). If the store does not answer, nobody else gets
// the lease either. It is nil for a run without a lease.
func (s *Service) stillLeased(run *activeRun) func(context.Context) error {
	if run.lease == nil {
		return nil
	}
	proved := run.leasedAt
	return func(ctx context.Context) error {
		if time.Since(proved) < leaseProofTime {
			return nil
		}
		asked := time.Now()
		err := s.checkLease(ctx, run.lease)
		if routine.CodeOf(err) == routine.CodeInterrupted {
			return routine.Errorf(routine.CodeInterrupted, "the session %s: %w", run.lease.Name, err)
		}
		if err == nil {
			proved = asked
		}
		return nil
	}
}

// logsIn reports whether a routine is the one that logs in for a session. Its run needs no lease of
// the session: the run that waits for the login has it.
func logsIn(session *routine.Session, routineID string) bool {
	var settings struct {
		Login struct {
			RoutineID string `json:"routine_id"`
		} `json:"login"`
	}
	err := json.Unmarshal(session.Login, &settings)
	return err == nil && routineID != "" && settings.Login.RoutineID == routineID
}
