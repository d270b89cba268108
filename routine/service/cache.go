package service

import (
	"context"
	"rote/routine"
	"sync"
	"time"
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

// readRoutine is Store.Routine for p, as it was at some time since a given one;
// the zero time is now. What the routine refers to is shared.
func (s *Service) readRoutine(ctx context.Context, p routine.Principal, id string, since time.Time) (*routine.Routine, error) {
	now, err := s.changesSince(ctx, since)
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
	now, err := s.changes(ctx)
	if err != nil {
		return nil, err
	}
	return s.tokens.read(ctx, now.Tokens, hash, s.store.TokenByHash, func(*routine.Token) bool { return true })
}

// look is what the store had counted at some time after began.
type look struct {
	began   time.Time
	changes routine.Changes
}

// changes gives the counts of now, and remembers them.
func (s *Service) changes(ctx context.Context) (routine.Changes, error) {
	began := time.Now()
	now, err := s.store.Changes(ctx)
	if err == nil {
		s.looked.Store(&look{began, now})
	}
	return now, err
}

// changesSince gives the counts of some time since a given one; the zero time is
// now.
func (s *Service) changesSince(ctx context.Context, since time.Time) (routine.Changes, error) {
	if last := s.looked.Load(); last != nil && !since.IsZero() && !last.began.Before(since) {
		return last.changes, nil
	}
	return s.changes(ctx)
}

// ToolsStamp is a number that changes with every change to a routine, by
// whatever process: while it is the same, so is what Tools and Routines give. It
// is much cheaper than a list, and costs nothing if the service has looked for
// another reason since a time that will do; the zero time is now.
// CodeStoreUnavailable.
func (s *Service) ToolsStamp(ctx context.Context, since time.Time) (int64, error) {
	now, err := s.changesSince(ctx, since)
	if err != nil {
		return 0, storeError(ctx, "look for changes", err)
	}
	return now.Routines, nil
}
