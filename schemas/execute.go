package schemas

import (
	"encoding/json"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// ExecutePath is the path of the execute call in [OpenAPI].
const ExecutePath = "/routines/{routine_id}/execute"

// Execute returns an OpenAPI document that describes only the execute call,
// with the components that it refers to. Each call returns a new copy, which
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
	collectComponents(call, all, needed)
	return mustEncode(map[string]any{"openapi": whole["openapi"], "security": whole["security"],
		"paths": map[string]any{ExecutePath: call}, "components": needed})
})

// collectComponents copies the components that v refers to, directly and
// indirectly, from all to needed.
func collectComponents(v any, all, needed map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collectComponents(e, all, needed)
		}
	case map[string]any:
		for key, e := range v {
			ref, isText := e.(string)
			if key != "$ref" || !isText {
				collectComponents(e, all, needed)
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
				collectComponents(some[name], all, needed)
			}
		}
	}
}
