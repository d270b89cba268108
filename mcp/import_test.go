package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
)

// A recording becomes a routine, with an account of its steps and without its secrets.
func TestImportRoutine(t *testing.T) {
	c := connect(t, newTestServer(t).with(t, Config{Authoring: true}).Server)
	recording := `{"steps": [{"type": "navigate", "url": "https://shop.example/"},
		{"type": "change", "value": "hunter2", "selectors": [["#password"]]}, {"type": "customStep", "name": "x"}]}`
	result, text := callTool(t, c, "import_routine", json.RawMessage(routine.JSONText(map[string]string{"source": recording})))
	if result.IsError || result.StructuredContent == nil || strings.Contains(text, "hunter2") {
		t.Fatalf("%+v", result)
	}
	for _, want := range []string{`"valid":true`, `"text":"{{password}}"`, `"dropped":1`, `"code":"custom_step"`, `"line":2`} {
		if !strings.Contains(text, want) {
			t.Errorf("the answer lacks %s:\n%s", want, text)
		}
	}
	result, text = callTool(t, c, "import_routine", json.RawMessage(`{"source":"{\"steps\": [1 2]}"}`))
	if !result.IsError || !strings.Contains(text, "line 1: ") || !strings.Contains(text, "comma") {
		t.Errorf("%s", text)
	}
}

// A routine is given for another tool, to those who may read routines.
func TestExportRoutine(t *testing.T) {
	h := newTestServer(t, named("only"))
	result, text := callTool(t, connect(t, h.Server), "describe_routine", map[string]any{"id": "only", "export": "playwright"})
	if result.IsError || !strings.Contains(text, "await page.goto(") || !strings.Contains(text, `"report":{"steps":`) {
		t.Errorf("%s", text)
	}
	p := ann
	p.Scopes = routine.ScopeExecutionsRun
	for format, want := range map[string]string{"tape": "it is one of recorder, playwright, curl", "curl": "[forbidden]"} {
		c := connect(t, h.Server)
		if format == "curl" {
			c = connectAs(t, h.Server, p)
		}
		if result, text = callTool(t, c, "describe_routine", map[string]any{"id": "only", "export": format}); !result.IsError || !strings.Contains(text, want) {
			t.Errorf("%s: %s", format, text)
		}
	}
}
