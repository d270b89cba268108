package routine

import (
	"context"
	"errors"
	"time"
)

// ErrSealed: the store holds a state that it has not the key for.
var ErrSealed = errors.New("sealed with another key")

// ErrStateKey: the store cannot use its key, for a reason that the chain names.
var ErrStateKey = errors.New("state key")

// StateStore is the part of a [Store] that keeps, for each project, the browser
// state that runs of routines which are not incognito start from. It holds
// sessions of people: a Store encrypts it.
type StateStore interface {
	// ProjectState reads a project's state; nil when there is none. ErrSealed,
	// ErrStateKey.
	ProjectState(ctx context.Context, organizationID, projectID string) ([]byte, error)
	// SaveProjectState replaces it. Of two runs at once the last to end wins.
	// ErrStateKey.
	SaveProjectState(ctx context.Context, organizationID, projectID string, state []byte, at time.Time) error
}
