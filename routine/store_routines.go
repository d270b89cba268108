package routine

import (
	"context"
	"errors"
)

// ErrStale: the routine has changed since the version that a change was made
// from.
var ErrStale = errors.New("the routine has changed meanwhile")

// ErrNameTaken means that another routine of the organization, one that is not
// archived, has the name.
var ErrNameTaken = errors.New("name is taken")

// RoutineStore is the part of a [Store] that keeps routines. They are never
// deleted, and none of their versions changes.
type RoutineStore interface {
	// CreateRoutine saves r, with its first version in the same transaction.
	// ErrToolNameTaken when r.ToolName is in use in the organization;
	// ErrNameTaken when r.UniqueName is set and r.Name is; ErrKeyTaken.
	CreateRoutine(ctx context.Context, r *Routine) error
	// Routine reads one routine, whatever its status. ErrNotFound.
	Routine(ctx context.Context, id string) (*Routine, error)
	// DefinitionSize is how many bytes the definition of a routine's version has
	// as JSON; version 0 is the newest. ErrNotFound.
	DefinitionSize(ctx context.Context, id string, version int) (int, error)
	// Routines lists the matches of f, newest first (ties by id, so that pages
	// never overlap), and the number of all matches.
	Routines(ctx context.Context, f RoutineFilter) ([]*Routine, int, error)
	// UpdateRoutine saves the definition, status and time of r as the version
	// r.Version, made by a user. Of all that try to save a version one
	// succeeds; ErrStale when the routine is not at the version before it.
	// ErrNotFound.
	UpdateRoutine(ctx context.Context, r *Routine, by string) error
	// Versions lists a routine's versions without their definitions, newest
	// first, and their number; none for an unknown routine.
	Versions(ctx context.Context, id string, limit, offset int) ([]*Version, int, error)
	// Version reads one version of a routine. ErrNotFound.
	Version(ctx context.Context, id string, number int) (*Version, error)
}

// Version is a routine as one change left it.
type Version struct {
	Number int    `json:"version"`
	Status Status `json:"routine_status"`
	// CreatedAt is when the change was made, in Unix seconds; CreatedBy, by
	// which user.
	CreatedAt int64  `json:"created_at"`
	CreatedBy string `json:"created_by"`
	// Definition is left out in lists.
	Definition *Definition `json:"routine,omitempty"`
}

// RoutineFilter chooses routines: those that all of it applies to.
type RoutineFilter struct {
	// OrganizationID chooses the routines of one organization; with Public,
	// everybody's public ones too. Empty: public ones only.
	OrganizationID string
	Public         bool
	// Published chooses those that are offered as tools, whatever Statuses
	// says.
	Published bool
	// Unpublished chooses those that are not, whatever Statuses says.
	Unpublished bool
	// ToolName chooses by tool_name; empty: any.
	ToolName string
	// Name chooses by name, to the letter; empty: any.
	Name string
	// Statuses are those to choose; nil: all but archived.
	Statuses []Status
	// IsPublic and Designated choose by is_public and is_mcp_tool_designated.
	IsPublic, Designated *bool
	// Tag is one that a routine has, to the letter; empty: any.
	Tag string
	// Words all occur in the name, the description or a tag, in any case.
	Words []string
	// WithoutDefinitions leaves all definitions out, with all their fields.
	WithoutDefinitions bool
	// MaxDefinition leaves the parameters and operations out of routines whose
	// definition is larger than that many bytes of JSON; 0: of none. See
	// Routine.Omitted.
	MaxDefinition int
	// Limit is how many to return; zero or less means all. Offset is how many
	// to skip.
	Limit, Offset int
}
