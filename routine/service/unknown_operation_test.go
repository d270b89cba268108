package service_test

import (
	"encoding/json"
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
