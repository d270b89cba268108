package service

import (
	"context"
	"encoding/json"
	"strings"

	"rote/routine"
	"rote/routine/browserstate"
)

// SessionImport is a session whose state was imported.
type SessionImport struct {
	*SessionInfo
	// LeftOut is what the state has for other hosts than those of the session.
	LeftOut []browserstate.Count `json:"left_out"`
	// Warnings name what the text has and the session has not.
	Warnings []routine.Problem `json:"warnings"`
}

// MaySaveSession returns nil if p may change sessions, so that a front end can refuse a call
// before it reads a state. CodeUnauthenticated, CodeForbidden.
func (s *Service) MaySaveSession(p routine.Principal) error { return may(p, toSaveSecret, nil) }

// ImportSession replaces the state of a session by one that another program has exported, as
// [browserstate.Import] reads it, as far as it belongs to the hosts of the session. hosts, or the
// hosts that the text has, become those of the session, which is created if there is none.
//
// CodeUnauthenticated, CodeForbidden, CodeInvalid with problems, CodePreconditionFailed,
// CodeConflict; CodeNotFound if there is no session and the text gives no hosts;
// CodeSecretUnavailable if the key cannot be used.
func (s *Service) ImportSession(ctx context.Context, p routine.Principal, via routine.Via, name string, text []byte, hosts []string,
	condition PutCondition) (*SessionImport, error) {

	if err := mayChangeSession(p, name); err != nil {
		return nil, err
	}
	imported, err := browserstate.Import(text, s.now())
	if err != nil {
		return nil, err
	}
	if len(hosts) > 0 {
		imported.Hosts = hosts
	}
	var kept, rest *browserstate.State
	session, err := s.changeSession(ctx, p, name, condition, func(session *routine.Session) ([]byte, error) {
		if err := setImportedHosts(session, imported); err != nil {
			return nil, err
		}
		if kept, rest = imported.State.Keep(session.Hosts); kept.Empty() {
			return nil, routine.Errorf(routine.CodeInvalid, "nothing of the state belongs to the hosts of session %s (%s): it is for %s",
				name, strings.Join(session.Hosts, ", "), hostsOf(imported.State))
		}
		forgetLogin(session)
		now := s.now()
		session.Condition, session.UserAgent = routine.SessionFresh, imported.UserAgent
		session.LoggedInAt, session.SavedAt, session.ExpiresAt = &now, &now, kept.Expiry()
		return kept.Encode()
	})
	if session != nil {
		s.recordSessionChange(ctx, p, via, name, "imported", err)
	}
	if err != nil {
		return nil, err
	}
	got := &SessionImport{SessionInfo: infoFor(p, session), LeftOut: rest.Counts(), Warnings: append([]routine.Problem{}, imported.Warnings...)}
	got.State = kept.Counts()
	return got, nil
}

// setImportedHosts sets the hosts that an imported text gives. A new session needs them.
// CodeInvalid, CodeNotFound.
func setImportedHosts(session *routine.Session, imported *browserstate.Imported) error {
	if imported.Hosts == nil && session.Generation == 0 {
		return routine.Errorf(routine.CodeNotFound, "there is no session %s: create it with the hosts whose login it is, "+
			"or give hosts with the state. The state is for %s", session.Name, hostsOf(imported.State))
	}
	if imported.Hosts == nil {
		return nil
	}
	change := &settingsChange{settings: map[string]json.RawMessage{"hosts": routine.RawJSON(imported.Hosts)}}
	if change.applyToSession(session); len(change.problems) > 0 {
		return routine.Invalid("state", change.problems)
	}
	return nil
}

// maxShownHosts limits the hosts that a message names.
const maxShownHosts = 20

// hostsOf names the hosts of a state.
func hostsOf(state *browserstate.State) string {
	var hosts []string
	for _, c := range state.Counts() {
		if len(hosts) == maxShownHosts {
			hosts = append(hosts, "…")
			break
		}
		hosts = append(hosts, c.Host)
	}
	return strings.Join(hosts, ", ")
}

// ClearSession deletes the state of a session, which stays with its settings.
// CodeUnauthenticated, CodeForbidden, CodeNotFound, CodePreconditionFailed, CodeConflict.
func (s *Service) ClearSession(ctx context.Context, p routine.Principal, via routine.Via, name string, condition PutCondition) error {
	if err := mayChangeSession(p, name); err != nil {
		return err
	}
	session, err := s.changeSession(ctx, p, name, condition, func(session *routine.Session) ([]byte, error) {
		if session.Generation == 0 {
			return nil, routine.ErrNotFound
		}
		forgetLogin(session)
		return []byte{}, nil
	})
	if session != nil {
		s.recordSessionChange(ctx, p, via, name, "cleared", err)
	}
	return err
}
