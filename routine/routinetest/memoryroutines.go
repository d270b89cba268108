package routinetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"rote/routine"
)

func (s *Store) CreateRoutine(_ context.Context, r *routine.Routine) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.routines[r.ID]; there {
		return fmt.Errorf("create routine: id %s is in use", r.ID)
	}
	for _, other := range s.routines {
		if other.OrganizationID == r.OrganizationID && other.ToolName == r.ToolName {
			return fmt.Errorf("create routine %q: %w", r.ToolName, routine.ErrToolNameTaken)
		}
		if r.UniqueName && other.OrganizationID == r.OrganizationID && other.Name == r.Name && other.Status != routine.StatusArchived {
			return fmt.Errorf("create routine: %w", routine.ErrNameTaken)
		}
	}
	kept, err := copyRoutine(r)
	if err == nil {
		err = s.take(r.Key, r.ID)
	}
	if err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	kept.Key, kept.UniqueName = nil, false
	return s.keep(kept, kept.CreatedAt, kept.CreatedBy)
}

func (s *Store) Routine(_ context.Context, id string) (*routine.Routine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, there := s.routines[id]
	if !there {
		return nil, fmt.Errorf("routine %s: %w", id, routine.ErrNotFound)
	}
	return copyRoutine(r)
}

func (s *Store) Routines(_ context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*routine.Routine{}
	for _, r := range s.routines {
		if matches(r, f) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *routine.Routine) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	total := min(len(list), routine.MaxTotal+1)
	list = pageOf(list, f.Limit, f.Offset)
	for i, r := range list {
		var err error
		if list[i], err = copyRoutine(r); err != nil {
			return nil, 0, err
		}
		if f.WithoutDefinitions {
			list[i].Definition = routine.Definition{}
		} else if size, err := sizeOf(r); err != nil {
			return nil, 0, err
		} else if f.MaxDefinition > 0 && size > f.MaxDefinition {
			list[i].OmitDetails()
		}
	}
	return list, total, nil
}

// DefinitionSize is the length of a definition as JSON.
func (s *Store) DefinitionSize(_ context.Context, id string, version int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version == 0 && s.routines[id] != nil {
		return sizeOf(s.routines[id])
	}
	for _, v := range s.versions[id] {
		if v.Number == version {
			return sizeOf(&routine.Routine{Definition: *v.Definition})
		}
	}
	return 0, fmt.Errorf("version %d of routine %s: %w", version, id, routine.ErrNotFound)
}

func sizeOf(r *routine.Routine) (int, error) {
	text, err := routine.EncodeJSON(r.Definition)
	return len(text), err
}

func matches(r *routine.Routine, f routine.RoutineFilter) bool {
	if f.Name != "" && f.Name != r.Name || f.ToolName != "" && f.ToolName != r.ToolName {
		return false // before the text for the words is made, of thousands of routines
	}
	ours := f.OrganizationID != "" && r.OrganizationID == f.OrganizationID
	public := r.IsPublic && (f.Public || f.OrganizationID == "")
	statuses := f.Statuses
	switch {
	case f.Published:
		statuses = []routine.Status{routine.StatusActive}
	case f.Unpublished:
		statuses = []routine.Status{routine.StatusDraft, routine.StatusActive, routine.StatusArchived}
	case statuses == nil:
		statuses = []routine.Status{routine.StatusDraft, routine.StatusActive}
	}
	text := r.SearchText()
	return (ours || public) && slices.Contains(statuses, r.Status) && (r.Published() || !f.Published) && (!r.Published() || !f.Unpublished) &&
		(f.IsPublic == nil || *f.IsPublic == r.IsPublic) &&
		(f.Designated == nil || *f.Designated == r.IsMCPToolDesignated) &&
		(f.Tag == "" || slices.Contains(r.Tags, f.Tag)) &&
		!slices.ContainsFunc(f.Words, func(word string) bool { return !strings.Contains(text, strings.ToLower(word)) })
}

func (s *Store) UpdateRoutine(_ context.Context, r *routine.Routine, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, there := s.routines[r.ID]
	if !there {
		return fmt.Errorf("update routine %s: %w", r.ID, routine.ErrNotFound)
	}
	if was.Version != r.Version-1 {
		return fmt.Errorf("update routine %s: %w", r.ID, routine.ErrStale)
	}
	kept, err := copyRoutine(r)
	if err != nil {
		return fmt.Errorf("update routine: %w", err)
	}
	// What identifies the routine was settled when it was created.
	kept.OrganizationID, kept.ProjectID, kept.CreatedBy = was.OrganizationID, was.ProjectID, was.CreatedBy
	kept.ToolName, kept.CreatedAt = was.ToolName, was.CreatedAt
	return s.keep(kept, kept.UpdatedAt, by)
}

// keep makes a routine, which is the Store's own, the newest version.
func (s *Store) keep(r *routine.Routine, at int64, by string) error {
	of, err := copyRoutine(r)
	if err != nil {
		return err
	}
	s.changes.Routines++
	s.signal(routine.Signal{Changed: true})
	s.routines[r.ID] = r
	s.versions[r.ID] = append(s.versions[r.ID], &routine.Version{
		Number: r.Version, Status: r.Status, CreatedAt: at, CreatedBy: by, Definition: &of.Definition})
	return nil
}

func (s *Store) Versions(_ context.Context, id string, limit, offset int) ([]*routine.Version, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*routine.Version{}
	for _, v := range slices.Backward(s.versions[id]) {
		list = append(list, &routine.Version{Number: v.Number, Status: v.Status, CreatedAt: v.CreatedAt, CreatedBy: v.CreatedBy})
	}
	return pageOf(list, limit, offset), len(list), nil
}

func (s *Store) Version(_ context.Context, id string, number int) (*routine.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.versions[id] {
		if v.Number == number {
			of, err := copyRoutine(&routine.Routine{Definition: *v.Definition})
			if err != nil {
				return nil, err
			}
			c := *v
			c.Definition = &of.Definition
			return &c, nil
		}
	}
	return nil, fmt.Errorf("version %d of routine %s: %w", number, id, routine.ErrNotFound)
}
