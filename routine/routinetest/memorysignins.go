package routinetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rote/routine"
)

func (s *Store) CreateSignIn(_ context.Context, in *routine.SignIn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.signIns[in.Hash]; there {
		return errors.New("create sign-in: its hash is in use")
	}
	s.signIns[in.Hash] = *in
	return nil
}

func (s *Store) SignInByHash(_ context.Context, hash [32]byte) (*routine.SignIn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in, there := s.signIns[hash]; there {
		return &in, nil
	}
	return nil, fmt.Errorf("sign-in: %w", routine.ErrNotFound)
}

func (s *Store) UseSignIn(_ context.Context, hash [32]byte, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, there := s.signIns[hash]
	if !there {
		return fmt.Errorf("use sign-in: %w", routine.ErrNotFound)
	}
	if in.LastUsedAt.Before(at) {
		in.LastUsedAt = at
		s.signIns[hash] = in
	}
	return nil
}

func (s *Store) EndSignIn(_ context.Context, hash [32]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.signIns, hash)
	return nil
}
