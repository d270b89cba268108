package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/pattern"
)

// maxLogins is how many logins in a row may fail. More are not tried, because the site may
// lock the account.
const maxLogins = 2

// sessionLogin says how a session is kept logged in. It is the form of [routine.Session.Login].
type sessionLogin struct {
	// Login, if not nil, is the routine that logs in.
	Login *LoginRoutine `json:"login,omitempty"`
	// SignedOut, if not nil, is how a page shows that the site has ended the login.
	SignedOut *SignedOut `json:"signed_out,omitempty"`
}

// LoginRoutine is the routine that logs in for a session, with the values of its parameters, a
// JSON object.
type LoginRoutine struct {
	RoutineID  string          `json:"routine_id"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// SignedOut is how a page shows that the site has ended a login: its URL matches URLRegex, or an
// element matches Selector. At least one of them is set.
type SignedOut struct {
	URLRegex string `json:"url_regex,omitempty"`
	Selector string `json:"selector,omitempty"`
}

// readSessionLogin returns how a session is kept logged in.
func readSessionLogin(session *routine.Session) (sessionLogin, error) {
	var l sessionLogin
	if len(session.Login) == 0 {
		return l, nil
	}
	if err := json.Unmarshal(session.Login, &l); err != nil {
		return l, routine.Internal("read login of session", err)
	}
	return l, nil
}

// isLogin reports whether a run of the routine with this id is a login.
func (l sessionLogin) isLogin(routineID string) bool {
	return l.Login != nil && l.Login.RoutineID == routineID
}

// watchLogin returns how a run notices that the site has ended the login of its session, and
// whether it may be repeated then; see [engine.Options]. Without a session there is nothing to
// notice, nor in a run that logs in.
func (r *runSession) watchLogin(mayRepeat bool) (signedOut func(context.Context, routine.Page) error, repeatable bool) {
	if r == nil || r.isLogin || r.login.SignedOut == nil {
		return nil, false
	}
	return func(ctx context.Context, page routine.Page) error {
		shown, err := r.login.SignedOut.shownBy(ctx, page)
		if err != nil || shown == "" {
			return err
		}
		next := "log in again, as with: rote login"
		if r.login.Login != nil {
			next = "the next run logs in"
		}
		return routine.Errorf(routine.CodeSessionExpired, "the site has ended the login of session %s: %s; %s", r.Name, shown, next)
	}, mayRepeat && r.login.Login != nil
}

// shownBy returns what of a page shows that nobody is logged in; empty: nothing.
func (o *SignedOut) shownBy(ctx context.Context, page routine.Page) (string, error) {
	url, err := page.URL(ctx)
	if err != nil || url == "about:blank" {
		return "", err
	}
	if o.URLRegex != "" {
		re, err := pattern.Compile(o.URLRegex)
		if err != nil {
			return "", routine.Errorf(routine.CodeInvalid, "url_regex of signed_out does not compile: %w", err)
		}
		matches, err := re.Match(url)
		if err != nil {
			return "", routine.Errorf(routine.CodeTimeout, "matching url_regex of signed_out with %s took more than %v: simplify it", routine.ShownURL(url), pattern.MaxMatchTime)
		}
		if matches {
			return "the page is " + routine.ShownURL(url), nil
		}
	}
	if o.Selector == "" {
		return "", nil
	}
	found, err := page.Present(ctx, o.Selector)
	if err != nil || !found {
		return "", err
	}
	return "the page has " + routine.Quote(o.Selector), nil
}

// needsLogin reports whether a run needs a login before it uses a session: nobody has logged in,
// the site has ended the login, or it is too old.
func needsLogin(session *routine.Session, now time.Time) bool {
	if session.Condition != routine.SessionFresh {
		return true
	}
	since := cmp.Or(session.LoggedInAt, session.SavedAt)
	return session.MaxAge > 0 && (since == nil || !now.Before(since.Add(session.MaxAge))) ||
		session.ExpiresAt != nil && !now.Before(*session.ExpiresAt)
}

// loginFailed returns the error of a run whose session cannot be logged in.
func loginFailed(session *routine.Session) *routine.Error {
	return routine.Errorf(routine.CodeSessionLoginFailed, "%d logins of session %s have failed in a row, and no more are tried, because the site may lock the account. "+
		"Find out why, then run: rote session login %s. The last one: %s", session.Failures, session.Name, session.Name, session.Reason)
}

// resetLogins forgets the logins that have failed, so that they are tried again.
func resetLogins(session *routine.Session) {
	if session.Condition == routine.SessionFailed {
		session.Condition = routine.SessionStale
	}
	if session.Failures > 0 {
		session.Failures, session.Reason = 0, ""
	}
}

// updateSession saves what change does to a session, again if others change it meanwhile.
// A state that is nil keeps the stored one. change may return false to save nothing.
// [routine.ErrNotFound] if the session was deleted.
func (s *Service) updateSession(ctx context.Context, of *routine.Session, state []byte, change func(*routine.Session) bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	for {
		now, err := s.store.Session(ctx, of.OrganizationID, of.ProjectID, of.Name)
		if err != nil {
			return fmt.Errorf("read session: %w", err)
		}
		if !change(now) {
			return nil
		}
		if err = s.store.SaveSession(ctx, now, state, now.Generation); !errors.Is(err, routine.ErrChanged) {
			return err
		}
	}
}

// markStale records that the site has ended the login with which a run has opened its session,
// unless somebody has logged in since.
func (s *Service) markStale(ctx context.Context, opened *routine.Session, why error) {
	err := s.updateSession(ctx, opened, nil, func(now *routine.Session) bool {
		if !sameTime(now.LoggedInAt, opened.LoggedInAt) || now.Condition != routine.SessionFresh {
			return false
		}
		now.Condition, now.Reason = routine.SessionStale, routine.AsError(why).Message
		return true
	})
	if err != nil && !errors.Is(err, routine.ErrNotFound) {
		s.log.ErrorContext(ctx, "the end of a login could not be recorded", "session", opened.Name, "error", err)
	}
}
