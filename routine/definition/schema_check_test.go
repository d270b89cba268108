package definition

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"rote/routine"
	"rote/routine/routinetest/seeded"
	"rote/schemas"
)

// known are the keywords that shapeCheck knows, and those that say nothing of
// values.
var known = []string{"Location", "Draft", "meta", "vocab", "dynamicAnchors", "Ref", "Types", "Constant", "Enum", "enumError", "Required", "Properties", "PatternProperties",
	"AdditionalProperties", "MinItems", "MaxItems", "Items2020", "MinLength", "MaxLength", "Pattern", "Minimum", "ExclusiveMinimum", "Maximum", "ReadOnly", "ContainsEval", "MinContains"}

// unset are the values of absent keywords that are not zero.
var unset = map[string]int64{"MinProperties": -1, "MaxProperties": -1, "MaxItems": -1, "MaxContains": -1}

func TestEveryKeywordOfTheSchemasIsKnown(t *testing.T) {
	seen := map[*jsonschema.Schema]bool{}
	var visit func(s *jsonschema.Schema)
	visit = func(s *jsonschema.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		v := reflect.ValueOf(s).Elem()
		for i := range v.NumField() {
			name, field := v.Type().Field(i).Name, v.Field(i)
			if none, ok := unset[name]; !slices.Contains(known, name) && !field.IsZero() && !(ok && field.Int() == none) {
				t.Errorf("%s uses %s, which shapeCheck does not know", s.Location, name)
			}
		}
		visit(s.Ref)
		visit(s.Items2020)
		for _, p := range s.Properties {
			visit(p)
		}
		if inner, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
			visit(inner)
		}
	}
	s := loadShapes()
	visit(s.routine)
	for _, k := range s.kinds {
		visit(k)
	}
	if len(seen) < 100 {
		t.Fatalf("only %d schemas were seen", len(seen))
	}
}

// The library judges what the walk explains: both must say the same of every
// example, and of every example after random damage.
func TestShapesAgreeWithTheLibrary(t *testing.T) {
	random := seeded.Rand(t)
	refused, taken := 0, 0
	for name, examples := range publishedExamples(t) {
		schema := loadShapes().kinds[name]
		if schema == nil {
			schema = map[string]*jsonschema.Schema{"routine": loadShapes().routine, "parameter": loadShapes().parameter, "endpoint": loadShapes().kinds["fetch"].Properties["endpoint"],
				"data_sanitizer": loadShapes().kinds["fetch"].Properties["data_sanitizer"]}[name]
		}
		for _, example := range examples {
			for range 300 {
				text := example
				for range random.IntN(3) {
					text = damage(random, text)
				}
				var v any
				if routine.DecodeJSON([]byte(text), &v) != nil {
					continue
				}
				doc := readDocument([]byte(text), false)
				if doc.found.count > 0 {
					continue // of keys that stand twice the library sees one only
				}
				found := &report{}
				(&shapeCheck{doc: doc, found: found}).checkValue(schema, &doc.root)
				err := schema.Validate(v)
				if (err != nil) != (found.count > 0) {
					t.Fatalf("%s: %s\nthe library: %v\nwe: %v", name, text, err, found.list)
				}
				if err != nil {
					refused++
				} else {
					taken++
				}
			}
		}
	}
	if refused < 1000 || taken < 1000 {
		t.Errorf("%d were refused and %d taken: too few to tell", refused, taken)
	}
}

// publishedExamples are those of the schemas, by the name of the schema's file.
func publishedExamples(t testing.TB) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := fs.WalkDir(schemas.Files, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(schemas.Files, path)
		if err != nil {
			return err
		}
		var file struct {
			Examples []json.RawMessage `json:"examples"`
		}
		if err := json.Unmarshal(text, &file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".json")
		for _, e := range file.Examples {
			all[name] = append(all[name], string(e))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(all, "schema")
	return all
}

// damage changes one thing in a JSON text: a name, a value, a number.
func damage(random *rand.Rand, text string) string {
	doc := readDocument([]byte(text), false)
	var nodes []*node
	var gather func(n *node)
	gather = func(n *node) {
		nodes = append(nodes, n)
		for i := range n.items() {
			gather(&n.kids.nodes[i])
		}
	}
	gather(&doc.root)
	n := nodes[random.IntN(len(nodes))]
	put := func(from, to int32, with string) string { return text[:from] + with + text[to:] }
	if keys := n.keys(); len(keys) > 0 && random.IntN(2) == 0 {
		k := keys[random.IntN(len(keys))]
		return put(k.start, k.end, []string{`"x-a"`, `"y"`, `"type"`, `"path"`, `"min_value"`, `""`}[random.IntN(6)])
	}
	values := []string{`null`, `true`, `""`, `"a"`, `"{{a}}"`, `0`, `1`, `1.0`, `1.5`, `-1`, `301`, `1e9`, `10.000000000000000001`, `[]`,
		`[null]`, `["a"]`, `{}`, `{"a": 1}`, `"POST"`, `"left"`, `"drop"`, `"date"`}
	return put(n.start, n.end, values[random.IntN(len(values))])
}
