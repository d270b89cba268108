package routine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"rote/schemas"
)

// shapes are the published schemas, compiled.
type shapes struct {
	routine *jsonschema.Schema
	kinds   map[string]*jsonschema.Schema
}

// loadShapes compiles the embedded schemas once. They are part of the program,
// so one that does not compile is a programmer's error.
var loadShapes = sync.OnceValue(func() *shapes {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	err := fs.WalkDir(schemas.Files, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(schemas.Files, path)
		if err != nil {
			return err
		}
		return c.AddResource(schemas.BaseURL+path, bytes.NewReader(text))
	})
	if err != nil {
		panic(fmt.Sprintf("embedded schemas: %v", err))
	}
	s := &shapes{kinds: map[string]*jsonschema.Schema{}}
	s.routine = c.MustCompile(schemas.BaseURL + "routine.json")
	for _, k := range kinds {
		s.kinds[k.name] = c.MustCompile(schemas.BaseURL + "operations/" + k.name + ".json")
	}
	return s
})

// checkShape validates a decoded value against a schema and gives a problem per
// fault, with pointers below base. what names the thing in messages.
func checkShape(schema *jsonschema.Schema, v any, base, what string) []Problem {
	err := schema.Validate(v)
	if err == nil {
		return nil
	}
	failure, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []Problem{{Pointer: base, Code: "schema", Message: err.Error()}}
	}
	var problems []Problem
	var visit func(e *jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			visit(c)
		}
		if len(e.Causes) == 0 {
			problems = append(problems, shapeProblems(schema, e, v, base, what)...)
		}
	}
	visit(failure)
	return problems
}

// shapeProblems explains one failed keyword in words that say what to do.
func shapeProblems(root *jsonschema.Schema, e *jsonschema.ValidationError, doc any, base, what string) []Problem {
	path := strings.Split(strings.TrimPrefix(e.KeywordLocation, "/"), "/")
	keyword := path[len(path)-1]
	s := follow(root, path[:len(path)-1])
	v := valueAt(doc, e.InstanceLocation)
	at := base + e.InstanceLocation
	if e.InstanceLocation != "" {
		what = fmt.Sprintf("%q", lastPart(e.InstanceLocation))
	}
	one := func(format string, args ...any) []Problem {
		return []Problem{{Pointer: at, Code: keyword, Message: fmt.Sprintf(format, args...)}}
	}
	object, _ := v.(map[string]any)
	switch keyword {
	case "required":
		return missingFields(s, object, at, what)
	case "additionalProperties":
		return unknownFields(s, object, at, what)
	case "type":
		return one("must be %s, not %s", strings.Join(s.Types, " or "), show(v))
	case "enum":
		return []Problem{enumProblem(s, v, at)}
	case "minimum":
		return one("must be at least %s, not %s", s.Minimum.RatString(), show(v))
	case "maximum":
		return one("must be at most %s, not %s", s.Maximum.RatString(), show(v))
	case "exclusiveMinimum":
		return one("must be more than %s, not %s", s.ExclusiveMinimum.RatString(), show(v))
	case "minLength":
		if s.MinLength == 1 {
			return one("must not be empty")
		}
		return one("must have at least %d characters", s.MinLength)
	case "maxLength":
		return one("must have at most %d characters", s.MaxLength)
	case "pattern":
		return one("must match %s, unlike %s", s.Pattern, show(v))
	case "minItems":
		return one("must hold at least %d", s.MinItems)
	}
	return one("%s", e.Message)
}

func missingFields(s *jsonschema.Schema, object map[string]any, at, what string) []Problem {
	var problems []Problem
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			problems = append(problems, Problem{Pointer: at, Code: "required", Message: fmt.Sprintf("%s needs the field %q", what, name)})
		}
	}
	return problems
}

func unknownFields(s *jsonschema.Schema, object map[string]any, at, what string) []Problem {
	known := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		known = append(known, name)
	}
	sort.Strings(known)
	var problems []Problem
	for name := range object {
		if _, ok := s.Properties[name]; ok || strings.HasPrefix(name, "x-") {
			continue
		}
		p := Problem{Pointer: at + "/" + escapePointer(name), Code: "unknown_field", Message: fmt.Sprintf("%s has no field %q", what, name)}
		if near := nearest(name, known); near != "" {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		} else {
			p.Hint = "its fields are " + strings.Join(known, ", ")
		}
		problems = append(problems, p)
	}
	return problems
}

func enumProblem(s *jsonschema.Schema, v any, at string) Problem {
	var names []string
	for _, e := range s.Enum {
		names = append(names, fmt.Sprint(e))
	}
	p := Problem{Pointer: at, Code: "enum", Message: fmt.Sprintf("must be one of %s, not %s", strings.Join(names, ", "), show(v))}
	if text, ok := v.(string); ok {
		if near := nearest(text, names); near != "" {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return p
}

// follow walks a schema along a keyword location.
func follow(s *jsonschema.Schema, path []string) *jsonschema.Schema {
	for i := 0; i < len(path) && s != nil; i++ {
		switch path[i] {
		case "$ref":
			s = s.Ref
		case "properties":
			i++
			s = s.Properties[strings.NewReplacer("~1", "/", "~0", "~").Replace(path[i])]
		case "items":
			s = s.Items2020
		case "additionalProperties":
			s, _ = s.AdditionalProperties.(*jsonschema.Schema)
		}
	}
	if s == nil {
		return &jsonschema.Schema{}
	}
	return s
}

// valueAt is the value that a JSON pointer names.
func valueAt(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(x) {
				v = x[i]
			}
		}
	}
	return v
}
