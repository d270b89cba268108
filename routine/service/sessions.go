package service

import (
	"context"
	"errors"
	"fmt"

	"rote/routine"
	"rote/routine/browserstate"
)

// maxSessions limits the sessions of a project.
const maxSessions = 1000

// SaveSession creates a session of p's project, or changes settings of one with the text of a
// JSON object: what is left out stays, and null stands for the default. It reports whether the
// session is a new one. A change ends the state "failed", in which logins are not tried again.
//
// CodeUnauthenticated, CodeForbidden, CodeInvalid with problems, CodePreconditionFailed,
// CodeConflict; CodeValueRequired if it gives the stored login to more hosts or to authors of
// routines.
func (s *Service) SaveSession(ctx context.Context, p routine.Principal, via routine.Via, name string, text []byte, condition PutCondition) (
	_ *SessionInfo, created bool, _ error) {

	if err := mayChangeSession(p, name); err != nil {
		return nil, false, err
	}
	session, err := s.changeSession(ctx, p, name, condition, func(session *routine.Session) (state []byte, _ error) {
		change, err := readSessionChange(text)
		if err != nil {
			return nil, err
		}
		created = session.Generation == 0
		before := *session
		change.applyToSession(session)
		err = s.applyLogin(ctx, p, change, session)
		if len(change.problems) > 0 {
			return nil, routine.Invalid("session", change.problems)
		}
		if err != nil {
			return nil, err
		}
		resetLogins(session)
		return nil, s.checkWidening(ctx, &before, session)
	})
	if session != nil {
		s.recordSessionChange(ctx, p, via, name, "saved", err)
	}
	if err != nil {
		return nil, false, err
	}
	return infoFor(p, session), created, nil
}

// checkWidening returns CodeValueRequired if a session with a stored state gives it to more
// hosts, where {{cookie:NAME}} may send it, or to authors of routines: nobody widens the use of
// a login that he does not have.
func (s *Service) checkWidening(ctx context.Context, before, after *routine.Session) error {
	if !widens(before, after) || before.Generation == 0 {
		return nil
	}
	_, state, err := s.store.SessionState(ctx, before.OrganizationID, before.ProjectID, before.Name)
	if err == nil && state == nil {
		return nil
	}
	if err != nil && !errors.Is(err, routine.ErrSealed) && !errors.Is(err, routine.ErrStateKey) {
		return err
	}
	return routine.Errorf(routine.CodeValueRequired, "session %s has a login, which more hosts or readable would release further: "+
		"delete its state first (DELETE /sessions/%s/state, rote session clear %s) and log in again, or import the state with the new hosts",
		before.Name, before.Name, before.Name)
}

// mayChangeSession returns nil if p may change the session with a name. CodeUnauthenticated,
// CodeForbidden, CodeInvalid.
func mayChangeSession(p routine.Principal, name string) error {
	if err := may(p, toSaveSecret, nil); err != nil {
		return err
	}
	if !routine.ValidSecretName(name) {
		return routine.Errorf(routine.CodeInvalid, "%s cannot be the name of a session: a name is a letter, then up to 63 letters, digits, _ or -",
			routine.Quote(routine.Truncate(name, 80)))
	}
	return nil
}

// changeSession changes a session of p's project, or a new one with Generation 0, and saves it.
// change returns the new state as a SessionStore takes it. It is called again if others have
// changed the session meanwhile. With an error, the session is nil unless the refusal is worth a
// record.
func (s *Service) changeSession(ctx context.Context, p routine.Principal, name string, condition PutCondition,
	change func(*routine.Session) (state []byte, _ error)) (*routine.Session, error) {

	for range changeAttempts {
		session, err := s.store.Session(ctx, p.OrganizationID, p.ProjectID, name)
		if errors.Is(err, routine.ErrNotFound) {
			session, err = &routine.Session{OrganizationID: p.OrganizationID, ProjectID: p.ProjectID, Name: name, Hosts: []string{},
				Mode: routine.SessionShared, Condition: routine.SessionEmpty}, nil
		}
		if err == nil {
			err = condition.check("session", name, session.Generation)
		}
		if err != nil {
			return nil, s.sessionError(ctx, "read session", name, err)
		}
		before := session.Generation
		state, err := change(session)
		if err == nil && before == 0 {
			err = s.checkSessionCount(ctx, p)
		}
		if err == nil {
			err = s.store.SaveSession(ctx, session, state, before)
		}
		switch {
		case err == nil:
			return session, nil
		case errors.Is(err, routine.ErrChanged):
			continue
		case before == 0, routine.CodeOf(err) == routine.CodeInvalid:
			return nil, s.sessionError(ctx, "create session", name, err)
		}
		return session, s.sessionError(ctx, "save session", name, err)
	}
	return nil, routine.Errorf(routine.CodeConflict, "others change the session at the same time: try again")
}

// checkSessionCount returns CodeConflict if there are too many sessions for a new one.
func (s *Service) checkSessionCount(ctx context.Context, p routine.Principal) error {
	all, err := s.store.Sessions(ctx, p.OrganizationID, p.ProjectID)
	if err == nil && len(all) >= maxSessions {
		err = routine.Errorf(routine.CodeConflict, "there are %d sessions already, which is the limit: delete one that is not used", len(all))
	}
	return err
}

// infoFor returns what p may know of a session that p has changed.
func infoFor(p routine.Principal, session *routine.Session) *SessionInfo {
	info := sessionInfo(session)
	info.Withheld = may(p, toReadSecrets, nil) != nil
	return info
}

// Sessions lists the sessions of p's project by name, and the number of all.
// CodeUnauthenticated, CodeForbidden.
func (s *Service) Sessions(ctx context.Context, p routine.Principal, limit, offset int) ([]*SessionInfo, int, error) {
	if err := may(p, toReadSecrets, nil); err != nil {
		return nil, 0, err
	}
	all, err := s.store.Sessions(ctx, p.OrganizationID, p.ProjectID)
	if err != nil {
		return nil, 0, storeError(ctx, "list sessions", err)
	}
	list := []*SessionInfo{}
	for _, session := range all[min(offset, len(all)):min(offset+limit, len(all))] {
		list = append(list, sessionInfo(session))
	}
	return list, len(all), nil
}

// Session returns everything about a session of p's project but the values of its state.
// CodeUnauthenticated, CodeForbidden, CodeNotFound; CodeSecretUnavailable if the state cannot be
// read.
func (s *Service) Session(ctx context.Context, p routine.Principal, name string) (*SessionInfo, error) {
	if err := may(p, toReadSecrets, nil); err != nil {
		return nil, err
	}
	session, text, err := s.store.SessionState(ctx, p.OrganizationID, p.ProjectID, name)
	if err != nil {
		return nil, s.sessionError(ctx, "read session", name, err)
	}
	state, err := browserstate.Parse(text)
	if err != nil {
		return nil, routine.Internal("read session", err)
	}
	info := sessionInfo(session)
	kept, _ := state.Keep(session.Hosts)
	info.State = kept.Counts()
	return info, nil
}

// DeleteSession deletes a session of p's project with its state. CodeUnauthenticated,
// CodeForbidden, CodeNotFound.
func (s *Service) DeleteSession(ctx context.Context, p routine.Principal, via routine.Via, name string) error {
	if err := may(p, toSaveSecret, nil); err != nil {
		return err
	}
	if err := s.store.DeleteSession(ctx, p.OrganizationID, p.ProjectID, name); err != nil {
		return s.sessionError(ctx, "delete session", name, err)
	}
	s.recordSessionChange(ctx, p, via, name, "deleted", nil)
	return nil
}

// SessionUses lists who changed a session of p's project, newest first, also one that
// is deleted, and the total of a [routine.Store]. CodeUnauthenticated, CodeForbidden,
// CodeNotFound if there is neither such a session nor a record of one.
func (s *Service) SessionUses(ctx context.Context, p routine.Principal, name string, limit, offset int) ([]SecretUseInfo, int, error) {
	if err := may(p, toReadSecrets, nil); err != nil {
		return nil, 0, err
	}
	list, total, err := s.listUses(ctx, p.OrganizationID, p.ProjectID, usesOfSession(name), limit, offset)
	if err == nil && total == 0 {
		_, err = s.store.Session(ctx, p.OrganizationID, p.ProjectID, name)
	}
	return list, total, s.sessionError(ctx, "list uses of session", name, err)
}

// usesOfSession is the name under which the uses of a session are recorded. No secret has it.
func usesOfSession(name string) string { return "session:" + name }

// recordSessionChange records that p changed a session, or was refused it with err.
func (s *Service) recordSessionChange(ctx context.Context, p routine.Principal, via routine.Via, name, what string, err error) {
	s.recordSecretChange(ctx, p, via, &routine.Secret{OrganizationID: p.OrganizationID, ProjectID: p.ProjectID, Name: usesOfSession(name)}, what, err)
}

// sessionError returns an error of the store as one for a caller.
func (s *Service) sessionError(ctx context.Context, doing, name string, err error) error {
	if _, known := errors.AsType[*routine.Error](err); known || err == nil {
		return err
	}
	switch {
	case errors.Is(err, routine.ErrNotFound):
		return routine.Errorf(routine.CodeNotFound, "there is no session %s", routine.Quote(routine.Truncate(name, 80)))
	case errors.Is(err, routine.ErrSealed):
		return &routine.Error{Code: routine.CodeSecretUnavailable, Cause: err, Message: fmt.Sprintf("the state of session %s cannot be read, because it was "+
			"sealed with another key: bring back its key file (--state-key), or delete the state and log in again", name)}
	case errors.Is(err, routine.ErrStateKey):
		return &routine.Error{Code: routine.CodeSecretUnavailable, Cause: err, Message: "sessions are encrypted, and the service cannot use " +
			"its key file (--state-key): its log says why"}
	}
	return storeError(ctx, doing, err)
}
