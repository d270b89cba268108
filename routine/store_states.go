package routine

import (
	"context"
	"errors"
	"time"
)

// ErrSealed means that the store does not have the key of a saved state.
var ErrSealed = errors.New("sealed with another key")

// ErrStateKey means that the store cannot use its encryption key. The error chain says
// why.
var ErrStateKey = errors.New("state key")

// StateStore is the part of a [Store] that keeps one browser state for each project.
// Runs of routines that are not incognito start from it, and replace it with their ends:
// see FinishExecution. It contains people's sessions, so a Store must encrypt it.
type StateStore interface {
	// ProjectState returns a project's state; nil if there is none. ErrSealed,
	// ErrStateKey.
	ProjectState(ctx context.Context, organizationID, projectID string) ([]byte, error)
	// SaveProjectState replaces the state after a run that has no execution in the store.
	// ErrStateKey.
	SaveProjectState(ctx context.Context, organizationID string, state *BrowserState, at time.Time) error
}
