package routinetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"rote/routine"
)

// projectOf names a project of an organization.
type projectOf struct{ organization, project string }

func (s *Store) ProjectState(_ context.Context, organizationID, projectID string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.states[projectOf{organizationID, projectID}]), nil
}

func (s *Store) SaveProjectState(_ context.Context, organizationID, projectID string, state []byte, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[projectOf{organizationID, projectID}] = slices.Clone(state)
	return nil
}

var statePromises = []promise{
	{"a project without a state has none", func(t *testing.T, s routine.Store) {
		if got, err := s.ProjectState(t.Context(), "o", "p"); got != nil || err != nil {
			t.Fatalf("%q %v", got, err)
		}
	}},
	{"a state is its project's own, and the last one saved", func(t *testing.T, s routine.Store) {
		for _, w := range []struct{ organization, project, state string }{
			{"o", "p", "first"}, {"o", "p", "second"}, {"o", "q", "of q"}, {"other", "p", "of other"}, {"o p", "", "odd"}, {"", "o p", "odder"},
		} {
			must(t, s.SaveProjectState(t.Context(), w.organization, w.project, []byte(w.state), time.Unix(1, 0)))
		}
		for _, w := range []struct{ organization, project, state string }{
			{"o", "p", "second"}, {"o", "q", "of q"}, {"other", "p", "of other"}, {"other", "q", ""}, {"o p", "", "odd"}, {"", "o p", "odder"},
		} {
			if got, err := s.ProjectState(t.Context(), w.organization, w.project); string(got) != w.state || err != nil {
				t.Errorf("%s/%s: %q %v, want %q", w.organization, w.project, got, err, w.state)
			}
		}
	}},
}
