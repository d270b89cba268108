package mcp

import (
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rote/routine/operation"
	"rote/schemas"
)

// fieldsOf returns the fields of a schema and the names of those that are required.
func fieldsOf(t *testing.T, path string) (all, required []string) {
	t.Helper()
	text, err := fs.ReadFile(schemas.Files, path)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(path, err)
	}
	return slices.Collect(maps.Keys(s.Properties)), s.Required
}

// An agent that has only the tools writes operations by the schema of try_operation. It names
// every type with the fields that are required, no field that does not exist, and the
// additions that lessons need.
func TestOperationsAreDescribed(t *testing.T) {
	var schema struct {
		Properties struct{ Operation struct{ Description string } }
	}
	for _, b := range lessonTools() {
		if b.name == "try_operation" {
			if err := json.Unmarshal([]byte(b.schema), &schema); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, list, _ := strings.Cut(schema.Properties.Operation.Description, "? optional: ")
	list, more, found := strings.Cut(list, ". click, input_text also: ")
	if !found {
		t.Fatalf("no types and fields in %q", schema.Properties.Operation.Description)
	}
	described := map[string][]string{}
	word := regexp.MustCompile(`[a-z_-]+`)
	for entry := range strings.SplitSeq(list, "; ") {
		words := word.FindAllString(entry, -1)
		described[words[0]] = words[1:]
	}
	endpoint, _ := fieldsOf(t, "endpoint.json")
	optional := regexp.MustCompile(`[a-z_-]+\?`)
	for _, kind := range operation.KindNames() {
		all, required := fieldsOf(t, "operations/"+kind+".json")
		fields, named := described[kind]
		if !named {
			t.Errorf("the type %s is missing", kind)
			continue
		}
		for _, field := range required {
			if field != "type" && !slices.Contains(fields, field) {
				t.Errorf("%s: the field %s is missing", kind, field)
			}
		}
		entry := list[strings.Index(list, kind):]
		entry, _, _ = strings.Cut(entry, ";")
		for _, field := range optional.FindAllString(entry, -1) {
			if field = strings.TrimSuffix(field, "?"); !slices.Contains(append(all, endpoint...), field) {
				t.Errorf("%s has no field %s", kind, field)
			}
		}
	}
	if len(described) != len(operation.KindNames()) {
		t.Errorf("types: %v", described)
	}
	for _, addition := range []string{"timeout_ms", "x-optional", "x-target"} {
		if !strings.Contains(more, addition) {
			t.Errorf("%s is missing in %q", addition, more)
		}
	}
}
