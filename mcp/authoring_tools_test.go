package mcp

import (
	"strings"
	"testing"

	"rote/routine"
)

// An agent writes a routine from nothing to an archived one.
func TestAuthoring(t *testing.T) {
	h := newTestServer(t).with(t, Config{Authoring: true})
	c := connect(t, h.Server)
	definition := func(description string) map[string]any {
		return map[string]any{"name": "made", "description": description, "operations": []any{map[string]any{"type": "return_html"}}}
	}
	var v validation
	own(t, c, "validate_routine", map[string]any{"routine": map[string]any{"name": "made", "description": "d", "operations": []any{map[string]any{"type": "clik"}}}}, &v)
	if v.Valid || len(v.Errors) != 2 || v.Errors[1].Pointer != "/operations/0/type" || !strings.Contains(v.Errors[1].Hint, "click") {
		t.Errorf("%+v", v)
	}
	own(t, c, "validate_routine", map[string]any{"routine": `{"name":"made","description":"as text","operations":[{"type":"return_html"}]}`}, &v)
	if !v.Valid || len(v.Errors) != 0 {
		t.Errorf("%+v", v)
	}
	var made savedResult
	own(t, c, "create_routine", map[string]any{"routine": definition("first")}, &made)
	if made.Tool != "made" || made.Version != 1 || !made.Listed {
		t.Fatalf("%+v", made)
	}
	if result, text := callTool(t, c, "made", nil); result.IsError {
		t.Error(text)
	}
	own(t, c, "update_routine", map[string]any{"id": "made", "routine": definition("second"), "expected_version": "1"}, &made)
	if made.Tool != "made" || made.Version != 2 {
		t.Errorf("%+v", made)
	}
	if result, text := callTool(t, c, "update_routine", map[string]any{"id": "made", "routine": definition("third"),
		"expected_version": 1}); !result.IsError || !strings.Contains(text, "[precondition_failed]") {
		t.Error(text)
	}
	var byName savedResult
	own(t, c, "update_routine", map[string]any{"routine": definition("second")}, &byName)
	if byName.ID != made.ID || byName.Version != 2 {
		t.Errorf("update by name: %+v", byName)
	}
	other := definition("other")
	other["name"] = "other made"
	own(t, c, "update_routine", map[string]any{"routine": other}, &byName)
	if byName.ID == made.ID || byName.Version != 1 || byName.Tool != "other_made" {
		t.Errorf("creation by name: %+v", byName)
	}
	own(t, c, "archive_routine", map[string]any{"id": byName.ID}, &byName)
	var d routineDescription
	own(t, c, "describe_routine", map[string]any{"id": "made"}, &d)
	if d.Description != "second" {
		t.Errorf("%+v", d)
	}
	mayRun := ann
	mayRun.Scopes = routine.ScopeExecutionsRun | routine.ScopeRoutinesRead
	users := connectAs(t, h.Server, mayRun)
	for _, step := range []struct {
		tool      string
		arguments map[string]any
		listed    bool
	}{
		{"publish_routine", map[string]any{"id": "made", "on": "false"}, false},
		{"publish_routine", map[string]any{"id": "made", "on": true}, true},
		{"publish_routine", map[string]any{"id": "made", "on": "false"}, false},
		{"archive_routine", map[string]any{"id": "made"}, false},
		{"archive_routine", map[string]any{"id": "made"}, false},
		{"publish_routine", map[string]any{"id": "made", "on": true}, true},
		{"archive_routine", map[string]any{"id": "made"}, false},
		{"publish_routine", map[string]any{"id": made.ID, "on": true}, true},
	} {
		own(t, c, step.tool, step.arguments, &made)
		var all struct {
			Total    int
			Routines []searchHit
		}
		own(t, c, "search_routines", map[string]any{"query": "second"}, &all)
		if made.Listed != step.listed || all.Total != 1 || len(all.Routines) != 1 || all.Routines[0].Tool != "made" || (all.Routines[0].Published == nil) != step.listed {
			t.Errorf("%s %v: %+v, found %+v", step.tool, step.arguments, made, all)
		}
		own(t, users, "search_routines", map[string]any{}, &all)
		if (all.Total == 1) != step.listed {
			t.Errorf("%s %v: %d found by who may not author", step.tool, step.arguments, all.Total)
		}
		var d routineDescription
		if own(t, c, "describe_routine", map[string]any{"id": "made"}, &d); d.ID != made.ID {
			t.Errorf("%s %v: %+v", step.tool, step.arguments, d)
		}
	}
	var list struct {
		Executions []executionRow
		Total      int
	}
	own(t, c, "list_executions", map[string]any{"routine_id": "made", "status": "completed"}, &list)
	if list.Total != 1 || len(list.Executions) != 1 || list.Executions[0].RoutineName != "made" {
		t.Errorf("%+v", list)
	}
	own(t, c, "list_executions", map[string]any{"routine_id": "made", "schedule_id": "Schedule_x"}, &list)
	if list.Total != 0 {
		t.Errorf("of a schedule that started none: %+v", list)
	}
}
