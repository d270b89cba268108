package schemas

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Routine is routine.json with every schema that it needs inside: one document
// without outside references, for editors ("$schema") and other validators. An
// operation is held to the schema of its type by if and then, so a fault is
// told once and by its own kind.
//
// The files are part of the program, so one that cannot be read is a
// programmer's error and panics.
var Routine = sync.OnceValue(func() []byte {
	whole := load("routine.json")
	defs := map[string]any{}
	var kinds []any
	err := fs.WalkDir(Files, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || file == "routine.json" {
			return err
		}
		name := strings.TrimSuffix(path.Base(file), ".json")
		schema := load(file)
		delete(schema, "$id")
		delete(schema, "$schema")
		localize(schema, name)
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
	localize(whole, "")
	whole["$defs"] = defs
	items := whole["properties"].(map[string]any)["operations"].(map[string]any)["items"].(map[string]any)
	items["allOf"] = kinds
	return encode(whole)
})

// localize turns the references of a file into ones within the bundle, where
// the file stands under $defs/home; the root has no home.
func localize(v any, home string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			localize(e, home)
		}
	case map[string]any:
		for key, e := range v {
			ref, isText := e.(string)
			if key != "$ref" || !isText {
				localize(e, home)
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

func load(file string) map[string]any {
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

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic("embedded schemas: " + err.Error())
	}
	return b.Bytes()
}
