package service

import (
	"context"
	"errors"
	"slices"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/definition"
)

// LoginSession starts the login of a session, also after logins have failed, and returns its
// pending execution. The parameters of the call are those of the session. CodeUnauthenticated,
// CodeForbidden, CodeNotFound, CodeConflict (no login routine) and the codes of Start.
func (s *Service) LoginSession(ctx context.Context, p routine.Principal, name string, call Call) (*routine.Execution, error) {
	return s.loginSession(ctx, p, name, call, s.Start)
}

// LoginSessionAndWait is LoginSession, and waits for the end of the login as Execute does.
func (s *Service) LoginSessionAndWait(ctx context.Context, p routine.Principal, name string, call Call) (*routine.Execution, error) {
	return s.loginSession(ctx, p, name, call, s.Execute)
}

// loginSession is LoginSession with Start or Execute.
func (s *Service) loginSession(ctx context.Context, p routine.Principal, name string, call Call,
	run func(context.Context, routine.Principal, string, Call) (*routine.Execution, error)) (*routine.Execution, error) {

	if err := may(p, toLogIn, nil); err != nil {
		return nil, err
	}
	session, err := s.findSession(ctx, p, name)
	if routine.CodeOf(err) == routine.CodeSessionMissing {
		err = routine.Errorf(routine.CodeNotFound, "there is no session %s in project %s", routine.Quote(routine.Truncate(name, 80)), p.ProjectID)
	}
	if err != nil {
		return nil, err
	}
	l, err := readSessionLogin(session)
	if err != nil {
		return nil, err
	}
	if l.Login == nil {
		return nil, routine.Errorf(routine.CodeConflict, "the session %s has no login routine: set it with rote session set %[1]s --login ROUTINE, "+
			"or log in yourself with rote login", name)
	}
	p.Scopes |= routine.ScopeExecutionsRun // whoever may change the session may log in
	r, err := s.routineToRun(ctx, p, l.Login.RoutineID, Call{})
	if err != nil {
		return nil, err
	}
	values, err := definition.Bind(&r.Definition, l.Login.Parameters)
	if err == nil {
		err = checkUsesSession(session, &r.Definition, values, r.ID)
	}
	if err != nil {
		return nil, err
	}
	err = s.updateSession(ctx, session, nil, func(now *routine.Session) bool {
		if now.Failures == 0 && now.Condition != routine.SessionFailed {
			return false
		}
		resetLogins(now)
		return true
	})
	if err != nil {
		return nil, storeError(ctx, "save session", err)
	}
	call.Parameters = l.Login.Parameters
	return run(ctx, p, l.Login.RoutineID, call)
}

// checkUsesSession returns CodeConflict if a login routine does not have the session for which it
// is to log in.
func checkUsesSession(session *routine.Session, d *routine.Definition, values routine.Values, id string) error {
	if used := definition.SessionOf(d, values); used != session.Name {
		return routine.Errorf(routine.CodeConflict, "the routine %s has the session %s and not %s: give it that session, or give the session another login routine",
			id, routine.Quote(used), session.Name)
	}
	return nil
}

// errLoginDone is why a login does nothing.
var errLoginDone = errors.New("somebody else has logged in meanwhile: nothing was done")

// maxReason is the length in bytes of the reason why a login failed that a session keeps.
const maxReason = 1000

// beginLogin prepares a run that logs in: it waits until no other login of the session is under
// way, and starts without a state, so that it always finds the site in the same way. When it
// uses its first secret, it is counted as a failure, which it is if the process dies from then
// on. errLoginDone, CodeSessionLoginFailed, CodeStoreUnavailable.
func (s *Service) beginLogin(ctx context.Context, run *activeRun, secrets *secretReader) error {
	session := run.session
	if err := s.leaseLogin(ctx, run); err != nil {
		return err
	}
	session.isLogin, session.start, session.state = true, &browserstate.State{}, nil
	secrets.beforeRead = func(ctx context.Context) error {
		err := s.updateSession(ctx, session.Session, nil, func(now *routine.Session) bool {
			now.Failures++
			now.Reason = "it was interrupted after it had used a secret"
			return true
		})
		if err != nil {
			return storeError(ctx, "count login", err)
		}
		session.secretUsed = true
		return nil
	}
	return nil
}

// leaseLogin waits until a login may use its session. errLoginDone if somebody has logged in
// since the login was asked for.
func (s *Service) leaseLogin(ctx context.Context, run *activeRun) error {
	session := run.session.Session
	lease := routine.SessionLease{OrganizationID: session.OrganizationID, ProjectID: session.ProjectID, Name: session.Name, Purpose: routine.LeaseForLogin,
		ExecutionID: run.execution.ID}
	for {
		leased, err := s.store.LeaseSession(ctx, lease)
		if err != nil {
			return storeError(ctx, "lease session", err)
		}
		if leased {
			break
		}
		if err := pollLogin(ctx, session.Name); err != nil {
			return err
		}
	}
	now, err := s.findSession(ctx, run.caller, session.Name)
	switch {
	case err != nil:
		return err
	case now.Condition == routine.SessionFresh && now.LoggedInAt != nil && !now.LoggedInAt.Before(run.execution.CreatedAt):
		return errLoginDone
	case now.Condition == routine.SessionFailed || now.Failures >= maxLogins:
		return loginFailed(now)
	}
	return nil
}

// endLogin saves what a login has left on its page, or why it failed, which is err, if it has. It
// returns the error of the login.
func (s *Service) endLogin(ctx context.Context, run *activeRun, page routine.Page, err error) error {
	if err == nil {
		err = s.saveLogin(ctx, run.session, page)
	}
	if err != nil {
		s.recordFailedLogin(ctx, run.session, err)
	}
	return err
}

// saveLogin saves the state of a page on which somebody has logged in. It replaces the stored one.
// CodeSessionLoginFailed if the page shows that nobody is logged in, or there is nothing to save.
func (s *Service) saveLogin(ctx context.Context, session *runSession, page routine.Page) error {
	if test := session.login.SignedOut; test != nil {
		shown, err := test.shownBy(ctx, page)
		if err != nil {
			return err
		}
		if shown != "" {
			return routine.Errorf(routine.CodeSessionLoginFailed, "the login routine did all its operations, but nobody is logged in: %s. "+
				"End the routine with wait_for_url or an element that only members see", shown)
		}
	}
	text, err := page.State(ctx)
	if err != nil {
		return err
	}
	whole, err := browserstate.Parse(text)
	if err != nil {
		return routine.Internal("read state of login", err)
	}
	kept, _ := whole.Keep(session.Hosts)
	if kept.Empty() {
		return routine.Errorf(routine.CodeSessionLoginFailed, "the login left neither cookies nor local storage of the hosts of session %s: "+
			"check its hosts with rote session show %[1]s", session.Name)
	}
	if text, err = kept.Encode(); err != nil {
		return err
	}
	at := s.now()
	err = s.updateSession(ctx, session.Session, text, func(now *routine.Session) bool {
		now.Condition, now.Failures, now.Reason = routine.SessionFresh, 0, ""
		now.LoggedInAt, now.SavedAt, now.ExpiresAt = &at, &at, kept.Expiry()
		return true
	})
	if errors.Is(err, routine.ErrNotFound) {
		return missingSession(session.ProjectID, session.Name)
	}
	if err != nil {
		return storeError(ctx, "save session", err)
	}
	return nil
}

// notOfTheLogin are the codes of failures that say nothing about a login: it was stopped, or rote
// could not do it.
var notOfTheLogin = []routine.Code{routine.CodeCancelled, routine.CodeInterrupted, routine.CodeShuttingDown, routine.CodeBrowserUnavailable,
	routine.CodeBrowserCrashed, routine.CodeStoreUnavailable, routine.CodeSecretUnavailable, routine.CodeSecretMissing, routine.CodeSessionMissing}

// recordFailedLogin counts a failed login, unless it is counted already. One that was stopped, or
// that rote could not do, counts only if it had used a secret. After maxLogins in a row no more
// are tried.
func (s *Service) recordFailedLogin(ctx context.Context, session *runSession, failure error) {
	e := routine.AsError(failure)
	if !session.secretUsed && slices.Contains(notOfTheLogin, e.Code) {
		return
	}
	err := s.updateSession(ctx, session.Session, nil, func(now *routine.Session) bool {
		if !session.secretUsed {
			now.Failures++
		}
		now.Reason = routine.Truncate(e.Message, maxReason)
		if now.Failures >= maxLogins {
			now.Condition = routine.SessionFailed
		}
		return true
	})
	if err != nil && !errors.Is(err, routine.ErrNotFound) {
		s.log.ErrorContext(ctx, "a failed login could not be recorded", "session", session.Name, "error", err)
	}
}
