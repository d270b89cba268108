// Package definition is the compiler of routines. It reads the text of a definition
// strictly, checks its shape and meaning, and reports every problem with its place. It
// also checks and converts the values that a call hands in ([Bind]), and describes the
// parameters as JSON Schema.
package definition

import (
	"fmt"

	"rote/routine"
)

// Parse compiles a definition. It reads text strictly, checks its shape and meaning,
// and reports all problems at once, sorted by position, as a [routine.Error] with
// CodeInvalid. The returned problems are warnings: the definition is valid but
// probably not as intended. No other function makes a definition from an author's
// text.
func Parse(text []byte) (*routine.Definition, []routine.Problem, error) {
	if err := CheckSize(text); err != nil {
		return nil, nil, err
	}
	doc := readDocument(text, false)
	return parse(doc, &doc.root)
}

// ParseBody is Parse for the body of a validate call: the routine itself, or an
// object whose key routine_json holds the routine, as an object or as a string
// of JSON. Lines count in the body, or inside that string; pointers are relative
// to the routine.
func ParseBody(body []byte) (*routine.Definition, []routine.Problem, error) {
	if err := CheckSize(body); err != nil {
		return nil, nil, err
	}
	doc := readDocument(body, true)
	doc.found.unwrap("/" + wrapperKey)
	inner := doc.root.member(wrapperKey)
	if inner == nil {
		return parse(doc, &doc.root)
	}
	if inner.kind == '"' && doc.found.count == 0 {
		return Parse([]byte(inner.text))
	}
	return parse(doc, inner)
}

// CheckSize returns CodeTooLarge if text exceeds the limit of a definition.
func CheckSize(text []byte) error {
	if len(text) > routine.MaxDefinitionBytes {
		return &routine.Error{Code: routine.CodeTooLarge, Message: fmt.Sprintf("the definition has %d bytes, the limit is %d", len(text), routine.MaxDefinitionBytes)}
	}
	return nil
}

// parse checks the definition at root, a node of doc.
func parse(doc *document, root *node) (*routine.Definition, []routine.Problem, error) {
	c := newChecker(doc, root)
	if !doc.broken {
		c.check()
	}
	warnings := c.warnings.byPosition(doc)
	if problems := c.problems.byPosition(doc); len(problems) > 0 {
		return nil, warnings, invalidText("routine", problems, c.problems.count)
	}
	return &c.definition, warnings, nil
}
