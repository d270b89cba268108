package service_test

import (
	"slices"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// The difference of two versions is a patch that makes one of the other.
func TestJSONPatchAppliesDifferences(t *testing.T) {
	s, first := editable(t)
	second, _, err := s.PatchRoutine(t.Context(), ann, first.ID,
		[]byte(`{"description": "new", "tags": ["b"], "operations": [{"type": "press", "key": "Tab"}, {"type": "return_html"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	difference, err := s.DiffVersions(t.Context(), ann, first.ID, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.RestoreRoutine(t.Context(), ann, first.ID, 1, nil); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.JSONPatchRoutine(t.Context(), ann, first.ID, difference, []int{3})
	if err != nil || got.Version != 4 || routine.JSONText(got.Definition) != routine.JSONText(second.Definition) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A patch can test what the definition holds, so it is for those who may read it.
func TestJSONPatchNeedsToRead(t *testing.T) {
	s, r := editable(t)
	blind := ann
	blind.Scopes = routine.ScopeRoutinesWrite
	probe := []byte(`[{"op":"test","path":"/name","value":"n"}]`)
	if _, _, err := s.JSONPatchRoutine(t.Context(), blind, r.ID, probe, nil); routine.CodeOf(err) != routine.CodeForbidden {
		t.Error(err)
	}
}

// Tags that were stored before there were limits stay until they are changed.
func TestJSONPatchLeavesTagsAlone(t *testing.T) {
	store := routinetest.NewStore()
	s := service.New(service.Config{Store: store})
	old := routinetest.Routine(t, func(r *routine.Routine) {
		r.OrganizationID, r.Tags = ann.OrganizationID, append(slices.Repeat([]string{"a"}, 60), "")
	})
	if err := store.CreateRoutine(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	r, _, err := s.JSONPatchRoutine(t.Context(), ann, old.ID, []byte(`[{"op":"replace","path":"/description","value":"new"}]`), nil)
	if err != nil || r.Version != 2 || len(r.Tags) != 61 {
		t.Fatal(r, err)
	}
	if r, _, err = s.JSONPatchRoutine(t.Context(), ann, old.ID, []byte(`[{"op":"replace","path":"/tags","value":["b"]}]`), nil); err != nil || len(r.Tags) != 1 {
		t.Fatal(r, err)
	}
}
