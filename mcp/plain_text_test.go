package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/service"
)

// hiddenIn reports the first invisible character of a JSON value, in its keys
// or its strings, as a client decodes them.
func hiddenIn(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if s, ok := token.(string); ok && routine.PlainText(s) != s {
			return fmt.Sprintf("%+q", s)
		}
	}
}

// A definition cannot smuggle into an agent's context what people do not see.
func TestAgentsSeeNoInvisibleCharacters(t *testing.T) {
	const smuggled = "\u202e\u2066\u200e\u200f\u061c\ufeff\U000e0041\U000e007f\u200b\u2060\u009b\u001b[2J\u0007"
	x := func(s string) string { return s[:1] + smuggled + s[1:] }
	definition := map[string]any{
		"name": x("lookup"), "description": x("Looks up."), "tags": []string{x("tag")},
		"parameters": []any{
			map[string]any{"name": "a", "description": x("What"), "examples": []string{x("example")}},
			map[string]any{"name": "b", "description": "Which", "default": x("one"), "enum_values": []string{x("one"), x("two")}},
			map[string]any{"name": "c", "description": "How", "pattern": "a\u202e?", "required": false},
			map[string]any{"name": "d", "type": "date", "format": "YYYY\u2066MM", "required": false},
		},
		"operations": []any{
			map[string]any{"type": "navigate", "url": "https://shop.example/" + x("path") + "?q={{a}}{{b}}{{c}}{{d}}"},
			map[string]any{"type": "return_html", "scope": "element", "selector": "[title='" + strings.NewReplacer("\u0007", "", "\u001b", "").Replace(x("id")) + "']"},
		},
	}
	text, err := json.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	h := newTestServer(t).with(t, Config{Authoring: true})
	r, _, err := h.service.CreateRoutine(t.Context(), ann, text, service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, h.Server)
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	resources, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	read := mcp.ReadResourceRequest{}
	read.Params.URI = routineURI(r.ID)
	whole, err := c.ReadResource(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]any{"tools/list": tools, "resources/list": resources, "resources/read": whole}
	for tool, arguments := range map[string]map[string]any{
		"search_routines": {}, "describe_routine": {"id": r.ToolName}, "validate_routine": {"routine": definition}, r.ToolName: {"a": "1", "x" + smuggled: "y"},
		"update_routine": {"id": r.ToolName, "routine": definition}, "list_executions": {},
		"create_routine": {"routine": map[string]any{"name": "n", "description": "d", x("operatons"): 1, "operations": []any{map[string]any{"type": x("clik")}}}},
	} {
		result, _ := callTool(t, c, tool, arguments)
		seen[tool] = result
		if result.StructuredContent != nil {
			seen[tool+", structured"] = result.StructuredContent
		}
	}
	for what, v := range seen {
		if found := hiddenIn(t, v); found != "" {
			t.Errorf("%s shows %s", what, found)
		}
	}
	// What is read as JSON is the definition, to the letter.
	var stored struct{ Name string }
	if content, ok := whole.Contents[0].(mcp.TextResourceContents); !ok || json.Unmarshal([]byte(content.Text), &stored) != nil || stored.Name != x("lookup") {
		t.Errorf("%q", stored.Name)
	}
	// The checker still takes the value that the schema cannot list.
	if result, text := callTool(t, c, r.ToolName, map[string]any{"a": "1", "b": x("two")}); result.IsError && strings.Contains(text, "Invalid arguments") {
		t.Error(text)
	}
}
