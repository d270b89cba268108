package service_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

func named(name, description string) []byte {
	return fmt.Appendf(nil, `{"name": %q, "description": %q, "operations": [{"type": "return_html"}]}`, name, description)
}

// put is PutRoutine as ann, which must succeed.
func put(t *testing.T, s *service.Service, name, description string, created bool) *routine.Routine {
	t.Helper()
	r, isNew, warnings, err := s.PutRoutine(t.Context(), ann, name, named(name, description), service.PutCondition{})
	if err != nil || isNew != created || len(warnings) != 0 {
		t.Fatalf("created %v, warnings %v, error %v", isNew, warnings, err)
	}
	return r
}

func TestPutRoutine(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	first := put(t, s, "a", "first", true)
	if again := put(t, s, "a", "first", false); again.ID != first.ID || again.Version != 1 {
		t.Errorf("the same definition again: %+v", again)
	}
	if second := put(t, s, "a", "second", false); second.ID != first.ID || second.Version != 2 || second.Description != "second" || second.ToolName != first.ToolName {
		t.Errorf("another definition: %+v", second)
	}
	if other := put(t, s, "b", "first", true); other.ID == first.ID {
		t.Error("another name changed the routine")
	}
	if got, err := s.RoutineNamed(t.Context(), ann, "a"); err != nil || got.ID != first.ID {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.ArchiveRoutine(t.Context(), ann, first.ID, nil); err != nil {
		t.Fatal(err)
	}
	if next := put(t, s, "a", "third", true); next.ID == first.ID {
		t.Error("an archived routine was changed")
	}
}

func TestPutRoutineRefuses(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	put(t, s, "a", "d", true)
	create(t, s, ann, string(named("twice", "one")))
	create(t, s, ann, string(named("twice", "two")))
	for _, row := range []struct {
		name      string
		as        routine.Principal
		path      string
		text      []byte
		condition service.PutCondition
		code      routine.Code
		words     string
	}{
		{"another name in the definition", ann, "a", named("b", "d"), service.PutCondition{}, routine.CodeInvalid, "make both the same"},
		{"a broken definition", ann, "a", []byte(`{"name": "a"}`), service.PutCondition{}, routine.CodeInvalid, "description"},
		{"a name that two routines have", ann, "twice", named("twice", "d"), service.PutCondition{}, routine.CodeConflict, "Routine_"},
		{"another version", ann, "a", named("a", "e"), service.PutCondition{Versions: []int{7}}, routine.CodePreconditionFailed, "version 1"},
		{"a version of what is not there", ann, "z", named("z", "e"), service.PutCondition{Versions: []int{1}}, routine.CodePreconditionFailed, "no routine has this name"},
		{"only a new one", ann, "a", named("a", "e"), service.PutCondition{New: true}, routine.CodePreconditionFailed, "has this name already"},
		{"nobody", nobody, "a", named("a", "e"), service.PutCondition{}, routine.CodeUnauthenticated, "token"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, _, _, err := s.PutRoutine(t.Context(), row.as, row.path, row.text, row.condition)
			if routine.CodeOf(err) != row.code || !strings.Contains(fmt.Sprint(err), row.words) {
				t.Errorf("%v (%s), want %s with %q", err, routine.CodeOf(err), row.code, row.words)
			}
		})
	}
	for _, row := range []struct {
		as   routine.Principal
		name string
		code routine.Code
	}{{ann, "no such", routine.CodeNotFound}, {ann, "twice", routine.CodeConflict}, {nobody, "a", routine.CodeUnauthenticated}, {bob, "a", routine.CodeNotFound}} {
		if _, err := s.RoutineNamed(t.Context(), row.as, row.name); routine.CodeOf(err) != row.code {
			t.Errorf("RoutineNamed(%q) as %q: %v, want %s", row.name, row.as.UserID, err, row.code)
		}
	}
}

// When many calls create a routine of one name at the same time, one creates it
// and the others change it.
func TestPutRoutineRace(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	var all sync.WaitGroup
	var mu sync.Mutex
	ids, created := map[string]bool{}, 0
	for i := range 8 {
		all.Go(func() {
			r, isNew, _, err := s.PutRoutine(t.Context(), ann, "a", named("a", fmt.Sprint(i)), service.PutCondition{})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids[r.ID] = true
			if isNew {
				created++
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || created != 1 {
		t.Errorf("%d routines, %d calls created one", len(ids), created)
	}
}

func TestCreateWarnsOfNamesakes(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	first := create(t, s, ann, string(named("a", "d")))
	for _, row := range []struct{ name, description, code string }{
		{name: "a", description: "d", code: "duplicate_routine"},
		{name: "a", description: "another", code: "duplicate_name"},
		{name: "b", description: "d", code: ""},
	} {
		_, warnings, err := s.CreateRoutine(t.Context(), ann, named(row.name, row.description), service.Idempotency{})
		if err != nil {
			t.Fatal(err)
		}
		if row.code == "" {
			if len(warnings) != 0 {
				t.Errorf("%s: %v", row.name, warnings)
			}
			continue
		}
		if len(warnings) != 1 || warnings[0].Code != row.code || !strings.Contains(warnings[0].Message, "Routine_") {
			t.Errorf("%s %s: %v", row.name, row.description, warnings)
		}
		if row.code == "duplicate_routine" && !strings.Contains(warnings[0].Message, first.ID) {
			t.Errorf("%v does not name %s", warnings, first.ID)
		}
	}
	if _, warnings, err := s.CreateRoutine(t.Context(), bob, named("a", "d"), service.Idempotency{}); err != nil || len(warnings) != 0 {
		t.Errorf("another organization is told of ann's: %v, %v", warnings, err)
	}
}
