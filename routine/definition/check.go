package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"rote/routine"
	"rote/routine/javascript"
	"rote/routine/operation"
)

// checker collects what is wrong with one definition. A value that has a
// problem is marked as bad in the tree and left out of what comes after, so that
// one mistake is one problem and the rest is still checked.
type checker struct {
	doc                *document
	root               *node
	definition         routine.Definition
	problems, warnings report
	shape              shapeCheck
	// ops are the operations as decoded, nil where the type is not known; kinds
	// are their types.
	ops   []operation.Action
	kinds []operation.Kind
	// guessing: an operation could not be read, so that what it uses and stores
	// is not known for certain.
	guessing bool
	// declared and used are names of parameters. namesKnown: those of all
	// declarations could be read.
	declared, used map[string]bool
	namesKnown     bool
	effort         int
	matching       matching
	// places are those in the string that was looked at last; last is the value
	// that a problem was placed at last.
	places stringOffset
	last   struct {
		pointer, written string
		node             *node
		key              *key
	}
	// script is the one that a problem was placed in last.
	script struct {
		text   string
		cursor *javascript.Cursor
	}
}

func newChecker(doc *document, root *node) *checker {
	c := &checker{doc: doc, root: root, problems: doc.found, declared: map[string]bool{}, used: map[string]bool{}, namesKnown: true}
	c.shape = shapeCheck{doc: doc, found: &c.problems}
	return c
}

// add records a problem at its pointer: at the value, or at the key for a field
// that should not be there.
func (c *checker) add(p routine.Problem) { c.put(&c.problems, finding{Problem: p}) }

func (c *checker) warn(p routine.Problem) { c.put(&c.warnings, finding{Problem: p}) }

func (c *checker) put(to *report, f finding) {
	if !to.full() && f.offset == 0 {
		c.place(&f)
		f.Message += c.inScript(f)
	}
	to.add(f)
}

// inScript is the place of a problem in its script, for the end of its message;
// empty for a problem of anything else. The line in the document is mostly that
// of the whole script, as a JSON string has no line breaks.
func (c *checker) inScript(p finding) string {
	if p.script == "" || p.within == 0 {
		return ""
	}
	if c.script.text != p.script {
		c.script.text, c.script.cursor = p.script, javascript.NewCursor(p.script)
	}
	line, column := c.script.cursor.To(p.within - 1)
	return fmt.Sprintf(" (%s)", routine.Place{Line: line, Column: column})
}

// keyCodes are the problems that are about a name and not about its value.
var keyCodes = map[string]bool{"unknown_field": true, "header_name": true}

// place gives a problem its offset, and its pointer the names as written.
func (c *checker) place(p *finding) {
	if f := &c.last; f.pointer != p.Pointer || f.node == nil {
		f.pointer = p.Pointer
		f.node, f.key, _ = c.root.find(p.Pointer)
		f.written = c.root.written(p.Pointer)
	}
	n, k := c.last.node, c.last.key
	p.Pointer = c.last.written
	start, end := n.start, n.end
	if k != nil && (keyCodes[p.Code] || p.within < 0) {
		start, end = k.start, k.end
	}
	p.offset = int(start)
	if p.within == 0 || c.doc.src[start] != '"' {
		return
	}
	if raw := c.doc.src[start:end]; raw != c.places.raw {
		c.places = stringOffset{raw: raw}
	}
	p.offset += c.places.of(max(p.within, -p.within) - 1)
}

func (c *checker) check() {
	if c.root.bad {
		return
	}
	if c.root.kind != '{' {
		c.add(routine.Problem{Code: "type", Message: "a routine must be an object, not " + c.doc.show(c.root)})
		return
	}
	c.top()
	c.ignoredStatus()
	c.parameters(c.root.member("parameters"))
	c.operations(c.root.member("operations"))
	c.flow()
	c.names()
}

// shapeOf holds a field of the routine against a schema; shapeAt, one item of a
// list in it.
func (c *checker) shapeOf(s *jsonschema.Schema, n *node, field string) {
	c.shape.at("", routine.PointerStep{Name: field, Index: -1})
	c.shape.value(s, n)
}

func (c *checker) shapeAt(s *jsonschema.Schema, n *node, list string, i int, what string) {
	c.shape.at(what, routine.PointerStep{Name: list, Index: -1}, routine.PointerStep{Index: i})
	c.shape.value(s, n)
}

// top checks and decodes the plain fields. One whose shape is wrong keeps its
// default.
func (c *checker) top() {
	s := loadShapes()
	missing := namesOf(s.routine, c.root).missing
	for _, name := range s.routine.Required {
		if c.root.member(name) == nil {
			c.add(routine.Problem{Code: "required", Message: fmt.Sprintf("a routine needs the field %q", name), Hint: c.doc.takeFor(c.root, name, missing)})
		}
	}
	d := &c.definition
	*d = routine.Definition{Incognito: true, IsMCPToolDesignated: true, Tags: []string{}, Parameters: []routine.Parameter{}}
	fields := map[string]any{"name": &d.Name, "description": &d.Description, "incognito": &d.Incognito,
		"is_public": &d.IsPublic, "is_mcp_tool_designated": &d.IsMCPToolDesignated, "tags": &d.Tags}
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
}

// unknownTop warns of a field that a routine does not have: it is dropped, so a
// misspelt one would be lost without a word. "$schema" is for editors.
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
	case strings.HasPrefix(k.name, "x-"):
		p.Hint = "put it into an operation, a parameter or an endpoint, where fields that begin with x- are kept"
	case k.name == wrapperKey:
		p.Hint = "the routine itself is the body: leave the wrapper out"
	case near != "":
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	c.put(&c.warnings, p)
}

// ignoredStatus warns of a status that a definition asks for in vain.
func (c *checker) ignoredStatus() {
	if n := c.root.member(statusField); n != nil && c.doc.own == 0 && n.text != string(routine.StatusActive) {
		c.warn(routine.Problem{Pointer: "/" + statusField, Code: "ignored_field",
			Message: "routine_status is ignored here: a new routine is active, and a changed one keeps its status",
			Hint:    `change it afterwards, with PATCH and {"routine_status": "draft"}`})
	}
}

// operations checks each operation against its own kind's schema, then what the
// schema cannot say of what is left.
func (c *checker) operations(list *node) {
	if list == nil || list.bad || list.kind != '[' {
		c.guessing = true
		return
	}
	s := loadShapes()
	c.ops, c.kinds = make([]operation.Action, len(list.items())), make([]operation.Kind, len(list.items()))
	name := c.root.keyOf("operations").name
	for i := range list.items() {
		n := &list.kids.nodes[i]
		before := c.problems.count
		c.shapeAt(s.operation, n, name, i, "an operation")
		k, ok := operation.KindOf(typeOf(n))
		if !ok {
			c.guessing = true
			c.use(n)
			continue
		}
		c.shapeAt(s.kinds[k.Name], n, name, i, k.Name)
		c.extensions(s.kinds[k.Name], n, k.Name, operationPointer(i))
		c.filesParameter(i, n)
		sound := c.problems.count == before && c.doc.found.count == 0
		if !sound {
			c.use(n)
		}
		c.operation(i, k, n, sound)
	}
}

// typeOf is what an operation names as its type, empty when that is no text.
func typeOf(n *node) string {
	if t := n.member("type"); t != nil && t.kind == '"' {
		return t.text
	}
	return ""
}

// use notes every placeholder in an operation that cannot be read whole, so that
// its parameters do not count as unused.
func (c *checker) use(n *node) {
	for i := range n.items() {
		c.use(&n.kids.nodes[i])
	}
	for _, k := range n.keys() {
		c.useText(k.name)
	}
	c.useText(n.text)
}

// operation decodes one operation and checks its meaning. When it is not sound,
// what is bad in it takes its default.
func (c *checker) operation(i int, k operation.Kind, n *node, sound bool) {
	if !sound && c.problems.full() {
		c.guessing = true
		return
	}
	o := routine.NewOperation(k.Name, c.doc.raw(n))
	decoded := o
	if !sound {
		decoded = routine.NewOperation(k.Name, c.doc.sound(n))
	}
	op, err := operation.Decode(decoded)
	if err != nil {
		c.guessing = true
		c.add(routine.Problem{Pointer: operationPointer(i), Code: "type", Message: "cannot be read: " + err.Error()})
		return
	}
	c.ops[i], c.kinds[i], c.definition.Operations = op, k, append(c.definition.Operations, o)
	if !c.spend(operation.EffortOf(op), func() string { return operationPointer(i) }) {
		return
	}
	for _, p := range operation.Check(op) {
		at, _, rest := n.find(p.Pointer)
		if at.bad || p.Code == "required" && rest == "" && at.hasBad() {
			continue // enough has been said
		}
		p.Pointer = operationPointer(i) + strings.TrimSuffix(p.Pointer, rest) // a missing field is missing in its object
		c.add(p)
	}
	if sound {
		for _, p := range operation.Warnings(op) {
			p.Pointer = operationPointer(i) + p.Pointer
			c.warn(p)
		}
	}
	operation.EachTemplate(op, func(s operation.Site) {
		if s.Text != "" {
			c.template(i, s)
		}
	})
}

func operationPointer(i int) string { return "/operations/" + strconv.Itoa(i) }

// parameters checks the declarations, each default and example against its own
// rules among them.
func (c *checker) parameters(list *node) {
	if list == nil {
		return
	}
	if list.bad || list.kind != '[' {
		c.namesKnown = false
		return
	}
	for i := range list.items() {
		n := &list.kids.nodes[i]
		c.shapeAt(loadShapes().parameter, n, "parameters", i, "a parameter")
		if n.bad || n.member("name") == nil || n.member("name").bad {
			c.namesKnown = false
		}
		base := "/parameters/" + strconv.Itoa(i)
		c.extensions(loadShapes().parameter, n, "a parameter", base)
		if n.bad || c.problems.full() || !c.spend(parameterEffort, func() string { return base }) {
			c.namesKnown = false
			continue
		}
		var p routine.Parameter
		if err := json.Unmarshal(c.doc.sound(n), &p); err != nil {
			c.add(routine.Problem{Pointer: base, Code: "type", Message: "cannot be read: " + err.Error()})
			continue
		}
		if c.declared[p.Name] && p.Name != "" {
			c.add(routine.Problem{Pointer: base + "/name", Code: "duplicate_parameter", Message: fmt.Sprintf("another parameter is named %q: rename one", p.Name)})
		}
		c.declared[p.Name] = true
		c.definition.Parameters = append(c.definition.Parameters, p)
		c.declaration(base, &p, n)
	}
}
