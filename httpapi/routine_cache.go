package httpapi

import (
	"sync"

	"rote/routine"
)

const (
	maxBodies    = 500
	maxBodyBytes = 64 << 10
)

// bodies are routines as answers, by id: encoding one costs more than all that
// the service does to read it. Nothing has to be forgotten when a routine
// changes, because a version never does.
type bodies struct {
	mu   sync.RWMutex
	kept map[string]encoded
}

type encoded struct {
	version int
	text    []byte
}

// of is the body that shows r.
func (b *bodies) of(r *routine.Routine) (document, error) {
	b.mu.RLock()
	e := b.kept[r.ID]
	b.mu.RUnlock()
	if e.version != r.Version || r.Redacted {
		text, err := encode(r)
		if err != nil {
			return document{}, routine.Internal("encode routine", err)
		}
		e = encoded{r.Version, text}
		if !r.Redacted { // as all others see it
			b.keep(r.ID, e)
		}
	}
	return document{"application/json", e.text}, nil
}

func (b *bodies) keep(id string, e encoded) {
	if len(e.text) > maxBodyBytes {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil || len(b.kept) >= maxBodies {
		b.kept = map[string]encoded{}
	}
	b.kept[id] = e
}
