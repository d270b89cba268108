package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

// An agent reads a definition, changes it and saves it, with tools alone.
func TestDescribedDefinitionCanBeSavedAgain(t *testing.T) {
	h := newTestServer(t).with(t, Config{Authoring: true})
	create(t, h.service, ann, `{"name": "open", "description": "Opens\u200b a page.", "parameters": [{"name": "id"}],
		"operations": [{"type": "navigate", "url": "https://shop.example/{{id}}"}]}`)
	c := connect(t, h.Server)
	var d routineDescription
	if own(t, c, "describe_routine", map[string]any{"id": "open"}, &d); d.Definition != nil {
		t.Errorf("the definition was not asked for: %s", d.Definition)
	}
	own(t, c, "describe_routine", map[string]any{"id": "open", "definition": "true"}, &d)
	var definition map[string]any
	if err := json.Unmarshal(d.Definition, &definition); err != nil || !strings.Contains(string(d.Definition), `\u200b`) {
		t.Fatalf("%s, %v", d.Definition, err)
	}
	var saved savedResult
	if own(t, c, "update_routine", map[string]any{"id": "open", "routine": definition}, &saved); saved.Version != 1 {
		t.Errorf("the same definition made version %d", saved.Version)
	}
	definition["operations"] = append(definition["operations"].([]any), map[string]any{"type": "return_html"})
	if own(t, c, "update_routine", map[string]any{"id": "open", "routine": definition}, &saved); saved.Version != 2 {
		t.Errorf("the change made version %d", saved.Version)
	}
	own(t, c, "describe_routine", map[string]any{"id": "open", "definition": true}, &d)
	if !strings.Contains(string(d.Definition), "return_html") || d.Version != 2 {
		t.Errorf("%+v", d)
	}
}

// A definition that is too large for an answer is named instead.
func TestLargeDefinitionIsNotDescribed(t *testing.T) {
	h := newTestServer(t, `{"name": "large", "description": "Large.", "operations": [`+
		strings.Repeat(`{"type": "navigate", "url": "https://shop.example/a/long/path"},`, 1000)+`{"type": "return_html"}]}`)
	c := connect(t, h.Server)
	var d routineDescription
	_, text := callTool(t, c, "describe_routine", map[string]any{"id": "large", "definition": true})
	if err := json.Unmarshal([]byte(text), &d); err != nil || len(text) > maxResult {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if want := "read the resource " + routineURI(d.ID); d.Definition != nil || !strings.Contains(d.Note, want) {
		t.Errorf("note %q, want %q", d.Note, want)
	}
}

// A definition is shown only to those who may read routines.
func TestDefinitionNeedsItsScope(t *testing.T) {
	h := newTestServer(t, named("only"))
	p := ann
	p.Scopes = routine.ScopeExecutionsRun
	for _, definition := range []bool{false, true} {
		result, text := callTool(t, connectAs(t, h.Server, p), "describe_routine", map[string]any{"id": "only", "definition": definition})
		if result.IsError != definition || definition && !strings.Contains(text, "[forbidden]") || strings.Contains(text, "navigate") {
			t.Errorf("%s: %s", fmt.Sprint(definition), text)
		}
	}
}
