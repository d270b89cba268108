package routinetest

import (
	"context"
	"fmt"

	"rote/routine"
)

// keyOf is an idempotency key with whose it is.
type keyOf struct{ organization, user, project, reach, key string }

func placeOf(k *routine.IdempotencyKey) keyOf {
	return keyOf{k.OrganizationID, k.UserID, k.ProjectID, k.Reach, k.Key}
}

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
	s.keys[placeOf(k)] = madeBy{*k, id}
	return nil
}

func (s *Store) made(k *routine.IdempotencyKey) (madeBy, bool) {
	m, there := s.keys[placeOf(k)]
	return m, there && m.CreatedAt.After(k.CreatedAt.Add(-routine.IdempotencyTime))
}

func (s *Store) FindByKey(_ context.Context, k *routine.IdempotencyKey) (string, [32]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, there := s.made(k)
	if !there {
		return "", [32]byte{}, fmt.Errorf("read idempotency key: %w", routine.ErrNotFound)
	}
	return m.id, m.Fingerprint, nil
}
