package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/definition"
	"rote/routine/engine"
)

// runSession is a saved session that a run or a lesson has opened: its settings, and the state
// from which its page starts.
type runSession struct {
	*routine.Session
	start *browserstate.State
	// state is start as a text.
	state []byte
	// lease is that of a run with an exclusive session; nil: it needs none.
	lease *routine.SessionLease
	login sessionLogin
	// isLogin reports whether the run logs in, and secretUsed whether it has used a secret, so
	// that it is counted as a failure already.
	isLogin, secretUsed bool
}

// missingSession returns the error for a session that a project does not have. It names the
// command with which a person makes it.
func missingSession(projectID, name string) *routine.Error {
	return routine.Errorf(routine.CodeSessionMissing, "there is no session %s for project %s: ask a person to run: rote session set %s --host HOST",
		name, projectID, name)
}

// findSession returns a session of p's project. CodeSessionMissing, CodeStoreUnavailable.
func (s *Service) findSession(ctx context.Context, p routine.Principal, name string) (*routine.Session, error) {
	found, err := s.store.Session(ctx, p.OrganizationID, p.ProjectID, name)
	if errors.Is(err, routine.ErrNotFound) {
		return nil, missingSession(p.ProjectID, name)
	}
	if err != nil {
		return nil, storeError(ctx, "read session", err)
	}
	return found, nil
}

// openSession reads a session of p's project with its state. CodeSessionMissing,
// CodeSecretUnavailable, CodeStoreUnavailable.
func (s *Service) openSession(ctx context.Context, p routine.Principal, name string) (*runSession, error) {
	found, state, err := s.readSession(ctx, p.OrganizationID, p.ProjectID, name)
	if err != nil {
		return nil, err
	}
	kept, _ := state.Keep(found.Hosts)
	kept.Cookies = acceptable(kept.Cookies, s.now())
	opened := &runSession{Session: found, start: kept}
	if opened.state, err = kept.Encode(); err != nil {
		return nil, routine.Internal("encode session", err)
	}
	return opened, nil
}

// readSession is openSession with the whole stored state.
func (s *Service) readSession(ctx context.Context, organizationID, projectID, name string) (*routine.Session, *browserstate.State, error) {
	found, text, err := s.store.SessionState(ctx, organizationID, projectID, name)
	switch {
	case errors.Is(err, routine.ErrNotFound):
		return nil, nil, missingSession(projectID, name)
	case errors.Is(err, routine.ErrSealed):
		return nil, nil, &routine.Error{Code: routine.CodeSecretUnavailable, Cause: err, Message: fmt.Sprintf("the session %s cannot be read: it was sealed with "+
			"another key: bring back its key file (--state-key), or log in again", name)}
	case errors.Is(err, routine.ErrStateKey):
		return nil, nil, &routine.Error{Code: routine.CodeSecretUnavailable, Cause: err, Message: "sessions are encrypted, and the service cannot use " +
			"its key file (--state-key): its log says why"}
	case err != nil:
		return nil, nil, storeError(ctx, "read session", err)
	}
	state, err := browserstate.Parse(text)
	if err != nil {
		return nil, nil, routine.Internal("read session", err)
	}
	return found, state, nil
}

// maxCookieAge is how long a browser keeps a cookie at most.
const maxCookieAge = 400 * 24 * time.Hour

// acceptable returns the cookies as a browser accepts them: without those that have expired, and
// none for longer than maxCookieAge. Otherwise each run would seem to have changed them.
func acceptable(cookies []browserstate.Cookie, now time.Time) []browserstate.Cookie {
	most := float64(now.Add(maxCookieAge).Unix())
	var accepted []browserstate.Cookie
	for _, c := range cookies {
		if c.Expires > 0 && c.Expires <= float64(now.Unix()) {
			continue
		}
		c.Expires = min(c.Expires, most)
		accepted = append(accepted, c)
	}
	return accepted
}

// addTo sets what a page of the session needs.
func (r *runSession) addTo(o *routine.PageOptions) {
	o.KeepState, o.State, o.UserAgent = true, r.state, r.UserAgent
}

// cookies returns what the answers of a run must not have; nil if the session is readable, or if
// there is no session.
func (r *runSession) cookies() *engine.SessionCookies {
	if r == nil || r.Readable {
		return nil
	}
	return &engine.SessionCookies{Name: r.Name, Hosts: r.Hosts, Values: r.start.HiddenValues()}
}

// maxSessionSaves is how often the state of a session is merged that others change meanwhile each
// time.
const maxSessionSaves = 3

// saveSession reads the state of a session from the page of a run that has completed, which can
// only be closed afterwards, and saves what the run has changed in it. The work of the run is
// done: if that fails, it returns a warning.
func (s *Service) saveSession(ctx context.Context, opened *runSession, page routine.Page) (warning string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err := s.mergeSession(ctx, opened, page)
	if err == nil {
		return ""
	}
	s.log.ErrorContext(ctx, "session could not be saved", "session", opened.Name, "error", err)
	if known, ok := errors.AsType[*routine.Error](err); ok && known.Code != routine.CodeInternal {
		return fmt.Sprintf("the session %s was not saved: %s", opened.Name, known.Message)
	}
	return fmt.Sprintf("the session %s was not saved for the next run: the service's log says why", opened.Name)
}

// mergeSession is saveSession with its error.
func (s *Service) mergeSession(ctx context.Context, opened *runSession, page routine.Page) error {
	text, err := page.State(ctx)
	if err != nil {
		return err
	}
	whole, err := browserstate.Parse(text)
	if err != nil {
		return err
	}
	mine, _ := whole.Keep(opened.Hosts)
	before := &browserstate.State{Cookies: acceptable(opened.start.Cookies, s.now()), Storage: opened.start.Storage}
	if same, err := browserstate.Same(before, mine); same || err != nil {
		return err
	}
	for range maxSessionSaves {
		if err = s.saveMerged(ctx, opened, before, mine); !errors.Is(err, routine.ErrChanged) {
			return err
		}
	}
	return routine.Errorf(routine.CodeConflict, "others changed it again and again meanwhile")
}

// saveMerged puts what a run has changed, from before to mine, on the stored state of its session.
// It saves nothing if somebody has logged in, or has deleted the state or the session, since the
// run opened it: what the run has belongs to another login. [routine.ErrChanged] if the session
// was changed meanwhile.
func (s *Service) saveMerged(ctx context.Context, opened *runSession, before, mine *browserstate.State) error {
	if err := s.checkLease(ctx, opened.lease); err != nil {
		return err
	}
	now, stored, err := s.readSession(ctx, opened.OrganizationID, opened.ProjectID, opened.Name)
	if routine.CodeOf(err) == routine.CodeSessionMissing {
		return nil
	}
	if err != nil {
		return err
	}
	if !sameTime(now.LoggedInAt, opened.LoggedInAt) || stored.Empty() && !opened.start.Empty() {
		return nil
	}
	merged, err := browserstate.Merge(before, mine, stored)
	if err != nil {
		return err
	}
	merged, _ = merged.Keep(now.Hosts)
	merged.Cookies = acceptable(merged.Cookies, s.now())
	text, err := merged.Encode()
	if err != nil {
		return err
	}
	at := s.now()
	now.SavedAt, now.ExpiresAt = &at, merged.Expiry()
	if now.Condition == routine.SessionEmpty && opened.login.Login == nil {
		now.Condition = routine.SessionFresh // nobody but runs logs in
	}
	return s.store.SaveSession(ctx, now, text, now.Generation)
}

func sameTime(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// withUnknownSession adds a warning if p's project does not have the session of a definition. It
// is no error, as with secrets. A name that calls give is not known yet.
func (s *Service) withUnknownSession(ctx context.Context, p routine.Principal, d *routine.Definition, warnings []routine.Problem) []routine.Problem {
	if p.Anonymous() || d == nil || !routine.ValidSecretName(d.Session) {
		return warnings
	}
	_, err := s.findSession(ctx, p, d.Session)
	if routine.CodeOf(err) != routine.CodeSessionMissing {
		return warnings
	}
	return slices.Concat(warnings, []routine.Problem{{Pointer: "/session", Code: "unknown_session", Message: routine.AsError(err).Message}})
}

// openRunSession opens the session of a run, if it has one, before its page is opened. It logs
// in before that if the session needs it. See openSession and ensureLogin; errLoginDone if the run
// is a login that is not needed any more.
func (s *Service) openRunSession(ctx context.Context, run *activeRun, secrets *secretReader) (err error) {
	name := definition.SessionOf(run.definition, run.values)
	if name == "" {
		return nil
	}
	if err = s.ensureLogin(ctx, run, name); err != nil {
		return err
	}
	if run.session, err = s.openSession(ctx, run.caller, name); err != nil {
		return err
	}
	if run.session.Mode == routine.SessionExclusive && run.ticket == nil {
		return routine.Errorf(routine.CodeConflict, "the session %s is for one run at a time, and a run of a file cannot reserve it: "+
			"save the routine (rote add FILE) and run it by its name", name)
	}
	run.session.lease = run.lease
	if run.session.login, err = readSessionLogin(run.session.Session); err != nil {
		return err
	}
	if run.session.login.isLogin(run.execution.RoutineID) {
		return s.beginLogin(ctx, run, secrets)
	}
	return nil
}
