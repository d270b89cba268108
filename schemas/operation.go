package schemas

import (
	"path"
	"slices"
	"strings"
)

// OperationKinds returns the types that an operation can have, in the order of the
// documentation.
func OperationKinds() []string {
	operations := member(mustLoad("routine.json"), "properties", "operations", "items", "properties", "type")
	return texts(operations["enum"])
}

// Operation returns the schema of one kind of operation with the schemas that it
// refers to: one document without external references. It reports whether there is
// such a kind.
func Operation(kind string) ([]byte, bool) {
	if !slices.Contains(OperationKinds(), kind) {
		return nil, false
	}
	schema := mustLoad("operations/" + kind + ".json")
	defs := map[string]any{}
	addReferenced(defs, schema, "operations")
	localizeRefs(schema, "")
	if len(defs) > 0 {
		schema["$defs"] = defs
	}
	return mustEncode(schema), true
}

// addReferenced adds the files that v refers to, directly or through other files, to
// defs. dir is the directory of the file that v is from.
func addReferenced(defs map[string]any, v any, dir string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			addReferenced(defs, e, dir)
		}
	case map[string]any:
		for key, e := range v {
			ref, isText := e.(string)
			if key != "$ref" || !isText {
				addReferenced(defs, e, dir)
				continue
			}
			file, name := path.Join(dir, ref), strings.TrimSuffix(path.Base(ref), ".json")
			if strings.HasPrefix(ref, "#") || defs[name] != nil {
				continue
			}
			schema := mustLoad(file)
			delete(schema, "$id")
			delete(schema, "$schema")
			defs[name] = schema
			addReferenced(defs, schema, path.Dir(file))
			localizeRefs(schema, name)
		}
	}
}

// member returns the object at a path of names in a schema, or nil if there is none.
func member(schema map[string]any, names ...string) map[string]any {
	for _, name := range names {
		schema, _ = schema[name].(map[string]any)
	}
	return schema
}

// texts returns the strings of a list. Anything else is left out.
func texts(list any) (all []string) {
	values, _ := list.([]any)
	for _, v := range values {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}
