package schemas

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
)

// OpenAPI is the description of the REST interface, with the schemas of routines
// inside: one document without outside references.
//
// The hand-written part ends within components.schemas, so that what is added
// can follow it; JSON is YAML too.
var OpenAPI = sync.OnceValue(func() []byte {
	var definition map[string]any
	if err := json.Unmarshal(Routine(), &definition); err != nil {
		panic("bundled schema: " + err.Error())
	}
	parts := definition["$defs"].(map[string]any)
	for _, key := range []string{"$defs", "$id", "$schema"} {
		delete(definition, key)
	}
	intoComponents(definition)
	intoComponents(parts)
	text := bytes.Clone(openAPI)
	text = appendComponent(text, "Definition", definition)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		text = appendComponent(text, name, parts[name])
	}
	return text
})

// intoComponents turns the references within routine.json into ones within the
// document.
func intoComponents(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			intoComponents(e)
		}
	case map[string]any:
		for key, e := range v {
			ref, isText := e.(string)
			switch {
			case key != "$ref" || !isText:
				intoComponents(e)
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
	if err := json.Compact(&line, encode(schema)); err != nil {
		panic("bundled schema: " + err.Error())
	}
	text = append(text, "    "+name+": "...)
	return append(append(text, line.Bytes()...), '\n')
}
