package schemas

import (
	"encoding/json"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// ExecutePath is the path of the execute call in [OpenAPI].
const ExecutePath = "/routines/{routine_id}/execute"

// Execute is the description of the execute call alone, a document of its own
// with what that call refers to and nothing else. Each call gives a copy, which
// the caller may change.
func Execute() map[string]any {
	var copied map[string]any
	if err := json.Unmarshal(executeText(), &copied); err != nil {
		panic("description of execute: " + err.Error())
	}
	return copied
}

var executeText = sync.OnceValue(func() []byte {
	var whole map[string]any
	if err := yaml.Unmarshal(openAPI, &whole); err != nil {
		panic("openapi.yaml: " + err.Error())
	}
	call := whole["paths"].(map[string]any)[ExecutePath]
	all := whole["components"].(map[string]any)
	needed := map[string]any{"securitySchemes": all["securitySchemes"]}
	collect(call, all, needed)
	return encode(map[string]any{"openapi": whole["openapi"], "security": whole["security"],
		"paths": map[string]any{ExecutePath: call}, "components": needed})
})

// collect copies the components that v refers to, and those that they refer to,
// from all to needed.
func collect(v any, all, needed map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collect(e, all, needed)
		}
	case map[string]any:
		for key, e := range v {
			ref, isText := e.(string)
			if key != "$ref" || !isText {
				collect(e, all, needed)
				continue
			}
			kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
			some, _ := needed[kind].(map[string]any)
			if some == nil {
				some = map[string]any{}
				needed[kind] = some
			}
			if some[name] == nil {
				some[name] = all[kind].(map[string]any)[name]
				collect(some[name], all, needed)
			}
		}
	}
}
