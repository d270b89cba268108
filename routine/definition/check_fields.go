package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rote/routine"
)

// fields checks and decodes the fields of the routine except parameters and
// operations, of which it checks only that they are lists. A field with a faulty shape
// keeps its default.
func (c *checker) fields() {
	s := loadShapes()
	missing := namesOf(s.routine, c.root).missing
	for _, name := range s.routine.Required {
		if c.root.member(name) == nil {
			c.add(routine.Problem{Code: "required", Message: fmt.Sprintf("a routine needs the field %q", name),
				Hint: c.doc.takeFor(c.root, name, missing)})
		}
	}
	d := &c.definition
	*d = routine.Definition{Incognito: true, IsMCPToolDesignated: true, Tags: []string{}, Parameters: []routine.Parameter{}}
	fields := map[string]any{"name": &d.Name, "description": &d.Description, incognitoField: &d.Incognito,
		"is_public": &d.IsPublic, "is_mcp_tool_designated": &d.IsMCPToolDesignated, "tags": &d.Tags, blockField: &d.Block, sessionField: &d.Session}
	for i, k := range c.root.keys() {
		n := &c.root.kids.nodes[i]
		if k.bad {
			continue
		}
		if _, known := s.routine.Properties[k.name]; !known {
			c.unknownTop(&k, missing)
		}
		field, known := s.routine.Properties[k.as]
		switch {
		case !known:
			continue
		case k.as == "operations":
			field = s.operations
		case k.as == "parameters":
			field = s.parameters
		}
		c.shapeOf(field, n, k.name)
		if into, ok := fields[k.as]; ok && !n.bad {
			_ = json.Unmarshal(c.doc.sound(n), into)
		}
	}
	if len(d.Block) == 0 {
		d.Block = nil
	}
}

// unknownTop warns of an unknown field of the routine: it is dropped, so a misspelt
// name would be lost silently. Editors use "$schema", which is therefore allowed.
func (c *checker) unknownTop(k *key, missing []string) {
	if k.name == "$schema" {
		return
	}
	if c.warnings.full() {
		c.warnings.count++
		return
	}
	name := routine.Truncate(k.name, 60)
	p := finding{offset: int(k.start), Problem: routine.Problem{Pointer: "/" + routine.EscapePointer(k.name), Code: "unknown_field",
		Message: fmt.Sprintf("a routine has no field %q: it is ignored", name)}}
	near := routine.Nearest(k.name, missing)
	if near == "" {
		near = routine.Nearest(k.name, slices.Sorted(maps.Keys(loadShapes().routine.Properties)))
	}
	switch {
	case strings.HasPrefix(k.name, extensionPrefix) && near != blockField:
		p.Hint = "put it into an operation, a parameter or an endpoint, where fields that begin with x- are kept"
	case k.name == wrapperKey:
		p.Hint = "the routine itself is the body: leave the wrapper out"
	case near != "":
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	c.put(&c.warnings, p)
}

// ignoredStatus warns of a routine_status in a definition, where it has no effect.
func (c *checker) ignoredStatus() {
	if n := c.root.member(statusField); n != nil && c.doc.own == 0 && n.text != string(routine.StatusActive) {
		c.warn(routine.Problem{Pointer: "/" + statusField, Code: "ignored_field",
			Message: "routine_status is ignored here: a new routine is active, and a changed one keeps its status",
			Hint:    `change it afterwards, with PATCH and {"routine_status": "draft"}`})
	}
}
