package service

import (
	"context"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/engine"
)

// A lesson is a live page on which a caller makes a routine; package lesson has them. Its
// page is opened and its operations are run with the settings of an execution, but outside
// the queue: it holds no place of a run.

// MayTeach returns nil if p may open lessons. p needs the scopes for changing and for
// executing routines. CodeUnauthenticated, CodeForbidden.
func (s *Service) MayTeach(p routine.Principal) error {
	if err := may(p, toTeach, nil); err != nil {
		return err
	}
	return may(p, toExecute, nil)
}

// LessonPage is what the page of a lesson needs.
type LessonPage struct {
	// Incognito is false if the page starts with the saved browser state of the project, or
	// with that of Session. The lesson never saves either.
	Incognito bool
	// Session is the saved session of the lesson; nil: it has none.
	Session *LessonSession
	// Block names the resources that the page does not load; see [routine.Definition].
	Block []string
	// Lifetime is how long the page has the network: as long as the lesson may keep it open.
	Lifetime time.Duration
}

// LessonSession is a saved session that a page of a lesson starts from.
type LessonSession struct {
	opened *runSession
	// Warning says that nobody is logged in with the session, and what to do; empty: somebody
	// seems to be.
	Warning string
}

// OpenLessonPage opens a page for a lesson of p, which the caller closes. Its requests are
// recorded. CodeShuttingDown, CodeBrowserUnavailable, CodeStoreUnavailable.
func (s *Service) OpenLessonPage(ctx context.Context, p routine.Principal, start LessonPage) (routine.Page, error) {
	if s.stopped() {
		return nil, errStopping
	}
	o, err := s.pageOptions(ctx, p, &routine.Definition{Incognito: start.Incognito, Block: start.Block}, start.Session.run())
	if err != nil {
		return nil, err
	}
	o.Watch, o.Lesson, o.Lifetime = true, true, start.Lifetime
	page, err := s.browser.Open(ctx, o)
	s.browserHealth.record(err, s.now())
	return page, err
}

// OpenLessonSession returns a session of p's project for a page of a lesson, as it is stored now.
// mended is the id of the routine that the lesson mends, or empty. If that is the login routine
// of the session, the page starts signed out, as its runs do. CodeSessionMissing; CodeConflict if
// the session is for one run at a time; CodeSecretUnavailable, CodeStoreUnavailable.
func (s *Service) OpenLessonSession(ctx context.Context, p routine.Principal, name, mended string) (*LessonSession, error) {
	opened, err := s.openSession(ctx, p, name)
	if err != nil {
		return nil, err
	}
	if opened.login, err = readSessionLogin(opened.Session); err != nil {
		return nil, err
	}
	switch {
	case opened.login.isLogin(mended):
		opened.start, opened.state = &browserstate.State{}, nil
		return &LessonSession{opened: opened}, nil
	case opened.Mode == routine.SessionExclusive:
		return nil, routine.Errorf(routine.CodeConflict, "the session %s is for one run at a time, and a lesson cannot reserve it: "+
			"use another session with the same hosts, or let a person share it for the time of the lesson: rote session set %[1]s --no-exclusive", name)
	}
	return &LessonSession{opened, s.loginWarning(opened)}, nil
}

// loginWarning returns [LessonSession.Warning] for a session.
func (s *Service) loginWarning(opened *runSession) string {
	why, command := s.loggedOut(opened)
	if why != "" {
		why += ". " + command + ". Then start the lesson again"
	}
	return why
}

// loggedOut says why nobody is logged in with a session, and what to do. It returns empty strings
// if somebody seems to be.
func (s *Service) loggedOut(opened *runSession) (why, command string) {
	if !needsLogin(opened.Session, s.now()) {
		return "", ""
	}
	why = "its login is too old"
	switch opened.Condition {
	case routine.SessionEmpty:
		why = "nobody has logged in"
	case routine.SessionStale:
		why = "its login has ended"
	case routine.SessionFailed:
		why = "its logins have failed"
	}
	command = fmt.Sprintf("Ask a person to run: rote login URL --session %s", opened.Name)
	if opened.login.Login != nil {
		command = fmt.Sprintf("Runs log in by themselves, lessons do not: run rote session login %s, or POST /sessions/%[1]s/login", opened.Name)
	}
	return fmt.Sprintf("session %s: %s", opened.Name, why), command
}

// run returns the session as a run has it; nil: there is none.
func (l *LessonSession) run() *runSession {
	if l == nil {
		return nil
	}
	return l.opened
}

// LessonOptions returns the settings with which operations of a lesson of p are run. They can
// use the secrets that any routine of p's project may use, and given, which are not stored. What
// they show has no values of the cookies of session, which may be nil.
func (s *Service) LessonOptions(p routine.Principal, given map[string]GivenSecret, session *LessonSession) engine.Options {
	return engine.Options{MaxResult: s.maxResult, Now: s.now, LargeText: s.largeTexts.forOrganization(p.OrganizationID),
		Secrets: s.newSecretReader(p, "", given), Session: session.run().cookies()}
}

// RecordLessonUses records the uses of secrets by an operation of a lesson of p.
func (s *Service) RecordLessonUses(ctx context.Context, p routine.Principal, uses []routine.SecretUse) {
	for i := range uses {
		uses[i].Operation = 0 // that of a lesson can change
	}
	s.recordSecretUses(ctx, s.newSecretReader(p, "", nil).complete(context.WithoutCancel(ctx), uses, nil))
}
