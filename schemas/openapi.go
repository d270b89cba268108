package schemas

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
)

// OpenAPI returns the description of the REST API including the schemas of
// routines: one document without external references.
//
// The hand-written part ends inside components.schemas, so that the schemas can
// be appended. JSON is also valid YAML.
var OpenAPI = sync.OnceValue(func() []byte {
	var definition map[string]any
	if err := json.Unmarshal(Routine(), &definition); err != nil {
		panic("bundled schema: " + err.Error())
	}
	parts := definition["$defs"].(map[string]any)
	for _, key := range []string{"$defs", "$id", "$schema"} {
		delete(definition, key)
	}
	rewriteRefs(definition)
	rewriteRefs(parts)
	text := bytes.Clone(openAPI)
	text = appendComponent(text, "Definition", definition)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		text = appendComponent(text, name, parts[name])
	}
	return text
})

// rewriteRefs changes the references of routine.json to references within the
// OpenAPI document.
func rewriteRefs(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			rewriteRefs(e)
		}
	case map[string]any:
		for key, e := range v {
			ref, isText := e.(string)
			switch {
			case key != "$ref" || !isText:
				rewriteRefs(e)
			case strings.HasPrefix(ref, "#/$defs/"):
				v[key] = "#/components/schemas/" + strings.TrimPrefix(ref, "#/$defs/")
			default:
				v[key] = "#/components/schemas/Definition" + strings.TrimPrefix(ref, "#")
			}
		}
	}
}

func appendComponent(text []byte, name string, schema any) []byte {
	var line bytes.Buffer
	if err := json.Compact(&line, mustEncode(schema)); err != nil {
		panic("bundled schema: " + err.Error())
	}
	text = append(text, "    "+name+": "...)
	return append(append(text, line.Bytes()...), '\n')
}
