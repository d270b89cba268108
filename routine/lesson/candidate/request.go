package candidate

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/lesson/jsonobject"
)

// Points of a request of the page that may be the one that a fetch or download makes.
const (
	samePathPoints   = 60 // less for a path that is only similar
	sameNamesPoints  = 20 // of the names in query and body
	sameHostPoints   = 5
	sameMethodPoints = 5
	leastPoints      = 45
)

// Endpoint are the parts of a request that are compared. Placeholders in them are as
// they were written.
type Endpoint struct {
	URL     string                     `json:"url"`
	Method  string                     `json:"method"`
	Headers map[string]json.RawMessage `json:"headers"`
	Body    json.RawMessage            `json:"body"`

	url *url.URL
}

// ForRequest proposes, for a fetch or download that fails, the request that the page
// itself makes today. build returns the endpoint of an operation that makes a request, and the
// operations that it needs before it.
func ForRequest(o routine.Operation, pageURL string, log routine.RequestLog,
	build func(routine.Request) (endpoint json.RawMessage, needs []json.RawMessage, err error)) []Candidate {

	was, ok := EndpointOf(o, pageURL)
	if !ok {
		return nil
	}
	var all []Candidate
	seen := map[string]bool{}
	for _, r := range slices.Backward(log.Requests) {
		is, ok := partsOf(r)
		if !ok || r.Status < 200 || r.Status > 299 || seen[is.Method+is.url.Host+is.url.Path] {
			continue
		}
		seen[is.Method+is.url.Host+is.url.Path] = true
		c := Candidate{Points: alike(was, is), Why: describeRequest(was, is, r.Status)}
		if c.Points < leastPoints {
			continue
		}
		if is.Method == "DELETE" && was.Method != "DELETE" {
			c.Destructive, c.Points = true, c.Points+DestructivePoints
		}
		endpoint, needs, err := build(r)
		if err != nil {
			continue
		}
		c.Needs = needs
		if c.Operation, err = jsonobject.Set(o.Raw(), "endpoint", endpoint); err == nil {
			all = append(all, c)
		}
	}
	return Best(all)
}

// EndpointOf returns the endpoint of a fetch or download on a page.
func EndpointOf(o routine.Operation, pageURL string) (Endpoint, bool) {
	var fields struct {
		Endpoint Endpoint `json:"endpoint"`
	}
	base, err := url.Parse(pageURL)
	if json.Unmarshal(o.Raw(), &fields) != nil || err != nil || fields.Endpoint.URL == "" {
		return Endpoint{}, false
	}
	e := fields.Endpoint
	if e.Method == "" {
		e.Method = "GET"
	}
	e.url, err = base.Parse(e.URL)
	return e, err == nil
}

// partsOf returns the parts of a request that a page made.
func partsOf(r routine.Request) (Endpoint, bool) {
	u, err := url.Parse(r.URL)
	e := Endpoint{URL: r.URL, Method: r.Method, Headers: map[string]json.RawMessage{}, Body: json.RawMessage(r.Body), url: u}
	for name := range r.Headers {
		e.Headers[name] = nil
	}
	return e, err == nil
}

// alike returns the points of a request for being the one that an operation made before.
func alike(was, is Endpoint) int {
	path := overlap(pathWords(was.url.Path), pathWords(is.url.Path))
	if was.url.Path == is.url.Path {
		path = 1
	}
	points := path*samePathPoints + overlap(namesIn(was), namesIn(is))*sameNamesPoints
	if was.url.Host == is.url.Host {
		points += sameHostPoints
	}
	if was.Method == is.Method {
		points += sameMethodPoints
	}
	return int(points)
}

// versionPart is a part of a path that names the version of an interface.
var versionPart = regexp.MustCompile(`(?i)^v\d+(\.\d+)*$`)

// pathWords are the parts of a path that do not vary.
func pathWords(path string) []string {
	var words []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && !versionPart.MatchString(part) && !variablePart.MatchString(part) && !strings.Contains(part, "{{") {
			words = append(words, part)
		}
	}
	return words
}

// namesIn are the names of the query and of the fields of the body.
func namesIn(e Endpoint) []string {
	names := slices.Collect(maps.Keys(e.url.Query()))
	return append(names, bodyNames(e)...)
}

// bodyNames are the names of the fields of a body that is a JSON object or a form.
func bodyNames(e Endpoint) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(e.Body, &object) == nil {
		return slices.Sorted(maps.Keys(object))
	}
	if form, err := url.ParseQuery(string(e.Body)); err == nil && strings.Contains(string(e.Body), "=") {
		return slices.Sorted(maps.Keys(form))
	}
	return nil
}

// overlap is the share of names that two lists have in common, 1 if both are empty.
func overlap(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	both := 0
	for _, name := range a {
		if slices.Contains(b, name) {
			both++
		}
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}

// maxNamed bounds how many differences of each kind a description names.
const maxNamed = 4

// describeRequest says how the page's request differs from that of the operation. Only
// names are shown, because values may be secret.
func describeRequest(was, is Endpoint, status int) string {
	text := fmt.Sprintf("the page itself asks %s %s (%d)", is.Method, routine.ShownURL(shownPath(is.url.Path)), status)
	if is.url.Host != was.url.Host {
		text += " at " + is.url.Host
	}
	switch {
	case is.url.Path != was.url.Path:
		text += ", not " + routine.ShownURL(shownPath(was.url.Path))
	case is.Method != was.Method:
		text += ", not " + was.Method
	}
	parts := []string{text}
	added, gone := differences(headerNames(was), headerNames(is))
	parts = append(parts, named("header ", added, " is new"), named("header ", gone, " is gone"))
	if was.Method == is.Method {
		added, gone = differences(slices.Sorted(maps.Keys(was.url.Query())), slices.Sorted(maps.Keys(is.url.Query())))
		parts = append(parts, named("", added, " is new in the query"), named("", gone, " is gone from the query"))
		added, gone = differences(bodyNames(was), bodyNames(is))
		parts = append(parts, named("", added, " is new in the body"), named("", gone, " is gone from the body"))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

func named(before string, names []string, after string) string {
	if len(names) == 0 {
		return ""
	}
	for i, n := range names {
		names[i] = routine.Truncate(routine.PlainText(routine.OneLine(n)), 40)
	}
	return before + strings.Join(names[:min(len(names), maxNamed)], ", ") + after
}

// headerNames are the names of the headers of a request that authors set.
func headerNames(e Endpoint) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "x-") || lower == "authorization" {
			names = append(names, name)
		}
	}
	return names
}

// differences returns what only b has and what only a has.
func differences(a, b []string) (added, gone []string) {
	without := func(all, others []string) (rest []string) {
		for _, name := range all {
			if !slices.ContainsFunc(others, func(o string) bool { return strings.EqualFold(o, name) }) {
				rest = append(rest, name)
			}
		}
		return rest
	}
	return without(b, a), without(a, b)
}
