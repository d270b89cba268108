package operation

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
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

// operationsPage is the page that is made from the schemas.
const operationsPage = "httpapi/docs/operations.md, made by go test ./httpapi/docs -run TestOperationsPage -update"

// missingPlaces names the places, the columns of its row included, that a kind of
// operation should be in and is not.
func missingPlaces(t *testing.T, k Kind) []string {
	t.Helper()
	var missing []string
	need := func(ok bool, place string) {
		if !ok {
			missing = append(missing, place)
		}
	}
	_, err := fs.Stat(schemas.Files, "operations/"+k.Name+".json")
	need(err == nil, "schemas/operations/"+k.Name+".json")
	_, err = os.Stat("op_" + k.Name + ".go")
	need(err == nil, "routine/operation/op_"+k.Name+".go")
	var s struct {
		Properties struct {
			Operations struct {
				Items struct {
					Properties map[string]struct {
						Description string
						Enum        []string
					}
				}
			}
		}
	}
	text, err := fs.ReadFile(schemas.Files, "routine.json")
	if err != nil || json.Unmarshal(text, &s) != nil {
		t.Fatal("schemas/routine.json cannot be read", err)
	}
	field := s.Properties.Operations.Items.Properties["type"]
	need(slices.Contains(field.Enum, k.Name), "schemas/routine.json, the enum of type")
	need(strings.Contains(field.Description, " "+k.Name+": "), "schemas/routine.json, the description of type")
	page, err := os.ReadFile("../../httpapi/docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	need(strings.Contains(string(page), "(../../schemas/operations/"+k.Name+".json)"), operationsPage)
	need(slices.Contains([]Effect{EffectReads, effectNeutral, EffectChanges, effectOfRequest}, k.Effect), "the table of kinds, Effect")
	op := k.new()
	_, yields := op.(yielding)
	need(yields == k.Ends(), "resultName and the table of kinds, Result")
	_, optional := op.(elementOptional)
	need(!optional || k.NeedsPage, "element and the table of kinds, NeedsPage")
	_, selects := reflect.TypeOf(op).Elem().FieldByName("Selector")
	one := slices.Contains([]routine.ElementUse{routine.UseClick, routine.UseText, routine.UseRead}, k.Use)
	need(selects == one, "Selector and the table of kinds, Use")
	return missing
}

func TestKindsAreInEveryPlace(t *testing.T) {
	for _, k := range kinds {
		for _, place := range missingPlaces(t, k) {
			t.Errorf("%s is missing in: %s", k.Name, place)
		}
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	for pattern, files := range map[string]fs.FS{"operations/*.json": schemas.Files, "op_*.go": os.DirFS(".")} {
		found, err := fs.Glob(files, pattern)
		if err != nil || len(found) < len(kinds) {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		for _, file := range found {
			name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), "op_")
			if !strings.HasSuffix(name, "_test") && !slices.Contains(names, name) {
				t.Errorf("%s is of no row in the table of kinds", file)
			}
		}
	}
}

// opFourteenth is a kind of operation that has a row and nothing else.
type opFourteenth struct{ Selector string }

func (*opFourteenth) Do(context.Context, *Run) error { return nil }
func (*opFourteenth) resultName() string             { return "" }
func (*opFourteenth) element() string                { return "" }

// A new kind of operation that was forgotten somewhere is found in each place.
func TestForgottenPlacesOfAKindAreNamed(t *testing.T) {
	want := []string{"schemas/operations/fourteenth.json", "routine/operation/op_fourteenth.go", "schemas/routine.json, the enum of type",
		"schemas/routine.json, the description of type", operationsPage, "the table of kinds, Effect",
		"resultName and the table of kinds, Result", "element and the table of kinds, NeedsPage",
		"Selector and the table of kinds, Use"}
	got := missingPlaces(t, Kind{Name: "fourteenth", new: func() Action { return &opFourteenth{} }})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("missing places (-want +got):\n%s", diff)
	}
}

// unfilled are the text fields that take no placeholders (SEMANTICS section 2).
var unfilled = map[string]bool{"type": true, "method": true, "credentials": true, "button": true, "scope": true,
	"behavior": true, "description": true, "x-popup": true, "x-files": true, "x-dialog": true}

// Each property of a schema has a field and back, each default of a schema is
// the factory's value, and each text field says what place it is.
func TestSchemasAndStructsAgree(t *testing.T) {
	for _, k := range kinds {
		op := reflect.ValueOf(k.new()).Elem()
		without := []string{"type"}
		if k.Name != "click" {
			without = append(without, "x-popup") // which all operations have alike
		}
		t.Run(k.Name, func(t *testing.T) { agree(t, readSchema(t, "operations/"+k.Name+".json"), op, without...) })
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
