package mcp

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/operation"
)

// maxToolDescription limits a tool's description, in characters: an agent has the
// descriptions of all tools in its context.
const maxToolDescription = 600

// maxResultSize is published for clients that would otherwise cut results off. It
// exceeds maxResult, because clients escape the JSON once more.
const maxResultSize = 100000

// toolNames matches the tool names that every client accepts. Any other name makes
// some clients drop the whole list.
var toolNames = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// toolDescription returns the author's description, followed by what a call
// returns.
func toolDescription(d *routine.Definition) string {
	shape := resultShape(d)
	text := truncate(routine.OneLine(clean(d.Description)), maxToolDescription-len([]rune(shape))-2)
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsLetter(last) || unicode.IsDigit(last) {
		text += "."
	}
	return strings.TrimSpace(text + " " + shape)
}

// resultShape returns a sentence on what a call returns.
func resultShape(d *routine.Definition) string {
	o := operation.ResultOf(d)
	of := truncate(routine.OneLine(clean(o.Name)), 60)
	switch o.Kind {
	case operation.ResultValue:
		return fmt.Sprintf("Result: data is the value stored as %q.", of)
	case operation.ResultHTML:
		if of == "" {
			of = "the page"
		}
		return fmt.Sprintf("Result: data is the HTML of %s.", of)
	case operation.ResultFile:
		return fmt.Sprintf("Result: the file %s.", of)
	}
	return "Result: no data; it acts on the site."
}

// truncate returns s, or as much of it as fits into n characters together with
// the ellipsis that marks the end.
func truncate(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return routine.Truncate(s, max(n-1, 0))
}
