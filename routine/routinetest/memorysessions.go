package routinetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rote/routine"
)

// session is a saved session with its state.
type session struct {
	routine.Session
	state  []byte
	leases map[routine.LeasePurpose]string // execution ids
}

func copySession(s *routine.Session) *routine.Session {
	c := *s
	c.Hosts, c.Login = slices.Clone(s.Hosts), slices.Clone(s.Login)
	c.LoggedInAt, c.SavedAt, c.ExpiresAt = copyTime(s.LoggedInAt), copyTime(s.SavedAt), copyTime(s.ExpiresAt)
	return &c
}

func (s *Store) SaveSession(_ context.Context, saved *routine.Session, state []byte, before int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := secretOf{saved.OrganizationID, saved.ProjectID, saved.Name}
	old := s.sessions[of]
	if old == nil {
		old = &session{leases: map[routine.LeasePurpose]string{}}
	}
	if old.Generation != before {
		return fmt.Errorf("save session %s: %w", saved.Name, routine.ErrChanged)
	}
	saved.Generation = before + 1
	next := &session{Session: *copySession(saved), state: old.state, leases: old.leases}
	if state != nil {
		next.state = slices.Clone(state)
	}
	s.sessions[of] = next
	return nil
}

func (s *Store) Session(ctx context.Context, organizationID, projectID, name string) (*routine.Session, error) {
	found, _, err := s.SessionState(ctx, organizationID, projectID, name)
	return found, err
}

func (s *Store) Sessions(_ context.Context, organizationID, projectID string) ([]*routine.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*routine.Session{}
	for of, found := range s.sessions {
		if of.organization == organizationID && of.project == projectID {
			list = append(list, copySession(&found.Session))
		}
	}
	slices.SortFunc(list, func(a, b *routine.Session) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (s *Store) SessionState(_ context.Context, organizationID, projectID, name string) (*routine.Session, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.sessions[secretOf{organizationID, projectID, name}]
	if found == nil {
		return nil, nil, fmt.Errorf("session %s: %w", name, routine.ErrNotFound)
	}
	if len(found.state) == 0 {
		return copySession(&found.Session), nil, nil
	}
	return copySession(&found.Session), slices.Clone(found.state), nil
}

func (s *Store) DeleteSession(_ context.Context, organizationID, projectID, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := secretOf{organizationID, projectID, name}
	if s.sessions[of] == nil {
		return fmt.Errorf("delete session %s: %w", name, routine.ErrNotFound)
	}
	delete(s.sessions, of)
	return nil
}

func (s *Store) SessionLessee(_ context.Context, organizationID, projectID, name string, purpose routine.LeasePurpose) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.sessions[secretOf{organizationID, projectID, name}]
	if found == nil || s.executions[found.leases[purpose]] == nil || !s.executions[found.leases[purpose]].Open() {
		return "", nil
	}
	return found.leases[purpose], nil
}

func (s *Store) LeaseSession(_ context.Context, l routine.SessionLease) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.sessions[secretOf{l.OrganizationID, l.ProjectID, l.Name}]
	if found == nil {
		return false, fmt.Errorf("lease session %s: %w", l.Name, routine.ErrNotFound)
	}
	isOpen := func(id string) bool { return s.executions[id] != nil && s.executions[id].Open() }
	if holder := found.leases[l.Purpose]; holder != l.ExecutionID && isOpen(holder) || !isOpen(l.ExecutionID) {
		return false, nil
	}
	found.leases[l.Purpose] = l.ExecutionID
	return true, nil
}
