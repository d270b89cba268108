package service

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"rote/routine"
)

// Limits of the caches. Larger routines are read for each request.
const (
	// maxCachedRows is how many routines and how many tokens are cached.
	maxCachedRows = 500
	// maxCachedDefinition limits the definition of a cached routine, in bytes.
	maxCachedDefinition = 64 << 10
)

// cache holds rows of one table by key. A row is used only while the store's
// count of changes to the table is what it was before the row was read, so
// changes by other processes are seen too.
type cache[K comparable, V any] struct{ rows *lru.Cache[K, cachedRow[V]] }

type cachedRow[V any] struct {
	changes int64 // the count before the row was read
	value   *V
}

func newCache[K comparable, V any]() cache[K, V] {
	rows, err := lru.New[K, cachedRow[V]](maxCachedRows)
	if err != nil { // the size is not positive
		panic(err)
	}
	return cache[K, V]{rows}
}

// get returns a copy of the cached row, which shares what the row refers to, or
// nil if there is none that is valid at this count of changes.
func (c cache[K, V]) get(key K, changes int64) *V {
	row, ok := c.rows.Get(key)
	if !ok || row.changes != changes {
		return nil
	}
	return new(*row.value)
}

// add stores a copy of a row that was read after the changes were counted.
func (c cache[K, V]) add(key K, changes int64, v *V) {
	c.rows.Add(key, cachedRow[V]{changes, new(*v)})
}

// readRoutine reads a routine for p, from the cache if possible. What the routine
// refers to is shared. Errors are the store's, and CodeBusy.
func (s *Service) readRoutine(ctx context.Context, p routine.Principal, id string) (*routine.Routine, error) {
	now, err := s.store.Changes(ctx)
	if err != nil {
		return nil, err
	}
	if r := s.routines.get(id, now.Routines); r != nil {
		return r, nil
	}
	done, err := s.admitStored(ctx, p, id, 0)
	if err != nil {
		return nil, err
	}
	defer done()
	r, err := s.store.Routine(ctx, id)
	if err == nil && r.Size() <= maxCachedDefinition {
		s.routines.add(id, now.Routines, r)
	}
	return r, err
}

// admitStored admits p to decode the definition of a routine's version; version
// 0 is the newest. A small definition needs no admission.
func (s *Service) admitStored(ctx context.Context, p routine.Principal, id string, version int) (done func(), err error) {
	size, err := s.store.DefinitionSize(ctx, id, version)
	if err != nil || size <= smallDefinition {
		return func() {}, err
	}
	return s.parseLimiter.admit(ctx, p, size)
}

// readToken reads a token, from the cache if possible. What the token refers to is
// shared. Errors are the store's.
func (s *Service) readToken(ctx context.Context, hash [32]byte) (*routine.Token, error) {
	now, err := s.store.Changes(ctx)
	if err != nil {
		return nil, err
	}
	if t := s.tokens.get(hash, now.Tokens); t != nil {
		return t, nil
	}
	t, err := s.store.TokenByHash(ctx, hash)
	if err == nil {
		s.tokens.add(hash, now.Tokens, t)
	}
	return t, err
}
