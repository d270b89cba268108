package mcp

import (
	"strings"
	"testing"
)

// An agent mends one field of a routine without sending the rest.
func TestUpdateWithAPatch(t *testing.T) {
	h := newTestServer(t, buy).with(t, Config{Authoring: true})
	c := connect(t, h.Server)
	mend := []any{map[string]any{"op": "replace", "path": "/operations/1/selector", "value": "#order"}}
	var saved savedResult
	if own(t, c, "update_routine", map[string]any{"id": "buy", "patch": mend, "expected_version": 1}, &saved); saved.Version != 2 || saved.Tool != "buy" {
		t.Errorf("%+v", saved)
	}
	var d routineDescription
	own(t, c, "describe_routine", map[string]any{"id": "buy", "definition": true}, &d)
	if text := string(d.Definition); !strings.Contains(text, "#order") || strings.Contains(text, "#buy") {
		t.Errorf("definition %s", text)
	}
	for _, row := range []struct {
		name      string
		arguments map[string]any
		want      string
	}{
		{"another version", map[string]any{"id": "buy", "patch": mend, "expected_version": 1}, "[precondition_failed]"},
		{"no routine", map[string]any{"patch": mend}, "id is required"},
		{"two ways at once", map[string]any{"id": "buy", "patch": mend, "routine": map[string]any{}}, "either routine or patch"},
		{"neither way", map[string]any{"id": "buy"}, "routine is missing"},
		{"a path that leads nowhere", map[string]any{"id": "buy", "patch": []any{map[string]any{"op": "remove", "path": "/operations/9"}}},
			"the step does not apply"},
		{"an invalid result", map[string]any{"id": "buy", "patch": []any{map[string]any{"op": "remove", "path": "/operations"}}}, "needs the field \"operations\""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if result, text := callTool(t, c, "update_routine", row.arguments); !result.IsError || !strings.Contains(text, row.want) {
				t.Errorf("got %s", text)
			}
		})
	}
	if own(t, c, "describe_routine", map[string]any{"id": "buy"}, &d); d.Version != 2 {
		t.Errorf("a refused change made version %d", d.Version)
	}
}
