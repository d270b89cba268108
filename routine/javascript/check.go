// Package javascript holds the rules of js_evaluate that can be decided on the
// text of a script: it parses, it is one immediately invoked function
// expression, and it names nothing that js_evaluate blocks.
//
// Names are found on the syntax tree, as what they are bound to: a free
// identifier, a member of a global object (also through an alias, a
// destructuring, or a computed key that folds to a string), a call of
// .constructor. Words in comments and strings, members of other objects and
// the script's own names are ignored.
//
// # What the text cannot show
//
// This check gives authors early feedback. It is not a sandbox. It does
// not detect
//
//   - functions of the page that fetch or evaluate for the script
//     ($.get, a wrapper kept under another name, getToken('1&leak=' + x));
//   - names and values built at run time (Object.values(window), a property
//     set earlier, a function picked from an array by a computed index);
//   - requests and navigation that the DOM makes: CSS, media, link elements,
//     HTML glued from pieces, an own form with a foreign action;
//   - hooks set as properties (el.onclick = f), which cannot be distinguished from
//     reader.onload = f, and observers that the list of rules does not have
//     (ResizeObserver, PerformanceObserver);
//   - data that leaves with the page's next request (document.cookie = x).
//
// The guard (package browser/guard) blocks most of these at run time. Its comment
// lists what it does not prevent, such as the first and the last of these; the
// rules of egress hold for them too. Security relies on the guard and on egress,
// not on this package.
//
// The parser is not the browser's. It rejects legacy octal numbers, and misses
// a few early errors (an unknown label, an invalid regular expression) that the
// browser reports later.
package javascript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// The codes of problems.
const (
	CodeSyntax     = "script_syntax"
	CodeNotIIFE    = "script_not_iife"
	CodeBlocked    = "script_blocked"
	CodeTooLarge   = "script_too_large"
	CodeTooComplex = "script_too_complex"
)

// MaxBytes is the maximum length of a script. The parser's work grows with the
// number of names times the nesting, so length and depth are both limited.
const MaxBytes = 256 << 10

// MaxProblems is the maximum number of problems reported for one script.
const MaxProblems = 100

// Problem is one problem of a script.
type Problem struct {
	// Offset is in bytes from 0. Line and Column count from 1, columns in
	// characters.
	Offset, Line, Column int
	// Code is one of the Code constants.
	Code string
	// Message says what is wrong and why, Hint what to write instead.
	Message, Hint string
}

// Check returns all problems of a script, sorted by position, or nil if the
// script breaks no rule. It never panics, whatever the text is.
func Check(script string) (problems []Problem) {
	var found []Problem
	defer func() {
		if r := recover(); r != nil {
			// The parser or the checker has failed. The script is rejected, because
			// nothing is known about it.
			found = append(found, Problem{Code: CodeSyntax, Message: "the script cannot be parsed"})
		}
		problems = locate(script, found)
	}()
	found = check(script)
	return
}

func check(script string) []Problem {
	if len(script) > MaxBytes {
		return []Problem{{
			Code:    CodeTooLarge,
			Message: fmt.Sprintf("the script has %d bytes, more than the %d that js_evaluate takes", len(script), MaxBytes),
		}}
	}
	toks, problem := scan(script)
	if problem != nil {
		return []Problem{*problem}
	}
	if len(toks.list) == 0 {
		return []Problem{{Code: CodeNotIIFE, Message: "the script is empty", Hint: hintForm}}
	}
	tree, err := js.Parse(parse.NewInputBytes(toks.text), js.Options{})
	if err != nil {
		return []Problem{toks.syntaxProblem(script, err)}
	}
	c := &checker{tokens: toks, flow: newFlow(tree), inBlock: map[*js.FuncDecl]string{}}
	starts := c.statements(tree.List)
	c.checkIIFE(tree.List, starts)
	if c.flow.stepsLeft < 0 {
		c.found = append(c.found, Problem{
			Code:    CodeTooComplex,
			Message: "the script is too entangled to be checked",
			Hint:    "make it shorter, or split it into several js_evaluate operations",
		})
	}
	return c.found
}

// locate sorts problems, removes duplicates and sets lines and columns.
func locate(script string, problems []Problem) []Problem {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	problems = slices.CompactFunc(problems, func(a, b Problem) bool {
		return a.Offset == b.Offset && a.Code == b.Code && a.Message == b.Message
	})
	if len(problems) > MaxProblems {
		problems = problems[:MaxProblems]
	}
	cursor := NewCursor(script)
	for i := range problems {
		p := &problems[i]
		p.Offset = min(max(p.Offset, 0), len(script))
		p.Line, p.Column = cursor.To(p.Offset)
	}
	return problems
}

// Cursor turns byte offsets in a script into lines and columns the way an editor
// counts them. Ascending offsets cost one pass over the script.
type Cursor struct {
	script           string
	at, line, column int
}

// NewCursor returns a cursor at the beginning of a script.
func NewCursor(script string) *Cursor { return &Cursor{script: script, line: 1, column: 1} }

// To returns the line and the column of an offset. Both count from 1, columns in
// characters.
func (c *Cursor) To(offset int) (line, column int) {
	if offset < c.at {
		*c = *NewCursor(c.script)
	}
	for c.at < min(offset, len(c.script)) {
		r, n := utf8.DecodeRuneInString(c.script[c.at:])
		c.at += n
		c.column++
		if r == '\n' || r == '\u2028' || r == '\u2029' || r == '\r' && !strings.HasPrefix(c.script[c.at:], "\n") {
			c.line, c.column = c.line+1, 1
		}
	}
	return c.line, c.column
}

// offsetOf converts a line and a column of the parser to an offset.
func offsetOf(script string, line, column int) int {
	l, c := 1, 1
	for at := 0; at < len(script); {
		if l == line && c == column {
			return at
		}
		r, n := utf8.DecodeRuneInString(script[at:])
		at += n
		c++
		if r == '\n' || r == '\u2028' || r == '\u2029' || r == '\r' && !strings.HasPrefix(script[at:], "\n") {
			l, c = l+1, 1
		}
	}
	return len(script)
}
