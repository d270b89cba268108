package routine

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rote/routine/placeholder"
)

// doubtful has what is legal and surely not meant. Each warning's pointer is
// relative to the operation.
type doubtful interface{ doubts() []Problem }

func (o *opScroll) doubts() []Problem {
	switch {
	case o.Selector != "" && (o.X != nil || o.Y != nil):
		at := "/y"
		if o.X != nil {
			at = "/x"
		}
		return []Problem{{Pointer: at, Code: "ignored_field", Message: "x and y scroll the window and are ignored beside a selector",
			Hint: "use delta_x and delta_y"}}
	case o.X == nil && o.Y == nil && o.DeltaX == nil && o.DeltaY == nil:
		return []Problem{{Code: "no_effect", Message: "scrolls nowhere: give x, y, delta_x or delta_y"}}
	}
	return nil
}

func (o *opReturnHTML) doubts() []Problem {
	if o.Selector != "" && o.Scope == "page" {
		return []Problem{{Pointer: "/selector", Code: "ignored_field", Message: "selector is ignored while scope is page", Hint: `write "scope": "element"`}}
	}
	return nil
}

func (o *opDownload) doubts() []Problem { return o.Endpoint.doubts() }

// doubts warns of the sanitizer's paths, in which nothing is filled in, too.
func (o *opFetch) doubts() []Problem {
	problems := o.Endpoint.doubts()
	if !bytes.Contains(o.Sanitizer, []byte("{{")) {
		return problems
	}
	steps, _ := parseSanitizer(o.Sanitizer)
	for _, s := range steps {
		if s == nil {
			continue
		}
		for _, path := range append([]string{s.Path}, s.Paths...) {
			if hasToken(path) {
				return append(problems, Problem{Pointer: "/data_sanitizer", Code: "literal_placeholder",
					Message: fmt.Sprintf("placeholders are not filled in here: %s stays as it is written", Truncate(path, 60))})
			}
		}
	}
	return problems
}

func (e *endpoint) doubts() []Problem {
	var problems []Problem
	if message, hint := doubtfulRequestURL(e.URL); message != "" {
		problems = append(problems, Problem{Pointer: "/endpoint/url", Code: "url", Message: message, Hint: hint})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		if text, ok := e.Headers[name].(string); ok && !placeholder.FitsHeader(text) {
			problems = append(problems, Problem{Pointer: "/endpoint/headers/" + EscapePointer(name), Code: "header_value",
				Message: "a browser sends no header with characters beyond U+00FF: the run will fail here", Hint: "encode them"})
		}
	}
	return problems
}

var (
	schemeOf = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	hostPath = regexp.MustCompile(`^(?i:www\.[a-z0-9.-]+|(?:[a-z0-9-]+\.)+(?:com|org|net|example|test|io|dev|app|gov|edu|[a-z]{2}))(?::[0-9]+)?/`)
)

// foreignSchemes are those that a run never opens. Another word before a colon
// may be a host.
var foreignSchemes = map[string]bool{"file": true, "javascript": true, "data": true, "ftp": true, "about": true, "blob": true, "chrome": true,
	"view-source": true, "mailto": true, "ws": true, "wss": true}

// foreignScheme is that of a URL which no run opens; empty: it has none.
func foreignScheme(url string) string {
	if m := schemeOf.FindStringSubmatch(strings.TrimSpace(url)); m != nil && foreignSchemes[strings.ToLower(m[1])] {
		return m[1]
	}
	return ""
}

// doubtfulRequestURL says what is wrong with the URL of a request, which may be
// relative to the page.
func doubtfulRequestURL(url string) (message, hint string) {
	head, _, _ := strings.Cut(url, "{{")
	switch scheme := foreignScheme(head); {
	case scheme != "":
		return fmt.Sprintf("%s: is not http or https: the run will fail here", scheme), ""
	case hostPath.MatchString(head):
		return "is a path below the current page's", fmt.Sprintf("did you mean %q?", "https://"+Truncate(url, 60))
	}
	return "", ""
}

// doubtfulText warns of what is not what it looks like: a placeholder that is
// never closed, and what no search for elements finds.
func (c *checker) doubtfulText(pointer func() string, s site, t *placeholder.Template, faults []placeholder.Fault) {
	if i := strings.LastIndex(s.text, "{{"); i >= 0 && s.place != placeholder.Script && !strings.Contains(s.text[i:], "}}") {
		c.put(&c.warnings, finding{within: i + 1, Problem: Problem{Pointer: pointer(), Code: "open_placeholder",
			Message: "{{ is never closed: it stays as it is written", Hint: "close it with }}"}})
	}
	if s.place == placeholder.Selector && strings.Contains(s.text, "::") {
		if i := pseudoElement(sampleIn(s.text, t, faults, identSample)); i >= 0 {
			c.put(&c.warnings, finding{within: i + 1, Problem: Problem{Pointer: pointer(), Code: "selector",
				Message: "a pseudo-element is no element: nothing will be found", Hint: "select the element that has it"}})
		}
	}
}

// pseudoElement is where a selector names one; -1: it does not.
func pseudoElement(selector string) int {
	p := &selectorParser{text: selector}
	p.split()
	for i, t := range p.tokens {
		if i > 0 && t.text == ":" && !t.space && p.tokens[i-1].text == ":" {
			return p.tokens[i-1].at
		}
	}
	return -1
}

// needsPage reports whether op, of kind k, acts on what the page holds.
func needsPage(k kind, op operation) bool {
	e, optional := op.(elementOptional)
	return k.NeedsPage && (!optional || e.element() != "")
}
