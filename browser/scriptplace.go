package browser

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"rote/browser/cdp"
	"rote/routine"
)

// stackLine matches a line of an error's stack that ends with a position.
var stackLine = regexp.MustCompile(`(?m)^ {4}at .*:(\d+):(\d+)\)?$`)

// thrownBy is where a script was when something was thrown.
type thrownBy struct {
	// place is zero if it is not known.
	place routine.Place
	// outside reports whether the error was thrown by other code that the script called.
	outside bool
}

// scriptSource identifies the code of a script among other code of a page.
type scriptSource struct {
	name string // its source URL
	// before is how many lines precede its text in the code that was evaluated.
	before int
}

// place finds where the script was when x was thrown.
func (s scriptSource) place(x cdp.ExceptionDetails) thrownBy {
	if s.name == "" {
		return thrownBy{}
	}
	// The stack in the description has the callers of async functions too.
	for i, frame := range stackLine.FindAllStringSubmatch(x.Exception.Description, -1) {
		if strings.Contains(frame[0], s.name+":") {
			line, _ := strconv.Atoi(frame[1]) // only digits
			column, _ := strconv.Atoi(frame[2])
			return thrownBy{routine.Place{Line: line - s.before, Column: column}, i > 0}
		}
	}
	if x.Stack == nil {
		return thrownBy{}
	}
	for i, f := range x.Stack.Frames {
		if f.URL == s.name {
			return thrownBy{routine.Place{Line: f.Line + 1 - s.before, Column: f.Column + 1}, i > 0}
		}
	}
	return thrownBy{outside: len(x.Stack.Frames) > 0}
}

// placeOfSyntaxError is the place of the syntax error x in the script.
func (s scriptSource) placeOfSyntaxError(x cdp.ExceptionDetails) thrownBy {
	return thrownBy{place: routine.Place{Line: x.Line + 1 - s.before, Column: x.Column + 1}}
}

// String is the place as it follows the text of an error; empty if it is not known.
func (t thrownBy) String() string {
	known := t.place.Line > 0
	switch {
	case known && t.outside:
		return fmt.Sprintf(" (in a function outside of the script, called at %s)", t.place)
	case known:
		return fmt.Sprintf(" (%s)", t.place)
	case t.outside:
		return " (in a function outside of the script)"
	}
	return ""
}

// lastScript is the source of the script that ran last; zero if none has run.
func (p *page) lastScript() scriptSource {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.console.script
}
