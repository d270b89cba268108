package definition

import (
	"fmt"
	"strconv"

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

func operationPointer(i int) string { return "/operations/" + strconv.Itoa(i) }
