package routine

import (
	"context"
	"errors"
)

// ErrStale means that the routine is no longer at the version that a change is based
// on.
var ErrStale = errors.New("the routine has changed meanwhile")

// ErrNameTaken means that another routine of the organization, one that is not
// archived, has the name.
var ErrNameTaken = errors.New("name is taken")

// RoutineStore is the part of a [Store] that keeps routines. Routines are never
// deleted, and their versions never change.
type RoutineStore interface {
	// CreateRoutine saves r and its first version in one transaction. ErrToolNameTaken
	// if r.ToolName is in use in the organization; ErrNameTaken if r.UniqueName is set
	// and r.Name is in use; ErrKeyTaken.
	CreateRoutine(ctx context.Context, r *Routine) error
	// Routine returns one routine of any status. ErrNotFound.
	Routine(ctx context.Context, id string) (*Routine, error)
	// DefinitionSize returns the size in bytes of the JSON of one version's
	// definition; version 0 is the newest. ErrNotFound.
	DefinitionSize(ctx context.Context, id string, version int) (int, error)
	// Routines returns the routines that f selects, newest first (ties by id, so that
	// pages never overlap), and the total number of matches, at most MaxTotal+1.
	Routines(ctx context.Context, f RoutineFilter) ([]*Routine, int, error)
	// UpdateRoutine saves the definition, status and time of r as the version
	// r.Version, made by a user. If several callers save the same version, one
	// succeeds. ErrStale if the routine is not at the version before it. ErrNotFound.
	UpdateRoutine(ctx context.Context, r *Routine, by string) error
	// Versions returns a routine's versions without their definitions, newest first,
	// and their total number; none for an unknown routine.
	Versions(ctx context.Context, id string, limit, offset int) ([]*Version, int, error)
	// Version returns one version of a routine. ErrNotFound.
	Version(ctx context.Context, id string, number int) (*Version, error)
}

// Version is the state of a routine after one change.
type Version struct {
	Number int    `json:"version"`
	Status Status `json:"routine_status"`
	// CreatedAt is when the change was made, in Unix seconds; CreatedBy is the user
	// who made it.
	CreatedAt int64  `json:"created_at"`
	CreatedBy string `json:"created_by"`
	// Definition is left out in lists.
	Definition *Definition `json:"routine,omitempty"`
}

// RoutineFilter selects the routines that match all of its fields.
type RoutineFilter struct {
	// OrganizationID selects the routines of one organization, and with Public also
	// the public ones of all others. If it is empty, only public ones are selected.
	OrganizationID string
	Public         bool
	// Published selects routines that are published as tools, regardless of Statuses.
	Published bool
	// Unpublished selects routines that are not, regardless of Statuses.
	Unpublished bool
	// ToolName is the exact tool name; empty: any.
	ToolName string
	// Name is the exact name; empty: any.
	Name string
	// Statuses are the accepted statuses; nil: all but archived.
	Statuses []Status
	// IsPublic and Designated are the required values of is_public and
	// is_mcp_tool_designated; nil: any.
	IsPublic, Designated *bool
	// Tag is one exact tag of the routine; empty: any.
	Tag string
	// Words must all occur in the name, the description or a tag, in upper or lower
	// case.
	Words []string
	// WithoutDefinitions leaves out the definitions of all routines.
	WithoutDefinitions bool
	// MaxDefinition leaves out the parameters and operations of routines whose
	// definition has more bytes of JSON; 0: of none. See Routine.Omitted.
	MaxDefinition int
	// Limit is the maximum number to return; zero or less: all. Offset is how many to
	// skip.
	Limit, Offset int
}
