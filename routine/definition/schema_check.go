package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"rote/routine"
	"rote/routine/operation"
	"rote/schemas"
)

// shapes are the published schemas, compiled. The schemas of lists are separate from
// those of their items, because each item is checked by itself.
type shapes struct {
	routine               *jsonschema.Schema
	operations, operation *jsonschema.Schema
	parameters, parameter *jsonschema.Schema
	kinds                 map[string]*jsonschema.Schema
}

// loadShapes compiles the embedded schemas once. They are part of the program, so it
// panics if one does not compile.
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
	s := &shapes{routine: c.MustCompile(schemas.BaseURL + "routine.json"), kinds: map[string]*jsonschema.Schema{}}
	s.operations, s.operation = listAndItem(s.routine.Properties["operations"])
	s.parameters, s.parameter = listAndItem(s.routine.Properties["parameters"])
	for _, name := range operation.KindNames() {
		s.kinds[name] = c.MustCompile(schemas.BaseURL + "operations/" + name + ".json")
	}
	return s
})

// listAndItem returns the schema of a list without that of its items, and the latter.
func listAndItem(s *jsonschema.Schema) (list, item *jsonschema.Schema) {
	alone := *s
	alone.Items2020 = nil
	return &alone, s.Items2020
}

// shapeCheck checks a value against a schema. The jsonschema library only compiles the
// schemas. Its own validation does not report one problem for each fault, in the order
// of the text and with its position, at a cost that is bounded for thousands of
// faults. shapeCheck knows the keywords that package schemas uses; a test compares its
// verdicts with the library's.
type shapeCheck struct {
	doc   *document
	found *report
	path  routine.Pointer
	what  string // names the value at the start of the path in messages
	root  int    // length of the path at that value
}

// startAt sets the path of the value to check. what names that value in messages.
func (c *shapeCheck) startAt(what string, segments ...routine.PointerStep) {
	c.path = append(c.path[:0], segments...)
	c.what, c.root = what, len(segments)
}

// markBad marks a value as bad, and reports whether its problem needs a message.
func (c *shapeCheck) markBad(n *node) bool {
	n.bad = true
	return c.wantsMessage()
}

// wantsMessage reports whether the next problem needs a message. If not, because there
// are enough problems already, it counts the problem.
func (c *shapeCheck) wantsMessage() bool {
	if c.found.full() {
		c.found.count++
		return false
	}
	return true
}

// addProblem records a problem of the current value.
func (c *shapeCheck) addProblem(n *node, code, hint, format string, args ...any) {
	c.found.add(finding{offset: int(n.start),
		Problem: routine.Problem{Pointer: c.path.String(), Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}})
}

// checkValue checks n and everything inside it, and marks faulty values as bad.
func (c *shapeCheck) checkValue(s *jsonschema.Schema, n *node) {
	if n.bad {
		return
	}
	if len(s.Types) > 0 && !c.hasType(s, n) {
		return
	}
	if s.Ref != nil {
		c.checkValue(s.Ref, n)
	}
	if n.bad {
		return
	}
	switch n.kind {
	case '{':
		c.object(s, n)
	case '[':
		c.list(s, n)
	case '"':
		c.text(s, n)
	case '0':
		c.number(s, n)
	}
}

func (c *shapeCheck) hasType(s *jsonschema.Schema, n *node) bool {
	for _, t := range s.Types {
		if isType(t, n) {
			return true
		}
	}
	if c.markBad(n) {
		c.addProblem(n, "type", typeHint(c.name(), s, n), "must be %s, not %s", typeNames(s.Types), c.doc.show(n))
	}
	return false
}

func isType(name string, n *node) bool {
	switch name {
	case "object":
		return n.kind == '{'
	case "array":
		return n.kind == '['
	case "string":
		return n.kind == '"'
	case "number":
		return n.kind == '0'
	case "integer":
		return n.kind == '0' && routine.IsWholeNumber(n.text)
	case "boolean":
		return n.kind == 't' || n.kind == 'f'
	}
	return n.kind == 'n'
}

func (c *shapeCheck) object(s *jsonschema.Schema, n *node) {
	var names *fieldNames
	for i := range n.keys() {
		k := &n.kids.keys[i]
		if _, known := s.Properties[k.as]; !known && !k.bad && s.AdditionalProperties == false && !matchesAny(s, k.name) {
			if names == nil {
				names = namesOf(s, n)
			}
			c.unknownField(names, k)
		}
	}
	for _, name := range s.Required {
		if n.member(name) == nil && c.wantsMessage() {
			c.addProblem(n, "required", c.doc.takeFor(n, name, []string{name}), "%s needs the field %q", c.subject(), name)
		}
	}
	for i := range n.keys() {
		k := &n.kids.keys[i]
		inner, known := s.Properties[k.as]
		if !known {
			inner, known = s.AdditionalProperties.(*jsonschema.Schema)
		}
		if k.bad || !known {
			continue
		}
		c.path.Member(k.name)
		c.checkValue(inner, &n.kids.nodes[i])
		c.path.Pop()
	}
}

func matchesAny(s *jsonschema.Schema, name string) bool {
	for p := range s.PatternProperties {
		if p.MatchString(name) {
			return true
		}
	}
	return false
}

func (c *shapeCheck) list(s *jsonschema.Schema, n *node) {
	if len(n.items()) < s.MinItems && c.markBad(n) {
		c.addProblem(n, "minItems", "", "must hold at least %d", s.MinItems)
	}
	if s.MaxItems >= 0 && len(n.items()) > s.MaxItems {
		if c.markBad(n) {
			c.addProblem(n, "maxItems", "", "must hold at most %d, not %d", s.MaxItems, len(n.items()))
		}
		return
	}
	if s.Items2020 == nil {
		return
	}
	for i := range n.items() {
		c.path.Item(i)
		c.checkValue(s.Items2020, &n.kids.nodes[i])
		c.path.Pop()
	}
}

func (c *shapeCheck) text(s *jsonschema.Schema, n *node) {
	length := len(n.text)
	if s.MinLength > 1 || s.MaxLength >= 0 {
		length = utf8.RuneCountInString(n.text)
	}
	switch {
	case s.Constant != nil && s.Constant[0] != n.text:
		if c.markBad(n) {
			c.addProblem(n, "const", "", "must be %v, not %s", s.Constant[0], c.doc.show(n))
		}
	case s.Enum != nil && !isOneOf(s.Enum, n.text):
		if c.markBad(n) {
			c.notInEnum(s, n)
		}
	case length < s.MinLength && length == 0:
		if c.markBad(n) {
			c.addProblem(n, "minLength", "", "must not be empty")
		}
	case length < s.MinLength:
		if c.markBad(n) {
			c.addProblem(n, "minLength", "", "must have at least %d characters, not %d", s.MinLength, length)
		}
	case s.MaxLength >= 0 && length > s.MaxLength:
		if c.markBad(n) {
			c.addProblem(n, "maxLength", "", "must have at most %d characters, not %d", s.MaxLength, length)
		}
	case s.Pattern != nil && !s.Pattern.MatchString(n.text):
		if c.markBad(n) {
			c.addProblem(n, "pattern", nameHint(s, n.text), "must match %s, unlike %s", s.Pattern, c.doc.show(n))
		}
	}
}

func (c *shapeCheck) number(s *jsonschema.Schema, n *node) {
	if len(s.Types) == 0 {
		return // any number may stand here, and is kept as it is spelt
	}
	x, _ := routine.ExactNumber(json.Number(n.text))
	code, message := "", ""
	switch f, _ := x.Float64(); {
	case s.Minimum != nil && x.Cmp(s.Minimum) < 0:
		code, message = "minimum", "must be at least "+s.Minimum.RatString()+", not "
	case s.Maximum != nil && x.Cmp(s.Maximum) > 0:
		code, message = "maximum", "must be at most "+s.Maximum.RatString()+", not "
	case s.ExclusiveMinimum != nil && x.Cmp(s.ExclusiveMinimum) <= 0:
		code, message = "exclusiveMinimum", "must be more than "+s.ExclusiveMinimum.RatString()+", not "
	case math.Abs(f) > 1<<53 && slices.Contains(s.Types, "integer"):
		code, message = "number_range", "is too large a number: "
	}
	if code != "" && c.markBad(n) {
		c.addProblem(n, code, unitHint(c.name(), s, x), "%s%s", message, c.doc.show(n))
	}
}

func isOneOf(list []any, text string) bool {
	for _, e := range list {
		if e == text {
			return true
		}
	}
	return false
}

// name returns the field that is being checked.
func (c *shapeCheck) name() string {
	if len(c.path) == 0 {
		return ""
	}
	return c.path[len(c.path)-1].Name
}

// subject names the value that is looked at for the start of a sentence.
func (c *shapeCheck) subject() string {
	at := len(c.path) - 1
	if at < c.root {
		return c.what
	}
	if last := c.path[at]; last.Index >= 0 && at > 0 {
		return fmt.Sprintf("item %d of %q", last.Index, c.path[at-1].Name)
	}
	return routine.Quote(c.path[at].Name)
}
