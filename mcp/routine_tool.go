package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"rote/routine"
)

// maxToolDescription is in characters. Every tool's description is in an
// agent's context all the time.
const maxToolDescription = 600

// maxResultSize lets clients that know it show a whole answer: its limit of 32
// KB counts in bytes of JSON, which they escape once more.
const maxResultSize = 100000

// toolNames are those that every client takes. One that is not makes some
// clients drop the whole list.
var toolNames = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// readsOnly reports whether the operations change nothing on a site.
func readsOnly(operations []routine.Operation) bool {
	for _, o := range operations {
		if k, known := routine.KindOf(o.Type()); !known || k.Effect.With(methodOf(o)) != routine.EffectReads {
			return false
		}
	}
	return true
}

// methodOf is the method of the request that an operation makes; empty: the
// default.
func methodOf(o routine.Operation) string {
	var s struct{ Endpoint struct{ Method string } }
	if text, err := o.MarshalJSON(); err == nil {
		_ = json.Unmarshal(text, &s) // a stored operation is well-formed
	}
	return s.Endpoint.Method
}

// toolDescription is the author's, followed by what a call gives.
func toolDescription(d *routine.Definition) string {
	shape := resultShape(d)
	text := truncate(routine.OneLine(clean(d.Description)), maxToolDescription-len([]rune(shape))-2)
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsLetter(last) || unicode.IsDigit(last) {
		text += "."
	}
	return strings.TrimSpace(text + " " + shape)
}

// resultShape says what a call gives.
func resultShape(d *routine.Definition) string {
	o := routine.OutcomeOf(d)
	of := truncate(routine.OneLine(clean(o.Of)), 60)
	switch o.Is {
	case routine.OutcomeValue:
		return fmt.Sprintf("Result: data is the value stored as %q.", of)
	case routine.OutcomeHTML:
		if of == "" {
			of = "the page"
		}
		return fmt.Sprintf("Result: data is the HTML of %s.", of)
	case routine.OutcomeFile:
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
