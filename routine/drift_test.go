package routine

import (
	"encoding/json"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/schemas"
)

// property is what a schema says of one field.
type property struct {
	Type    any             `json:"type"`
	Ref     string          `json:"$ref"`
	Enum    []any           `json:"enum"`
	Const   any             `json:"const"`
	Default json.RawMessage `json:"default"`
}

func (p property) isText() bool {
	if list, ok := p.Type.([]any); ok {
		return slices.Contains(list, any("string"))
	}
	return p.Type == "string"
}

type schemaFile struct {
	Properties map[string]property `json:"properties"`
}

func readSchema(t *testing.T, path string) schemaFile {
	t.Helper()
	text, err := fs.ReadFile(schemas.Files, path)
	if err != nil {
		t.Fatal(err)
	}
	var s schemaFile
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(path, err)
	}
	return s
}

// The table of kinds, the schemas and the op files name the same kinds.
func TestKindsAreInEveryPlace(t *testing.T) {
	table := KindNames()
	sort.Strings(table)
	var published, files []string
	entries, err := fs.ReadDir(schemas.Files, "operations")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		published = append(published, strings.TrimSuffix(e.Name(), ".json"))
	}
	sources, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range sources {
		if name, ok := strings.CutPrefix(e.Name(), "op_"); ok && !strings.HasSuffix(name, "_test.go") {
			files = append(files, strings.TrimSuffix(name, ".go"))
		}
	}
	if diff := cmp.Diff(table, published); diff != "" {
		t.Errorf("the table of kinds and schemas/operations differ (-table +schemas):\n%s", diff)
	}
	if diff := cmp.Diff(table, files); diff != "" {
		t.Errorf("the table of kinds and op_*.go differ (-table +files):\n%s", diff)
	}
}

// unfilled are the text fields that take no placeholders (SEMANTICS section 2).
var unfilled = map[string]bool{"type": true, "method": true, "credentials": true, "button": true, "scope": true,
	"behavior": true, "description": true, "x-popup": true}

// Each property of a schema has a field and back, each default of a schema is
// the factory's value, and each text field says what place it is.
func TestSchemasAndStructsAgree(t *testing.T) {
	for _, k := range kinds {
		op := reflect.ValueOf(k.new()).Elem()
		without := []string{"type"}
		if k.name != "click" {
			without = append(without, "x-popup") // which all operations have alike
		}
		t.Run(k.name, func(t *testing.T) { agree(t, readSchema(t, "operations/"+k.name+".json"), op, without...) })
	}
	t.Run("endpoint", func(t *testing.T) {
		e := newEndpoint()
		agree(t, readSchema(t, "endpoint.json"), reflect.ValueOf(&e).Elem())
	})
}

func agree(t *testing.T, s schemaFile, op reflect.Value, without ...string) {
	t.Helper()
	fields := map[string]bool{}
	for i := range op.NumField() {
		f := op.Type().Field(i)
		name := f.Tag.Get("json")
		fields[name] = true
		p, ok := s.Properties[name]
		if !ok {
			t.Errorf("field %s (%q) is not in the schema", f.Name, name)
			continue
		}
		place, filled := f.Tag.Lookup("fill")
		if p.isText() && !unfilled[name] && !filled {
			t.Errorf("%s is text and has no fill tag: which place is it?", name)
		}
		if unfilled[name] && filled {
			t.Errorf("%s takes no placeholders and has a fill tag", name)
		}
		if _, known := places[place]; filled && !known {
			t.Errorf("%s: fill %q is no place", name, place)
		}
		if p.Default != nil {
			sameDefault(t, name, p.Default, op.Field(i))
		} else if v := op.Field(i); !v.IsZero() && v.Kind() != reflect.Struct {
			t.Errorf("%s: the factory gives %v, the schema no default", name, v)
		}
	}
	for name := range s.Properties {
		if !fields[name] && !slices.Contains(without, name) {
			t.Errorf("property %q has no field", name)
		}
	}
}

func sameDefault(t *testing.T, name string, text json.RawMessage, factory reflect.Value) {
	t.Helper()
	want := reflect.New(factory.Type())
	if err := json.Unmarshal(text, want.Interface()); err != nil {
		t.Errorf("%s: default %s does not decode: %v", name, text, err)
		return
	}
	if string(text) == "null" { // null and absent are one
		want.Elem().SetZero()
	}
	if diff := cmp.Diff(want.Elem().Interface(), factory.Interface()); diff != "" {
		t.Errorf("%s: schema and factory differ in the default (-schema +factory):\n%s", name, diff)
	}
}
