package routinetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"rote/routine"
)

// schedule is a row of schedules, with the hash of the data that was compared last.
type schedule struct {
	*routine.Schedule
	hash      *[32]byte
	hashOf    string // execution id
	isChanged bool
}

// copySchedule is what a database would return, with the values.
func copySchedule(sc *routine.Schedule) *routine.Schedule {
	c := *sc
	c.NextAt, c.LastAt = copyTime(sc.NextAt), copyTime(sc.LastAt)
	c.CreatedAt, c.UpdatedAt, c.MovedAt = *copyTime(&sc.CreatedAt), *copyTime(&sc.UpdatedAt), *copyTime(&sc.MovedAt)
	c.Parameters, c.Values, c.AllowedHosts = slices.Clone(sc.Parameters), slices.Clone(sc.Values), slices.Clone(sc.AllowedHosts)
	c.LastSkip = copyOf(sc.LastSkip)
	return &c
}

// shown is a row as it is read, without its values and without parameters of more than
// limit bytes.
func (s *Store) shown(row *schedule, limit int) *routine.Schedule {
	c := copySchedule(row.Schedule)
	c.Values = nil
	if len(c.Parameters) > limit {
		c.Parameters, c.ParametersOmitted = nil, true
	}
	if e := s.executions[c.LastExecutionID]; e != nil {
		c.LastStatus = e.Status
	}
	return c
}

func (s *Store) CreateSchedule(_ context.Context, sc *routine.Schedule, limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, other := range s.schedules {
		if other.OrganizationID == sc.OrganizationID {
			count++
		}
	}
	if count >= limit {
		return fmt.Errorf("create schedule: %w", routine.ErrScheduleLimit)
	}
	if s.schedules[sc.ID] != nil {
		return fmt.Errorf("create schedule: id %s is in use", sc.ID)
	}
	if err := s.take(sc.Key, sc.ID); err != nil {
		return fmt.Errorf("create schedule: %w", err)
	}
	kept := copySchedule(sc)
	kept.Key, kept.Revision, kept.LastAt, kept.LastExecutionID, kept.LastStatus, kept.LastSkip = nil, 1, nil, "", "", nil
	s.schedules[sc.ID] = &schedule{Schedule: kept}
	return nil
}

func (s *Store) UpdateSchedule(_ context.Context, sc *routine.Schedule, c routine.ScheduleChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.schedules[sc.ID]
	switch {
	case row == nil:
		return fmt.Errorf("update schedule: %w", routine.ErrNotFound)
	case row.Revision != sc.Revision:
		return fmt.Errorf("update schedule: %w", routine.ErrStale)
	}
	old, kept := row.Schedule, copySchedule(sc)
	kept.Revision++
	kept.OrganizationID, kept.CreatedAt, kept.CreatedBy = old.OrganizationID, old.CreatedAt, old.CreatedBy
	kept.LastAt, kept.LastExecutionID, kept.LastStatus, kept.LastSkip = old.LastAt, old.LastExecutionID, "", old.LastSkip
	if !c.Times {
		kept.NextAt, kept.MovedAt = old.NextAt, old.MovedAt
	}
	if sc.Values == nil {
		kept.Values = old.Values
	}
	row.Schedule = kept
	if c.Data {
		row.hash, row.hashOf = nil, ""
	}
	return nil
}

func (s *Store) DeleteSchedule(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.schedules[id] == nil {
		return fmt.Errorf("delete schedule: %w", routine.ErrNotFound)
	}
	delete(s.schedules, id)
	return nil
}

func (s *Store) Schedule(_ context.Context, id string) (*routine.Schedule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.schedules[id]
	if row == nil {
		return nil, fmt.Errorf("schedule %s: %w", id, routine.ErrNotFound)
	}
	return s.shown(row, len(row.Parameters)), nil
}

func (s *Store) ScheduleValues(_ context.Context, id string) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.schedules[id]
	if row == nil {
		return nil, fmt.Errorf("schedule %s: %w", id, routine.ErrNotFound)
	}
	if len(row.Values) == 0 {
		return json.RawMessage(`{}`), nil
	}
	return slices.Clone(row.Values), nil
}

func (s *Store) Schedules(_ context.Context, f routine.ScheduleFilter) ([]*routine.Schedule, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*routine.Schedule{}
	for _, row := range s.schedules {
		if row.OrganizationID == f.OrganizationID && (f.RoutineID == "" || row.RoutineID == f.RoutineID) {
			list = append(list, s.shown(row, routine.MaxListedParameters))
		}
	}
	slices.SortFunc(list, func(a, b *routine.Schedule) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return pageOf(list, f.Limit, f.Offset), len(list), nil
}

func (s *Store) DueSchedules(_ context.Context, now time.Time, limit int) ([]*routine.Schedule, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*routine.Schedule{}
	for _, row := range s.schedules {
		if row.Enabled && (!row.NextAt.After(now) || row.MovedAt.After(now.Add(time.Hour))) {
			list = append(list, s.shown(row, 0))
		}
	}
	slices.SortFunc(list, func(a, b *routine.Schedule) int {
		return cmp.Or(a.NextAt.Compare(*b.NextAt), cmp.Compare(a.ID, b.ID))
	})
	turns, counts := map[string]int{}, map[string]int{} // by id, and by organization
	for _, sc := range list {
		turns[sc.ID] = counts[sc.OrganizationID]
		counts[sc.OrganizationID]++
	}
	slices.SortStableFunc(list, func(a, b *routine.Schedule) int { return cmp.Compare(turns[a.ID], turns[b.ID]) })
	return pageOf(list, limit, 0), now, nil
}

func (s *Store) ScheduleClock(_ context.Context, now time.Time) (time.Time, error) { return now, nil }

func (s *Store) MoveSchedule(_ context.Context, c *routine.ScheduleClaim, skip *routine.Skip) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.move(c, func(sc *schedule) {
		if skip != nil {
			sc.LastSkip = copyOf(skip)
		}
	})
}

// move makes a claim and records what came of it.
func (s *Store) move(c *routine.ScheduleClaim, record func(*schedule)) error {
	row := s.schedules[c.ID]
	if row == nil || !row.Enabled || row.Revision != c.Revision || !row.NextAt.Equal(c.Due) {
		return fmt.Errorf("schedule %s: %w", c.ID, routine.ErrNotDue)
	}
	row.NextAt, row.MovedAt = copyTime(&c.Next), *copyTime(&c.MovedAt)
	record(row)
	return nil
}

func (s *Store) CompareScheduleData(_ context.Context, id, executionID string, hash [32]byte) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.schedules[id]
	switch {
	case row == nil:
		return false, fmt.Errorf("schedule %s: %w", id, routine.ErrNotFound)
	case row.hash != nil && row.hashOf == executionID:
		return row.isChanged, nil
	case row.hash != nil && row.hashOf > executionID:
		return true, nil
	}
	row.isChanged = row.hash != nil && *row.hash != hash
	row.hash, row.hashOf = &hash, executionID
	return row.isChanged, nil
}
