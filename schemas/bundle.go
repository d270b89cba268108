package schemas

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Routine returns routine.json with all schemas that it refers to: one document
// without external references, for editors ("$schema") and other validators.
// Operations are validated by if/then with the schema of their type, so that a
// problem is reported once and for the right type.
//
// It panics if an embedded file is invalid, which is a programming error.
var Routine = sync.OnceValue(func() []byte {
	whole := mustLoad("routine.json")
	defs := map[string]any{}
	var kinds []any
	err := fs.WalkDir(Files, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || file == "routine.json" {
			return err
		}
		name := strings.TrimSuffix(path.Base(file), ".json")
		schema := mustLoad(file)
		delete(schema, "$id")
		delete(schema, "$schema")
		localizeRefs(schema, name)
		defs[name] = schema
		if path.Dir(file) == "operations" {
			kinds = append(kinds, map[string]any{
				"if":   map[string]any{"properties": map[string]any{"type": map[string]any{"const": name}}, "required": []any{"type"}},
				"then": map[string]any{"$ref": "#/$defs/" + name},
			})
		}
		return nil
	})
	if err != nil {
		panic("embedded schemas: " + err.Error())
	}
	localizeRefs(whole, "")
	whole["$defs"] = defs
	items := whole["properties"].(map[string]any)["operations"].(map[string]any)["items"].(map[string]any)
	items["allOf"] = kinds
	return mustEncode(whole)
})

// localizeRefs changes the references of a file to references within the
// bundle, where the file is under $defs/home. The root schema has no home.
func localizeRefs(v any, home string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			localizeRefs(e, home)
		}
	case map[string]any:
		for key, e := range v {
			ref, isText := e.(string)
			if key != "$ref" || !isText {
				localizeRefs(e, home)
				continue
			}
			if inside, ok := strings.CutPrefix(ref, "#"); ok && home != "" {
				v[key] = "#/$defs/" + home + inside
			} else if !ok {
				v[key] = "#/$defs/" + strings.TrimSuffix(path.Base(ref), ".json")
			}
		}
	}
}

func mustLoad(file string) map[string]any {
	text, err := Files.ReadFile(file)
	if err != nil {
		panic("embedded schemas: " + err.Error())
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		panic("embedded schemas: " + file + ": " + err.Error())
	}
	return v
}

func mustEncode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic("embedded schemas: " + err.Error())
	}
	return b.Bytes()
}
