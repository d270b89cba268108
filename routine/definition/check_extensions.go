package definition

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"rote/routine"
	"rote/routine/operation"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// extensionPrefix begins the names of extension fields. Those that the schemas declare
// are rote's own; all others are kept and have no effect.
const extensionPrefix = "x-"

// extensionPlaces returns, for each of rote's own fields, the kinds of operations that
// have it; "a parameter" stands for parameters, "the routine itself" for its top level.
var extensionPlaces = sync.OnceValue(func() map[string][]string {
	places := map[string][]string{}
	note := func(s *jsonschema.Schema, place string) {
		if s.Ref != nil {
			s = s.Ref
		}
		for name := range s.Properties {
			if strings.HasPrefix(name, extensionPrefix) {
				places[name] = append(places[name], place)
			}
		}
	}
	s := loadShapes()
	note(s.routine, "the routine itself")
	note(s.parameter, "a parameter")
	for k := range operation.Kinds() {
		note(s.kinds[k.Name], k.Name)
	}
	return places
})

// maxComparedExtensions bounds how many fields of an author's own are compared with rote's
// names, in one object. Comparing takes longer than all other checks of such a field.
const maxComparedExtensions = 1000

// extensions reports those of rote's own fields that do not belong in n, and warns of
// names similar to those that do: neither would have an effect. what names n, pointer
// is its position.
func (c *checker) extensions(s *jsonschema.Schema, n *node, what, pointer string) {
	if s.Ref != nil {
		s = s.Ref
	}
	var own []string
	compared := 0
	for i := range n.keys() {
		k := &n.kids.keys[i]
		if _, known := s.Properties[k.name]; known || k.bad || !strings.HasPrefix(k.name, extensionPrefix) {
			continue
		}
		at := pointer + "/" + routine.EscapePointer(k.name)
		if places, elsewhere := extensionPlaces()[k.name]; elsewhere {
			c.put(&c.problems, finding{offset: int(k.start), Problem: routine.Problem{Pointer: at, Code: "misplaced_field",
				Message: fmt.Sprintf("%s has no field %q", what, k.name), Hint: "it belongs to " + strings.Join(places, ", ")}})
			continue
		}
		if compared++; compared > maxComparedExtensions {
			continue
		}
		if own == nil {
			own = extensionNames(s)
		}
		if hint := routine.DidYouMean(k.name, own); hint != "" && !c.warnings.full() {
			c.put(&c.warnings, finding{offset: int(k.start), Problem: routine.Problem{Pointer: at, Code: "unknown_extension",
				Message: fmt.Sprintf("%q is kept and has no effect", routine.Truncate(k.name, 60)), Hint: hint}})
		}
	}
}

// filesParameter checks that the x-files field of operation i names a parameter whose
// values are files.
func (c *checker) filesParameter(i int, n *node) {
	field := n.member("x-files")
	if typeOf(n) != "input_text" || field == nil || field.bad {
		return
	}
	name := field.text
	c.used[name] = true
	p := routine.Problem{Pointer: operationPointer(i) + "/x-files"}
	at := slices.IndexFunc(c.definition.Parameters, func(p routine.Parameter) bool { return p.Name == name })
	switch {
	case at >= 0 && c.definition.Parameters[at].Type == routine.TypeFiles:
		return
	case at >= 0:
		p.Code, p.Message = "type", fmt.Sprintf("parameter %q holds no files: its type is %s", routine.Truncate(name, 60), c.definition.Parameters[at].Type)
		p.Hint = `declare it with "type": "x-files"`
	case !c.namesKnown:
		return
	default:
		p.Code, p.Message = "undeclared_parameter", fmt.Sprintf("%q names no parameter of this routine", routine.Truncate(name, 60))
		p.Hint = c.undeclaredFiles(name)
	}
	c.add(p)
}

// holdsFiles reports whether a parameter's values are files.
func (c *checker) holdsFiles(name string) bool {
	return slices.ContainsFunc(c.definition.Parameters, func(p routine.Parameter) bool { return p.Name == name && p.Type == routine.TypeFiles })
}

// undeclaredFiles suggests what an undeclared name in x-files was meant to be.
func (c *checker) undeclaredFiles(name string) string {
	if bare := strings.Trim(name, "{} "); bare != name && c.declared[bare] {
		c.used[bare] = true
		return fmt.Sprintf("write the name alone: %q", bare)
	}
	if near := routine.Nearest(name, parameterNames(c.definition.Parameters)); near != "" {
		c.used[near] = true
		return fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf(`declare it in parameters: {"name": %q, "type": "x-files", "description": "…"}`, routine.Truncate(strings.Trim(name, "{} "), 60))
}

// extensionElsewhere names the kinds of operations that have one of rote's own fields
// and accept the value, or returns an empty string.
func extensionElsewhere(field, value string) string {
	var places []string
	for k := range operation.Kinds() {
		if s, ok := loadShapes().kinds[k.Name].Properties[field]; ok && strings.HasPrefix(field, extensionPrefix) && isOneOf(s.Enum, value) {
			places = append(places, k.Name)
		}
	}
	if len(places) == 0 {
		return ""
	}
	return fmt.Sprintf("%q belongs to %s", value, strings.Join(places, ", "))
}

// extensionNames returns rote's own fields in a schema, sorted.
func extensionNames(s *jsonschema.Schema) []string {
	names := []string{}
	for name := range s.Properties {
		if strings.HasPrefix(name, extensionPrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
