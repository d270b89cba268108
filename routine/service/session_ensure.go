package service

import (
	"context"
	"fmt"
	"time"

	"rote/routine"
)

// A run whose session needs a login logs in first. The login is an execution of its own, which
// runs in the place that the run has in the queue: the run does not use it meanwhile, so that a
// login never waits for runs that wait for it. Other runs of the session wait for its outcome,
// those of this process for the end of the login, those of other processes for the end of the
// lease that the login holds. The login continues when the run that started it ends, because the
// others depend on it.

// sharedLogin is a login for whose end runs of this process wait.
type sharedLogin struct {
	ended chan struct{} // closed at the end
	// executionID is empty if no login was started. It is set before ended is closed.
	executionID string
}

// ensureLogin logs in if the session of a run needs it. It waits as long as the run may take, and
// records the login in the execution. CodeSessionMissing, CodeSessionLoginFailed,
// CodeStoreUnavailable.
func (s *Service) ensureLogin(ctx context.Context, run *activeRun, name string) error {
	since := s.now()
	for {
		session, err := s.findSession(ctx, run.caller, name)
		if err != nil {
			return err
		}
		l, err := readSessionLogin(session)
		if err != nil || l.Login == nil || l.isLogin(run.execution.RoutineID) || s.isUsable(session, since) {
			return err
		}
		if session.Condition == routine.SessionFailed {
			return loginFailed(session)
		}
		login, first := s.joinLogin(session)
		if first {
			err = s.logIn(ctx, run, session, l.Login, login)
			s.leaveLogin(session, login)
		} else {
			err = waitForLogin(ctx, login.ended, name)
		}
		if login.executionID != "" {
			run.execution.Session = &routine.ExecutionSession{Name: name, LoginExecutionID: login.executionID}
		}
		if err != nil {
			return err
		}
	}
}

// isUsable reports whether a run may use a session that it asks for since a time. A login since
// then is not repeated, however soon it expires.
func (s *Service) isUsable(session *routine.Session, since time.Time) bool {
	if session.Condition == routine.SessionFresh && session.LoggedInAt != nil && !session.LoggedInAt.Before(since) {
		return true
	}
	return !needsLogin(session, s.now())
}

// joinLogin returns the login of a session in this process, and whether the caller is the first
// that asks for it, and so does it.
func (s *Service) joinLogin(session *routine.Session) (login *sharedLogin, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := sessionOf{session.OrganizationID, session.ProjectID, session.Name}
	if login = s.logins[of]; login != nil {
		return login, false
	}
	login = &sharedLogin{ended: make(chan struct{})}
	s.logins[of] = login
	return login, true
}

// leaveLogin ends what joinLogin has begun.
func (s *Service) leaveLogin(session *routine.Session, login *sharedLogin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logins, sessionOf{session.OrganizationID, session.ProjectID, session.Name})
	close(login.ended)
}

// waitForLogin waits for the end of a login, as long as the run may take.
func waitForLogin(ctx context.Context, ended <-chan struct{}, name string) error {
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		e := routine.AsError(routine.CauseOf(ctx))
		return &routine.Error{Code: e.Code, Message: e.Message + ", waiting for the login of session " + name, Cause: e}
	}
}

// logIn waits for the login of a session in another process or, if there is none, starts one and
// waits for its end. It returns nil if the session has to be looked at again.
func (s *Service) logIn(ctx context.Context, run *activeRun, session *routine.Session, l *LoginRoutine, login *sharedLogin) error {
	other, err := s.store.SessionLessee(ctx, session.OrganizationID, session.ProjectID, session.Name, routine.LeaseForLogin)
	if err != nil {
		return storeError(ctx, "read lease of session", err)
	}
	if other != "" {
		login.executionID = other
		return pollLogin(ctx, session.Name)
	}
	// A login may have ended between the two questions.
	now, err := s.findSession(ctx, run.caller, session.Name)
	if err != nil {
		return err
	}
	if now.Generation != session.Generation {
		return nil
	}
	if session.Failures >= maxLogins { // the last one was killed after it had used a secret
		return loginFailed(session)
	}
	started, err := s.startLogin(ctx, run, session, l)
	if err != nil {
		return cannotLogIn(session.Name, err)
	}
	login.executionID = started.accepted.ID
	if err := waitForLogin(ctx, started.ended, session.Name); err != nil {
		return err
	}
	if started.err != nil {
		return cannotLogIn(session.Name, fmt.Errorf("execution %s: %w", started.accepted.ID, started.err))
	}
	return nil
}

// pollLogin waits until the login of another process is looked at again.
func pollLogin(ctx context.Context, name string) error {
	again := make(chan struct{})
	timer := time.AfterFunc(leasePoll, func() { close(again) })
	defer timer.Stop()
	return waitForLogin(ctx, again, name)
}

// cannotLogIn returns the error of a run that needed a login.
func cannotLogIn(name string, err error) error {
	e := routine.AsError(err)
	if e.Code == routine.CodeStoreUnavailable || e.Code == routine.CodeShuttingDown || e.Code == routine.CodeInterrupted {
		return err
	}
	return &routine.Error{Code: routine.CodeSessionLoginFailed, Message: fmt.Sprintf("the login of session %s failed: %s", name, err), Cause: err}
}

// startLogin starts the login of a session for a run, in the place of the run.
func (s *Service) startLogin(ctx context.Context, run *activeRun, session *routine.Session, l *LoginRoutine) (*activeRun, error) {
	login, err := s.prepareRun(ctx, run.caller, l.RoutineID, Call{Parameters: l.Parameters, Via: routine.ViaLogin}, nil)
	if err != nil {
		return nil, err
	}
	if err := checkUsesSession(session, login.definition, login.values, l.RoutineID); err != nil {
		return nil, err
	}
	if run.ticket != nil {
		login.ticket = run.ticket.lend()
	} else if login.ticket, err = s.queue.enter(login.execution.OrganizationID); err != nil {
		return nil, err
	}
	return login, s.launch(ctx, login, nil)
}
