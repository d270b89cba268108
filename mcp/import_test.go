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
