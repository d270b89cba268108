package routinetest

import (
	"context"
	"fmt"

	"rote/routine"
)

// keyOf is an idempotency key of a user.
type keyOf struct{ organization, user, key string }

// madeBy is what a call with a key made.
type madeBy struct {
	routine.IdempotencyKey
	id string
}

// take saves that a call with a key made something.
func (s *Store) take(k *routine.IdempotencyKey, id string) error {
	if k == nil {
		return nil
	}
	if _, taken := s.made(k); taken {
		return routine.ErrKeyTaken
	}
	s.keys[keyOf{k.OrganizationID, k.UserID, k.Key}] = madeBy{*k, id}
	return nil
}

func (s *Store) made(k *routine.IdempotencyKey) (madeBy, bool) {
	m, there := s.keys[keyOf{k.OrganizationID, k.UserID, k.Key}]
	return m, there && m.CreatedAt.After(k.CreatedAt.Add(-routine.IdempotencyTime))
}

func (s *Store) Made(_ context.Context, k *routine.IdempotencyKey) (string, [32]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, there := s.made(k)
	if !there {
		return "", [32]byte{}, fmt.Errorf("read idempotency key: %w", routine.ErrNotFound)
	}
	return m.id, m.Fingerprint, nil
}
