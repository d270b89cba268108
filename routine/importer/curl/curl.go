// Package curl reads commands of cURL, as people copy them from documentation and from the tools
// of browsers.
package curl

import (
	"regexp"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/importer/draft"
)

// Kind is the name of this kind of recordings.
const Kind = "curl"

var begins = regexp.MustCompile(`^\x{feff}?\s*(?:#[^\n]*\n\s*)*(?:\$\s+)?curl(?:\.exe)?[\s^\\]`)

// Matches reports whether a text is a command of this kind.
func Matches(text string) bool { return begins.MatchString(text) }

// Read makes a draft of the commands in a text: a request each.
func Read(text string) (*draft.Draft, error) {
	r := &reader{d: &draft.Draft{}}
	commands := lex(text)
	words := 0
	for _, c := range commands {
		if words += len(c.words); words > maxWords {
			return nil, routine.Errorf(routine.CodeInvalid, "line %d: the commands have more than %d arguments", c.words[0].line, maxWords)
		}
	}
	for _, c := range commands {
		if len(c.words) > 0 && c.words[0].text == "$" {
			c.words = c.words[1:]
		}
		if len(c.words) == 0 {
			continue
		}
		if len(r.d.Items) == draft.MaxSteps {
			return nil, routine.Errorf(routine.CodeInvalid, "line %d: there are more than %d commands", c.words[0].line, draft.MaxSteps)
		}
		name := strings.ToLower(c.words[0].text)
		if name != "curl" && name != "curl.exe" {
			r.d.Step(c.words[0].line, c.words[0].column, "another command")
			r.d.Drop("shell", "it is no command of cURL")
			continue
		}
		r.command(c)
	}
	if len(r.d.Items) == 0 {
		return nil, routine.Errorf(routine.CodeInvalid, "line 1: there is no command of cURL")
	}
	r.result()
	return r.d, nil
}

// reader turns commands into operations.
type reader struct {
	d     *draft.Draft
	last  string // the key of the last answer; empty: the last operation has the result itself
	count int
}

// command adds the request of a command.
func (r *reader) command(c command) {
	q := &request{d: r.d, headers: map[string]string{}}
	r.d.Step(c.words[0].line, c.words[0].column, "curl "+q.shown(c.words[1:]))
	q.options(c.words[1:])
	if c.piped {
		r.d.Change("shell", "where the output goes is left out")
	}
	if r.d.Item().What == draft.Dropped {
		return
	}
	e, ok := q.endpoint()
	if !ok {
		return
	}
	r.count++
	if q.filename != "" {
		r.last = ""
		r.d.Add(draft.Operation{Type: "download", Endpoint: e, Filename: q.filename})
		return
	}
	r.last = "r" + strconv.Itoa(r.count)
	r.d.Add(draft.Operation{Type: "fetch", Endpoint: e, StorageKey: r.last})
}

// result returns the last answer.
func (r *reader) result() {
	if r.last != "" {
		r.d.Add(draft.Operation{Type: "return", StorageKey: r.last})
	}
}
