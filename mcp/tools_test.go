package mcp

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// published is a routine for each thing a tool can say.
var published = []string{
	`{"name": "Search flights", "description": "Finds flights between two airports,\n cheapest first.",
	  "parameters": [
		{"name": "date", "type": "date", "description": "Day of departure", "examples": ["2031-02-03"]},
		{"name": "from", "description": "Airport code.", "validation": {"pattern": "^[A-Z]{3}$", "min_length": 3, "max_length": 3}, "observed_value": "OSL"},
		{"name": "cabin", "type": "enum", "default": "economy", "description": "Where to sit", "validation": {"enum_values": ["economy", "business"]}},
		{"name": "adults", "type": "integer", "required": false, "default": "1", "description": "Travellers", "validation": {"min_value": 1, "max_value": 9}},
		{"name": "max_price", "type": "number", "required": false, "description": "In euros", "examples": [199.5]},
		{"name": "direct", "type": "boolean", "default": false, "description": "Without stops only"}],
	  "operations": [
		{"type": "fetch", "endpoint": {"url": "https://air.example/?d={{date}}&f={{from}}&c={{cabin}}&a={{adults}}&p={{max_price}}&n={{direct}}"}, "session_storage_key": "flights"},
		{"type": "return", "session_storage_key": "flights"}]}`,
	`{"name": "post-order", "description": "Orders.",
	  "parameters": [
		{"name": "at", "type": "datetime", "description": "When"},
		{"name": "mail", "type": "email", "description": "Whose"},
		{"name": "shop", "type": "url", "description": "Where"},
		{"name": "born", "type": "date", "description": "Birthday", "validation": {"format": "DD.MM.YYYY"}},
		{"name": "password", "description": "Of the shop", "x-secret": true, "default": "hunter2", "examples": ["hunter2"]},
		{"name": "voucher", "required": false, "description": "` + strings.Repeat("Long words. ", 30) + `", "validation": {"pattern": "^(?=.*\\d)\\w+$"}},
		{"name": "size", "type": "integer", "description": "Shoe size", "validation": {"enum_values": [40, 41]}}],
	  "operations": [
		{"type": "fetch", "endpoint": {"url": "{{shop}}", "method": "POST", "body": ["{{at}}", "{{mail}}", "{{born}}", "{{password}}", "{{voucher}}", "{{size}}"]}}]}`,
	`{"name": "Größe!", "description": "` + strings.Repeat("Lang. ", 200) + `", "operations": [
		{"type": "navigate", "url": "https://shop.example/"}, {"type": "click", "selector": "#all"}, {"type": "return_html", "scope": "element", "selector": "#size"}]}`,
	`{"name": "Größe", "description": "The same name, almost.", "operations": [
		{"type": "download", "endpoint": {"url": "https://shop.example/chart.png"}, "filename": "chart.png"}]}`,
}

var routineIDs = regexp.MustCompile(`Routine_[0-9a-f-]{36}`)
var nameSuffix = regexp.MustCompile(`grosse_[a-z2-7]{5}`) // of the second of two alike names

// The published tools are a contract: the golden files show each change of it.
func TestToolsGolden(t *testing.T) {
	h := newTestServer(t, published...)
	golden(t, h.Server, "tools.golden.json")
	golden(t, newTestServer(t).with(t, Config{Authoring: true}).Server, "authoring.golden.json")
	golden(t, newTestServer(t).with(t, Config{Lessons: newFakeLessons()}).Server, "teach.golden.json")
}

// golden holds the list of tools against a file.
func golden(t *testing.T, s *Server, file string) {
	t.Helper()
	p := initialized(t, s)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var got bytes.Buffer
	if err := json.Indent(&got, []byte(p.result("1").Result), "", "  "); err != nil {
		t.Fatal(err)
	}
	text := routineIDs.ReplaceAllString(got.String(), "Routine_ID") + "\n"
	text = nameSuffix.ReplaceAllString(text, "grosse_SUFFI")
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// No definition produces a schema with constructs that clients are known to
// reject.
func TestToolsUseOnlyWhatClientsAccept(t *testing.T) {
	p := initialized(t, newTestServer(t, published...).Server)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var list struct {
		Tools []struct {
			Name, Description string
			InputSchema       map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(p.result("1").Result, &list); err != nil || len(list.Tools) != len(published)+len(runTools()) {
		t.Fatalf("%d tools, error %v", len(list.Tools), err)
	}
	forbidden := regexp.MustCompile(`"(\$ref|\$schema|oneOf|anyOf|allOf|examples|x-[a-z-]+)":|"type":\[`)
	for _, tool := range list.Tools {
		if !regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`).MatchString(tool.Name) {
			t.Errorf("name %q", tool.Name)
		}
		if n := len([]rune(tool.Description)); n > 600 {
			t.Errorf("%s: description of %d characters", tool.Name, n)
		}
		if string(tool.InputSchema["type"]) != `"object"` || string(tool.InputSchema["additionalProperties"]) != "false" {
			t.Errorf("%s: schema %s", tool.Name, tool.InputSchema)
		}
		for key, value := range tool.InputSchema {
			if bad := forbidden.FindString(fmt.Sprintf("%q:%s", key, value)); bad != "" {
				t.Errorf("%s: schema has %s", tool.Name, bad)
			}
		}
	}
}

// What is listed is what package tool describes, so that other front ends can show it.
func TestListedToolsAreThoseOfPackageTool(t *testing.T) {
	h := newTestServer(t)
	want := map[string]any{}
	for _, d := range published {
		r := create(t, h.service, ann, d)
		want[r.ToolName] = jsonValue(t, routine.RawJSON(tool.Of(r)))
	}
	p := initialized(t, h.Server)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var list struct{ Tools []map[string]any }
	if err := json.Unmarshal(p.result("1").Result, &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, listed := range list.Tools {
		if _, ofRoutine := listed["_meta"]; ofRoutine {
			delete(listed, "_meta")
			got[listed["name"].(string)] = listed
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != len(published) {
		t.Errorf("(-package tool +tools/list):\n%s", diff)
	}
}

// jsonValue returns a JSON text as a value.
func jsonValue(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
