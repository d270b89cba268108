package rows

import (
	"fmt"

	"rote/routine"
)

// ScanRoutine reads a row with id, organization_id, project_id, created_by, tool_name,
// status, version, created_at, updated_at, the definition, and whether only the start of
// the definition was read. In that case it decodes the header; complete reports whether
// the start contained all of it. A definition that is NULL is left out.
func ScanRoutine(scan Scan) (r *routine.Routine, complete bool, err error) {
	r = &routine.Routine{}
	var (
		definition []byte
		partial    bool
	)
	err = scan(&r.ID, &r.OrganizationID, &r.ProjectID, &r.CreatedBy, &r.ToolName, &r.Status, &r.Version,
		&r.CreatedAt, &r.UpdatedAt, &definition, &partial)
	switch {
	case err != nil:
		return nil, false, err
	case definition == nil:
		return r, true, nil
	case partial:
		r.Definition, complete = routine.DecodeHeader(definition)
		r.OmitDetails()
		return r, complete, nil
	}
	if r.Definition, err = routine.DecodeDefinition(definition); err != nil {
		return nil, false, fmt.Errorf("decode definition of routine %s: %w", r.ID, err)
	}
	return r, true, nil
}

// ScanVersion reads a row with version, status, created_at, created_by and the
// definition of a routine with an id.
func ScanVersion(scan Scan, id string) (*routine.Version, error) {
	var (
		v          routine.Version
		definition []byte
	)
	if err := scan(&v.Number, &v.Status, &v.CreatedAt, &v.CreatedBy, &definition); err != nil {
		return nil, err
	}
	d, err := routine.DecodeDefinition(definition)
	if err != nil {
		return nil, fmt.Errorf("decode version %d of routine %s: %w", v.Number, id, err)
	}
	v.Definition = &d
	return &v, nil
}

// MaxHeaderBytes is how much of a large definition is read to find its header, which is
// stored first.
const MaxHeaderBytes = 128 << 10

// ListedStatuses returns the statuses that a filter accepts.
func ListedStatuses(f routine.RoutineFilter) []routine.Status {
	if f.Statuses == nil {
		return []routine.Status{routine.StatusDraft, routine.StatusActive}
	}
	return f.Statuses
}
