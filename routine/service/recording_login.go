package service

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/browserstate"
)

// RecordingLogin is a saved login with which a person records in a window.
type RecordingLogin struct {
	State *browserstate.State
	// UserAgent is that of the login; empty: that of the browser.
	UserAgent string
}

// RecordingLogin returns the login of a session of p's project, for a window that opens with a
// page. The recording saves nothing in it. CodeUnauthenticated, CodeForbidden, CodeSessionMissing;
// CodeConflict if the session is for one run at a time; CodeSessionExpired if nobody is logged in;
// CodeInvalid if the session has nothing for the page; CodeSecretUnavailable, CodeStoreUnavailable.
func (s *Service) RecordingLogin(ctx context.Context, p routine.Principal, name string, page *url.URL) (*RecordingLogin, error) {
	if err := s.MayTeach(p); err != nil {
		return nil, err
	}
	opened, err := s.openSession(ctx, p, name)
	if err != nil {
		return nil, err
	}
	if opened.login, err = readSessionLogin(opened.Session); err != nil {
		return nil, err
	}
	if opened.Mode == routine.SessionExclusive {
		return nil, routine.Errorf(routine.CodeConflict, "the session %s is for one run at a time, and a recording cannot reserve it: "+
			"use another session with the same hosts, or share it while you record: rote session set %[1]s --no-exclusive", name)
	}
	if why, _ := s.loggedOut(opened); why != "" {
		command := fmt.Sprintf("rote login %s --session %s", page.Redacted(), name)
		if opened.login.Login != nil {
			command = "rote session login " + name
		}
		return nil, routine.Errorf(routine.CodeSessionExpired, "%s. Log in with %s, then record again", why, command)
	}
	if !opened.reaches(page) {
		return nil, routine.Errorf(routine.CodeInvalid, "the session %s has no login for %s, only for %s: begin with a page of these, or keep its login too: "+
			"rote login %s --session %[1]s --host %[2]s", name, page.Hostname(), strings.Join(opened.Hosts, ", "), page.Redacted())
	}
	return &RecordingLogin{opened.start, opened.UserAgent}, nil
}

// reaches reports whether a page is of a host of the session, or gets cookies of it.
func (r *runSession) reaches(page *url.URL) bool {
	rules := &routine.SecretRules{Hosts: r.Hosts}
	return rules.Allows(page.Scheme+"://"+page.Host) || slices.ContainsFunc(r.start.Cookies, func(c browserstate.Cookie) bool {
		return c.Domain != "" && strings.HasSuffix("."+page.Hostname(), "."+c.Host())
	})
}
