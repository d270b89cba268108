package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/importer"
	"rote/routine/lesson"
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

// With resolve the operations are tried in a lesson, with the values and the session of the call.
func TestImportAndResolve(t *testing.T) {
	lessons := &fakeLessons{tried: lesson.Tried{Info: lesson.Info{ID: "Lesson_1"}, OK: true, Stopped: "Operation 2 may send something."}}
	c := connect(t, newTestServer(t).with(t, Config{Authoring: true, Lessons: lessons}).Server)
	arguments := map[string]any{"source": "curl https://shop.example/", "resolve": "true", "values": map[string]any{"query": "lamp"}, "session": "shop"}
	result, text := callTool(t, c, "import_routine", arguments)
	want := lesson.ImportRequest{Request: importer.Request{Source: "curl https://shop.example/"}, Resolve: true, Session: "shop",
		Values: map[string]json.RawMessage{"query": json.RawMessage(`"lamp"`)}}
	if diff := cmp.Diff(want, lessons.one(t)); diff != "" || result.IsError {
		t.Errorf("%s\n%s", diff, text)
	}
	for _, part := range []string{"Lesson_1 is open", "Operation 2 may send something.", "Imported: 1 steps: 1 carried"} {
		if !strings.Contains(text, part) {
			t.Errorf("the answer lacks %s:\n%s", part, text)
		}
	}
	delete(arguments, "resolve")
	if result, text = callTool(t, c, "import_routine", arguments); !result.IsError || !strings.Contains(text, "are for resolve") {
		t.Errorf("%s", text)
	}
	arguments["resolve"] = true
	c = connect(t, newTestServer(t).with(t, Config{Authoring: true}).Server)
	if result, text = callTool(t, c, "import_routine", arguments); !result.IsError || !strings.Contains(text, "--toolsets need teach") {
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
