package schemas

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// kinds are the operations of the interface, with their fields in its order.
var kinds = map[string][]string{
	"navigate":     {"type", "url", "sleep_after_navigation_seconds"},
	"sleep":        {"type", "timeout_seconds"},
	"fetch":        {"type", "endpoint", "session_storage_key", "data_sanitizer"},
	"return":       {"type", "session_storage_key"},
	"click":        {"type", "selector", "button", "click_count", "timeout_ms", "ensure_visible"},
	"input_text":   {"type", "selector", "text", "clear", "timeout_ms"},
	"press":        {"type", "key"},
	"wait_for_url": {"type", "url_regex", "timeout_ms"},
	"scroll":       {"type", "selector", "x", "y", "delta_x", "delta_y", "behavior", "timeout_ms"},
	"return_html":  {"type", "scope", "selector", "timeout_ms"},
	"get_cookies":  {"type", "session_storage_key", "domain_filter"},
	"download":     {"type", "endpoint", "filename"},
	"js_evaluate":  {"type", "js", "timeout_seconds", "session_storage_key"},
}

const step = "data_sanitizer.json#/$defs/step"

func TestOneFilePerKind(t *testing.T) {
	t.Parallel()
	var found []string
	for _, name := range files(t) {
		dir, file := path.Split(name)
		if dir != "operations/" {
			continue
		}
		kind := strings.TrimSuffix(file, ".json")
		found = append(found, kind)
		properties := object(t, read(t, name), "properties")
		if got := object(t, properties, "type")["const"]; got != kind {
			t.Errorf("%s: type is const %v", name, got)
		}
	}
	want := slices.Sorted(maps.Keys(kinds))
	if !slices.Equal(found, want) {
		t.Errorf("kinds with a file: %q, want %q", found, want)
	}

	items := object(t, object(t, read(t, "routine.json"), "properties", "operations"), "items")
	var listed []string
	for _, kind := range object(t, items, "properties", "type")["enum"].([]any) {
		listed = append(listed, kind.(string))
	}
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("kinds that routine.json lists: %q, want %q", listed, want)
	}
}

func TestFieldsAreInInterfaceOrder(t *testing.T) {
	t.Parallel()
	for kind, want := range kinds {
		name := "operations/" + kind + ".json"
		got := slices.DeleteFunc(fieldOrder(t, name), func(field string) bool { return strings.HasPrefix(field, "x-") }) // rote's own
		if !slices.Equal(got, want) {
			t.Errorf("%s: fields %q, want %q", name, got, want)
		}
	}
}

func TestFilesCompileUnderTheirID(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	for _, name := range files(t) {
		doc := read(t, name)
		if want := BaseURL + name; doc["$id"] != want {
			t.Errorf("%s: $id %v, want %s", name, doc["$id"], want)
		}
		if want := "https://json-schema.org/draft/2020-12/schema"; doc["$schema"] != want {
			t.Errorf("%s: $schema %v, want %s", name, doc["$schema"], want)
		}
		if _, err := c.Compile(BaseURL + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Combinators answer with the failures of every branch, which no author can
// read, and clients of tool schemas refuse them.
func TestNoCombinators(t *testing.T) {
	t.Parallel()
	for _, name := range files(t) {
		walk(read(t, name), name+"#", func(at string, schema map[string]any, _ bool) {
			for _, word := range []string{"oneOf", "anyOf", "allOf", "not", "if"} {
				if _, ok := schema[word]; ok {
					t.Errorf("%s: uses %s", at, word)
				}
			}
		})
	}
}

func TestOnlyExtensionsMayBeUnknownFields(t *testing.T) {
	t.Parallel()
	for _, name := range files(t) {
		walk(read(t, name), name+"#", func(at string, schema map[string]any, _ bool) {
			// Routines may hold unknown fields, and their operations are
			// checked by kind.
			if schema["properties"] == nil || strings.HasPrefix(at, "routine.json#") {
				return
			}
			if schema["additionalProperties"] != false {
				t.Errorf("%s: lets unknown fields pass", at)
			}
			if got := object(t, schema, "patternProperties"); len(got) != 1 || got["^x-"] != true {
				t.Errorf("%s: patternProperties %v, want only x- fields", at, got)
			}
		})
	}
}

func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	for _, name := range files(t) {
		walk(read(t, name), name+"#", func(at string, schema map[string]any, property bool) {
			if text, _ := schema["description"].(string); strings.TrimSpace(text) == "" {
				t.Errorf("%s: no description", at)
			}
			if _, fixed := schema["const"]; property && !fixed && schema["examples"] == nil {
				t.Errorf("%s: no examples", at)
			}
		})
		if doc := read(t, name); doc["examples"] == nil {
			t.Errorf("%s: no examples", name)
		}
	}
}

func TestDefaultsAndExamplesSatisfyTheirSchema(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	for _, name := range files(t) {
		walk(read(t, name), name+"#", func(at string, schema map[string]any, _ bool) {
			compiled, err := c.Compile(BaseURL + at)
			if err != nil {
				t.Errorf("%s: %v", at, err)
				return
			}
			if value, ok := schema["default"]; ok {
				if err := compiled.Validate(value); err != nil {
					t.Errorf("%s: default: %v", at, err)
				}
			}
			examples, _ := schema["examples"].([]any)
			for _, example := range examples {
				if err := compiled.Validate(example); err != nil {
					t.Errorf("%s: example %v: %v", at, example, err)
				}
			}
		})
	}
}

// Examples also obey the rules that the schema leaves to Go: those of the
// operations of a routine and of the steps of a data_sanitizer.
func TestNestedExamplesAreValid(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	valid := func(at, ref string, value any) {
		if err := c.MustCompile(BaseURL + ref).Validate(value); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	operation := func(at string, op map[string]any) {
		valid(at, "operations/"+op["type"].(string)+".json", op)
		for _, s := range steps(op["data_sanitizer"]) {
			valid(at, step, s)
		}
	}
	for _, name := range files(t) {
		for _, example := range read(t, name)["examples"].([]any) {
			switch {
			case name == "routine.json":
				for _, op := range example.(map[string]any)["operations"].([]any) {
					operation(name, op.(map[string]any))
				}
			case name == "data_sanitizer.json":
				for _, s := range steps(example) {
					valid(name, step, s)
				}
			case strings.HasPrefix(name, "operations/"):
				operation(name, example.(map[string]any))
			}
		}
	}
	for _, example := range object(t, read(t, "operations/fetch.json"), "properties", "data_sanitizer")["examples"].([]any) {
		for _, s := range steps(example) {
			valid("operations/fetch.json#/properties/data_sanitizer", step, s)
		}
	}
}

func TestDefaultsMatchInterface(t *testing.T) {
	t.Parallel()
	rows := []struct {
		schema string
		want   string
	}{
		{"operations/navigate.json", `{"sleep_after_navigation_seconds":0}`},
		{"operations/sleep.json", `{}`},
		{"operations/fetch.json", `{"data_sanitizer":null,"session_storage_key":null}`},
		{"operations/return.json", `{}`},
		{"operations/click.json", `{"button":"left","click_count":1,"ensure_visible":true,"timeout_ms":20000}`},
		{"operations/input_text.json", `{"clear":false,"timeout_ms":20000}`},
		{"operations/press.json", `{}`},
		{"operations/wait_for_url.json", `{"timeout_ms":20000}`},
		{"operations/scroll.json", `{"behavior":"auto","delta_x":null,"delta_y":null,"selector":null,"timeout_ms":20000,"x":null,"y":null}`},
		{"operations/return_html.json", `{"scope":"page","selector":null,"timeout_ms":20000}`},
		{"operations/get_cookies.json", `{"domain_filter":"*"}`},
		{"operations/download.json", `{}`},
		{"operations/js_evaluate.json", `{"session_storage_key":null,"timeout_seconds":5}`},
		{"endpoint.json", `{"body":null,"credentials":"same-origin","description":null,"headers":null,"method":"GET"}`},
		{"routine.json", `{"incognito":true,"is_mcp_tool_designated":true,"is_public":false,"parameters":[],"tags":[]}`},
	}
	for _, row := range rows {
		defaults := map[string]any{}
		for field, schema := range object(t, read(t, row.schema), "properties") {
			if value, ok := schema.(map[string]any)["default"]; ok {
				defaults[field] = value
			}
		}
		got, err := json.Marshal(defaults)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != row.want {
			t.Errorf("%s: defaults %s, want %s", row.schema, got, row.want)
		}
	}
}

// walk visits a schema and those within it, with the JSON pointer of each.
// property is true for the schema of a named field.
func walk(schema map[string]any, at string, visit func(at string, schema map[string]any, property bool)) {
	var down func(schema map[string]any, at string, property bool)
	down = func(schema map[string]any, at string, property bool) {
		visit(at, schema, property)
		for _, word := range []string{"properties", "$defs"} {
			group, _ := schema[word].(map[string]any)
			for name, inner := range group {
				down(inner.(map[string]any), at+"/"+word+"/"+name, word == "properties")
			}
		}
		for _, word := range []string{"items", "additionalProperties"} {
			if inner, ok := schema[word].(map[string]any); ok {
				down(inner, at+"/"+word, false)
			}
		}
	}
	down(schema, at, false)
}

// steps are those of a data_sanitizer in either of its forms.
func steps(sanitizer any) []any {
	switch s := sanitizer.(type) {
	case nil:
		return nil
	case []any:
		return s
	default:
		return []any{s}
	}
}

func compiler(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	c := jsonschema.NewCompiler()
	for _, name := range files(t) {
		id, _ := read(t, name)["$id"].(string)
		if err := c.AddResource(id, bytes.NewReader(text(t, name))); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func files(t *testing.T) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// fieldOrder reads the names under properties as the file orders them.
func fieldOrder(t *testing.T, name string) []string {
	t.Helper()
	var file struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(text(t, name), &file); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(file.Properties))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var order []string
	for d.More() {
		field, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		order = append(order, field.(string))
		var schema json.RawMessage
		if err := d.Decode(&schema); err != nil {
			t.Fatal(err)
		}
	}
	return order
}

func read(t *testing.T, name string) map[string]any {
	t.Helper()
	return decode(t, text(t, name)).(map[string]any)
}

func text(t *testing.T, name string) []byte {
	t.Helper()
	b, err := Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decode keeps numbers as they are spelt, as the service does.
func decode(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// object follows the names down to an object within v.
func object(t *testing.T, v map[string]any, names ...string) map[string]any {
	t.Helper()
	for _, name := range names {
		inner, ok := v[name].(map[string]any)
		if !ok {
			t.Fatalf("no object %q", name)
		}
		v = inner
	}
	return v
}
