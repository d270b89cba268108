package httpapi

import (
	"sync"

	"rote/routine"
)

// Limits of the cache. Longer bodies are encoded for each request.
const (
	maxCachedRoutines = 500
	maxCachedBytes    = 64 << 10
)

// routineCache holds encoded routines by id, because encoding costs more than
// the service needs to read a routine. An entry is valid for one version.
// Versions never change, so nothing has to be invalidated.
type routineCache struct {
	mu      sync.RWMutex
	entries map[string]encodedRoutine
}

type encodedRoutine struct {
	version int
	body    []byte
}

// response returns the JSON body of r.
func (b *routineCache) response(r *routine.Routine) (document, error) {
	b.mu.RLock()
	e := b.entries[r.ID]
	b.mu.RUnlock()
	if e.version != r.Version || r.Redacted {
		text, err := encode(r)
		if err != nil {
			return document{}, routine.Internal("encode routine", err)
		}
		e = encodedRoutine{r.Version, text}
		if !r.Redacted { // as all others see it
			b.store(r.ID, e)
		}
	}
	return document{"application/json", e.body}, nil
}

func (b *routineCache) store(id string, e encodedRoutine) {
	if len(e.body) > maxCachedBytes {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.entries == nil || len(b.entries) >= maxCachedRoutines {
		b.entries = map[string]encodedRoutine{}
	}
	b.entries[id] = e
}
