package service

import (
	"context"
	"rote/routine"
	"sync"
)

const (
	// maxCopies is how many routines and how many tokens are kept.
	maxCopies = 500
	// maxCopiedText is up to how many bytes a routine's definition has.
	maxCopiedText = 64 << 10
)

// copies are of rows that were read from the store, good for as long as nothing
// has changed there: most calls read what the call before has read. The zero
// value has none.
type copies[K comparable, V any] struct {
	mu    sync.RWMutex
	count int64 // of changes, before the first of them was read
	kept  map[K]*V
}

// read gives a copy of a row, which is the caller's own but for what it refers
// to. count is that of a moment before the call.
func (c *copies[K, V]) read(ctx context.Context, count int64, key K, read func(context.Context, K) (*V, error), small func(*V) bool) (*V, error) {
	c.mu.RLock()
	v, there := c.kept[key]
	there = there && c.count == count
	c.mu.RUnlock()
	if !there {
		var err error
		if v, err = read(ctx, key); err != nil {
			return nil, err
		}
		if small(v) {
			c.keep(count, key, v)
		}
	}
	own := *v
	return &own, nil
}

// keep forgets what is older than v. What is as old may be kept beside it.
func (c *copies[K, V]) keep(count int64, key K, v *V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if count < c.count {
		return
	}
	if count > c.count || c.kept == nil || len(c.kept) >= maxCopies {
		c.count, c.kept = count, map[K]*V{}
	}
	c.kept[key] = v
}

// readRoutine is Store.Routine for p. What the routine refers to is shared.
func (s *Service) readRoutine(ctx context.Context, p routine.Principal, id string) (*routine.Routine, error) {
	now, err := s.store.Changes(ctx)
	if err != nil {
		return nil, err
	}
	return s.routines.read(ctx, now.Routines, id, func(ctx context.Context, id string) (*routine.Routine, error) {
		done, err := s.admitStored(ctx, p, id, 0)
		if err != nil {
			return nil, err
		}
		defer done()
		return s.store.Routine(ctx, id)
	}, func(r *routine.Routine) bool { return r.Size() <= maxCopiedText })
}

// admitStored admits p to decode the definition of a routine's version; version
// 0 is the newest. A small definition needs no admission.
func (s *Service) admitStored(ctx context.Context, p routine.Principal, id string, version int) (done func(), err error) {
	size, err := s.store.DefinitionSize(ctx, id, version)
	if err != nil || size <= smallDefinition {
		return func() {}, err
	}
	return s.admission.admit(ctx, p, size)
}

// readToken is Store.TokenByHash. What the token refers to is shared.
func (s *Service) readToken(ctx context.Context, hash [32]byte) (*routine.Token, error) {
	now, err := s.store.Changes(ctx)
	if err != nil {
		return nil, err
	}
	return s.tokens.read(ctx, now.Tokens, hash, s.store.TokenByHash, func(*routine.Token) bool { return true })
}

// ToolsStamp returns a number that changes with every change to a routine, by any
// process: while it is the same, so is what Tools and Routines return. It is much
// cheaper than a list. CodeStoreUnavailable.
func (s *Service) ToolsStamp(ctx context.Context) (int64, error) {
	now, err := s.store.Changes(ctx)
	if err != nil {
		return 0, storeError(ctx, "look for changes", err)
	}
	return now.Routines, nil
}
