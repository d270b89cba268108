package definition

import (
	"fmt"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"rote/routine"
	"rote/routine/javascript"
	"rote/routine/operation"
)

// checker checks one definition and collects its problems. It marks a value that has a
// problem as bad in the tree, and later stages ignore bad values: one mistake is
// reported once and the rest of the definition is still checked.
type checker struct {
	doc                *document
	root               *node
	definition         routine.Definition
	problems, warnings report
	shape              shapeCheck
	// ops are the decoded operations, nil where the type is unknown; kinds are their
	// kinds.
	ops   []operation.Action
	kinds []operation.Kind
	// guessing reports whether an operation could not be read. It is then uncertain
	// which parameters are used and which keys are stored, so checks that need to know
	// are skipped.
	guessing bool
	// declared and used are sets of parameter names. namesKnown reports whether the
	// names of all declarations could be read.
	declared, used map[string]bool
	namesKnown     bool
	// fromSecret are the names of the parameters whose value a stored secret may supply.
	fromSecret map[string]bool
	effort     int
	matching   matchBudget
	// places and last cache the lookups for the previous problem, because problems of
	// one value often follow each other.
	places stringOffset
	last   struct {
		pointer, written string
		node             *node
		key              *key
	}
	// script caches the position in the script of the previous problem.
	script struct {
		text   string
		cursor *javascript.Cursor
	}
}

func newChecker(doc *document, root *node) *checker {
	c := &checker{doc: doc, root: root, problems: doc.found, declared: map[string]bool{}, used: map[string]bool{}, fromSecret: map[string]bool{}, namesKnown: true}
	c.shape = shapeCheck{doc: doc, found: &c.problems}
	return c
}

// add records a problem. Its position is that of the value at its pointer, or of the
// key if the field should not exist.
func (c *checker) add(p routine.Problem) { c.put(&c.problems, finding{Problem: p}) }

// warn records a warning in the same way.
func (c *checker) warn(p routine.Problem) { c.put(&c.warnings, finding{Problem: p}) }

// put records a finding and computes its position unless it has one.
func (c *checker) put(to *report, f finding) {
	if !to.full() && f.offset == 0 {
		c.place(&f)
		f.Message += c.inScript(f)
	}
	to.add(f)
}

// inScript returns the position of a problem in its script for the end of the message,
// as in " (line 3, column 5 of the script)", or an empty string if the problem is not
// in a script. The line in the document does not help there: a JSON string has no line
// breaks.
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

// keyCodes are the codes of problems that are about a field's name and not its value.
var keyCodes = map[string]bool{"unknown_field": true, "header_name": true}

// place sets a finding's offset, and replaces the field names in its pointer by those
// that the author wrote.
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

// shapeOf checks the value of a field of the routine against a schema.
func (c *checker) shapeOf(s *jsonschema.Schema, n *node, field string) {
	c.shape.startAt("", routine.PointerStep{Name: field, Index: -1})
	c.shape.checkValue(s, n)
}

// shapeAt checks item i of a list of the routine against a schema. what names the item
// in messages, as in "a parameter".
func (c *checker) shapeAt(s *jsonschema.Schema, n *node, list string, i int, what string) {
	c.shape.startAt(what, routine.PointerStep{Name: list, Index: -1}, routine.PointerStep{Index: i})
	c.shape.checkValue(s, n)
}

func operationPointer(i int) string { return "/operations/" + strconv.Itoa(i) }
