package httpapi

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"rote/routine"
)

// Limits of the cache. Longer bodies are encoded for each request.
const (
	maxCachedRoutines = 500
	maxCachedBytes    = 64 << 10
)

// routineCache holds encoded routines, because encoding one takes about a fifth of
// the processor time of a request. Versions never change, so no entry becomes
// invalid.
type routineCache struct {
	bodies *lru.Cache[routineVersion, []byte]
}

type routineVersion struct {
	id      string
	version int
}

func newRoutineCache() routineCache {
	bodies, err := lru.New[routineVersion, []byte](maxCachedRoutines)
	if err != nil { // the size is not positive
		panic(err)
	}
	return routineCache{bodies}
}

// response returns the JSON body of r.
func (c routineCache) response(r *routine.Routine) (document, error) {
	key := routineVersion{r.ID, r.Version}
	if body, ok := c.bodies.Get(key); ok && !r.Redacted {
		return document{"application/json", body}, nil
	}
	body, err := encode(r)
	if err != nil {
		return document{}, routine.Internal("encode routine", err)
	}
	if !r.Redacted && len(body) <= maxCachedBytes { // as all others see it
		c.bodies.Add(key, body)
	}
	return document{"application/json", body}, nil
}
