package httpapi_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"rote/routine"
	"rote/routine/exporter"
	"rote/routine/importer"
	"rote/routine/lesson"
	"rote/schemas"
)

// lessonSchemas are the types that requests and answers about lessons are made of, by the
// names of their schemas.
var lessonSchemas = map[string]reflect.Type{
	"Lesson":           reflect.TypeFor[lesson.Info](),
	"StartedLesson":    reflect.TypeFor[lesson.Started](),
	"Snapshot":         reflect.TypeFor[lesson.Snapshot](),
	"TriedOperations":  reflect.TypeFor[lesson.Tried](),
	"UndoneOperations": reflect.TypeFor[lesson.Undone](),
	"RequestList":      reflect.TypeFor[lesson.RequestList](),
	"SavedLesson":      reflect.TypeFor[lesson.Saved](),
	"RequestOperation": reflect.TypeFor[lesson.RequestOperation](),
	"ImportRequest":    reflect.TypeFor[lesson.ImportRequest](),
	"ImportedRoutine":  reflect.TypeFor[lesson.Imported](),
	"ResolvedImport":   reflect.TypeFor[lesson.Resolved](),
	"ExportedRoutine":  reflect.TypeFor[exporter.Exported](),
	"TransferReport":   reflect.TypeFor[importer.Report](),
}

// The published schemas of lessons have the fields of the types, no less and no more.
func TestLessonSchemasHaveAllFields(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]map[string]any `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(schemas.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	c := schemaComparison{t, doc.Components.Schemas}
	for name, goType := range lessonSchemas {
		c.compare(name, doc.Components.Schemas[name], goType)
	}
}

type schemaComparison struct {
	t   *testing.T
	all map[string]map[string]any
}

// opaque are types whose JSON is not that of their fields, or that have a schema elsewhere.
var opaque = []reflect.Type{reflect.TypeFor[time.Time](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[routine.OperationRecord](),
	reflect.TypeFor[routine.Element]()}

func (c schemaComparison) compare(at string, schema map[string]any, goType reflect.Type) {
	for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice && goType != reflect.TypeFor[json.RawMessage]() {
		if goType.Kind() == reflect.Slice {
			schema, _ = c.resolve(schema)["items"].(map[string]any)
		}
		goType = goType.Elem()
	}
	schema = c.resolve(schema)
	properties := c.properties(schema)
	if goType.Kind() != reflect.Struct || slices.Contains(opaque, goType) || len(properties) == 0 && schema["type"] == "object" {
		return
	}
	fields := jsonFields(goType)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(properties))); diff != "" {
		c.t.Errorf("%s of openapi.yaml has other fields than %v (-type +schema):\n%s", at, goType, diff)
	}
	for name, field := range fields {
		if p, ok := properties[name].(map[string]any); ok {
			c.compare(at+"/"+name, p, field)
		}
	}
}

// resolve follows the reference of a schema to a component, if it has one.
func (c schemaComparison) resolve(schema map[string]any) map[string]any {
	ref, _ := schema["$ref"].(string)
	name, isComponent := strings.CutPrefix(ref, "#/components/schemas/")
	if !isComponent || strings.Contains(name, "/") {
		return schema
	}
	return c.all[name]
}

// properties are those of a schema and of the schemas in allOf.
func (c schemaComparison) properties(schema map[string]any) map[string]any {
	all := map[string]any{}
	if own, ok := schema["properties"].(map[string]any); ok {
		maps.Copy(all, own)
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		maps.Copy(all, c.properties(c.resolve(part.(map[string]any))))
	}
	return all
}

// jsonFields are the types of a struct's fields by their names in JSON, with those of
// embedded structs.
func jsonFields(goType reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for f := range goType.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported():
		case f.Anonymous && name == "":
			maps.Copy(fields, jsonFields(f.Type))
		case name != "-":
			fields[name] = f.Type
		}
	}
	return fields
}
