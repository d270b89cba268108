package service_test

import (
	"testing"

	"rote/routine"
)

// An unpublished routine keeps the name of its tool. Callers who may change it
// find it by that name; other organizations do not.
func TestUnpublishedToolsAreFoundByName(t *testing.T) {
	s, r := editable(t)
	if _, err := s.PublishRoutine(t.Context(), ann, r.ID, false, nil); err != nil {
		t.Fatal(err)
	}
	other, writer, runner, reader := ann, ann, ann, ann
	other.OrganizationID = "globex"
	writer.Scopes, runner.Scopes, reader.Scopes = routine.ScopeRoutinesWrite, routine.ScopeExecutionsRun, routine.ScopeRoutinesRead
	for _, row := range []struct {
		name               string
		by                 routine.Principal
		tool               string
		holder, unlistedBy routine.Code
		total              int
	}{
		{"who may all", ann, r.ToolName, "", "", 1},
		{"who may write", writer, r.ToolName, "", routine.CodeForbidden, 0},
		{"who may read", reader, r.ToolName, "", routine.CodeForbidden, 0},
		{"who may only run", runner, r.ToolName, routine.CodeForbidden, routine.CodeForbidden, 0},
		{"another name", ann, "none", routine.CodeNotFound, "", 1},
		{"another organization", other, r.ToolName, routine.CodeNotFound, "", 0},
		{"nobody", routine.Principal{}, r.ToolName, routine.CodeUnauthenticated, routine.CodeUnauthenticated, 0},
	} {
		id, err := s.ToolOwner(t.Context(), row.by, row.tool)
		if routine.CodeOf(err) != row.holder || (id == r.ID) != (row.holder == "") {
			t.Errorf("%s: %q %v", row.name, id, err)
		}
		list, total, err := s.Unpublished(t.Context(), row.by, nil, 10)
		if routine.CodeOf(err) != row.unlistedBy || total != row.total || len(list) != total {
			t.Errorf("%s: %d of %d, %v", row.name, len(list), total, err)
		}
	}
	if _, total, err := s.Unpublished(t.Context(), ann, []string{"nosuchword"}, 10); err != nil || total != 0 {
		t.Errorf("%d %v", total, err)
	}
}
