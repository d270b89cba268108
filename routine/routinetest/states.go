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

func (s *Store) SaveProjectState(_ context.Context, organizationID string, state *routine.BrowserState, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[projectOf{organizationID, state.ProjectID}] = slices.Clone(state.Data)
	return nil
}

// SaveState saves the browser state of a project, as a run does that ends.
func SaveState(t *testing.T, s routine.Store, organizationID, projectID, state string) {
	t.Helper()
	e := Execution(t, func(e *routine.Execution) { e.OrganizationID = organizationID })
	must(t, s.CreateExecution(t.Context(), e))
	e = Ended(e)
	e.State = &routine.BrowserState{ProjectID: projectID, Data: []byte(state)}
	must(t, s.FinishExecution(t.Context(), e))
}

func wantState(t *testing.T, s routine.Store, organizationID, projectID, want string) {
	t.Helper()
	if got, err := s.ProjectState(t.Context(), organizationID, projectID); string(got) != want || err != nil {
		t.Errorf("state of %s/%s: %q %v, want %q", organizationID, projectID, got, err, want)
	}
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
			SaveState(t, s, w.organization, w.project, w.state)
		}
		for _, w := range []struct{ organization, project, state string }{
			{"o", "p", "second"}, {"o", "q", "of q"}, {"other", "p", "of other"}, {"other", "q", ""}, {"o p", "", "odd"}, {"", "o p", "odder"},
		} {
			wantState(t, s, w.organization, w.project, w.state)
		}
	}},
	{"a state may have no execution", func(t *testing.T, s routine.Store) {
		SaveState(t, s, "acme", "p", "first")
		must(t, s.SaveProjectState(t.Context(), "acme", &routine.BrowserState{ProjectID: "p", Data: []byte("second")}, Time))
		wantState(t, s, "acme", "p", "second")
		must(t, s.SaveProjectState(t.Context(), "acme", &routine.BrowserState{ProjectID: "q", Data: []byte("third")}, Time))
		wantState(t, s, "acme", "q", "third")
	}},
	{"a state is saved only if its execution ends with it", func(t *testing.T, s routine.Store) {
		SaveState(t, s, "acme", "p", "first")
		late, lost := create(t, s), Execution(t)
		must(t, s.FinishExecution(t.Context(), Failed(late)))
		for _, e := range []*routine.Execution{late, lost} {
			e = Ended(e)
			e.State = &routine.BrowserState{ProjectID: "p", Data: []byte("second")}
			if err := s.FinishExecution(t.Context(), e); err == nil {
				t.Error("an execution that is final or missing was finished")
			}
			wantState(t, s, "acme", "p", "first")
		}
	}},
}
