package service_test

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// A stored definition with an operation that this version does not know loads, so
// that the routine can be listed and read. A run ends at that operation and says
// what to do.
func TestUnknownOperationEndsTheRun(t *testing.T) {
	stored := `{"name":"n","description":"d","parameters":[],"operations":[{"type":"sleep","timeout_seconds":0.1},{"type":"teleport","to":"moon"}]}`
	d, err := routine.DecodeDefinition([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(d.Operations[1]); err != nil || string(text) != `{"type":"teleport","to":"moon"}` {
		t.Errorf("read back as %s, %v", text, err)
	}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	e, err := s.RunOnce(t.Context(), routine.Principal{}, &d, service.Call{})
	const want = `operation 2 of 2 (teleport): this version of rote has no operation "teleport": update rote, or replace the operation`
	if routine.CodeOf(err) != routine.CodeInvalid || err.Error() != want || len(e.Result.OperationsMetadata) != 2 {
		t.Errorf("%v", err)
	}
}

// A routine that a newer version has saved, with fields that this one does not know, can be
// read, but is not run or changed without them.
func TestFieldsOfANewerVersion(t *testing.T) {
	d, err := routine.DecodeDefinition([]byte(`{"name":"n","x-later":1,"description":"d","operations":[{"type":"return_html"}]}`))
	if err != nil || !d.Newer || d.Description != "d" || len(d.Operations) != 1 {
		t.Fatalf("decoded as %+v, %v", d, err)
	}
	store := routinetest.NewStore()
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	r := create(t, s, ann, private)
	later := *r
	later.Newer, later.Version = true, 2
	if err := store.UpdateRoutine(t.Context(), &later, "ann"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Routine(t.Context(), ann, r.ID); err != nil || got.Version != 2 {
		t.Errorf("read: %+v, %v", got, err)
	}
	for name, do := range map[string]func() error{
		"run": func() error { _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); return err },
		"change": func() error {
			_, _, err := s.PatchRoutine(t.Context(), ann, r.ID, []byte(`{"description":"other"}`), nil)
			return err
		},
		"archive": func() error { _, err := s.ArchiveRoutine(t.Context(), ann, r.ID, nil); return err },
	} {
		if err := do(); routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), "a newer version of rote has saved this routine") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
