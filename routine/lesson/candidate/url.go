package candidate

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"rote/routine"
	"rote/routine/lesson/jsonobject"
)

const (
	movedPoints    = 70 // the page went to another URL than the expected one
	notMovedPoints = 20 // it stayed where it was, so the fault is probably earlier
)

// ForURL proposes, for a wait_for_url that fails, an expression that accepts what the
// old one did and the present URL. before is the URL that the page had before the operation
// that should have changed it.
func ForURL(o routine.Operation, before, now string, values []Value) []Candidate {
	var fields struct {
		Regex string `json:"url_regex"`
	}
	u, err := url.Parse(routine.WithoutUser(now))
	if json.Unmarshal(o.Raw(), &fields) != nil || err != nil || u.Host == "" {
		return nil
	}
	regex := "(?:" + fields.Regex + ")|^" + regexp.QuoteMeta(u.Scheme+"://"+u.Host) + pathExpression(u.EscapedPath(), values) + "(?:[?#]|$)"
	c := Candidate{Points: movedPoints, Why: "the page is at " + shownPage(u) + " now; the expression accepts both"}
	if sameDocument(before, now) {
		c.Points = notMovedPoints
		c.Why = "the page did not leave " + shownPage(u) + ": probably an operation before no longer does what it did"
	}
	if c.Operation, err = jsonobject.Set(o.Raw(), "url_regex", routine.RawJSON(regex)); err != nil {
		return nil
	}
	return []Candidate{c}
}

// shownPage is the URL of a page without its query and without the parts of its path that
// vary: these may be tokens.
func shownPage(u *url.URL) string {
	return routine.ShownURL(u.Scheme + "://" + u.Host + shownPath(u.Path))
}

// shownPath is a path with "…" in place of the parts that vary.
func shownPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if variablePart.MatchString(part) {
			parts[i] = "…"
		}
	}
	return strings.Join(parts, "/")
}

// variablePart is a part of a path that is another one each time: a number, a UUID, or
// something that a program made up.
var variablePart = regexp.MustCompile(`(?i)^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12,}|[\w-]*\d[\w-]*\d[\w-]{10,})$`)

// pathExpression returns a regular expression for a path. Values of parameters become
// placeholders, which are quoted when they are filled in.
func pathExpression(path string, values []Value) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name := parameterWith(part, values); name != "" {
			parts[i] = "{{" + name + "}}"
		} else if variablePart.MatchString(part) {
			parts[i] = "[^/?#]+"
		} else {
			parts[i] = regexp.QuoteMeta(part)
		}
	}
	return strings.Join(parts, "/")
}

// parameterWith returns the name of the parameter that has a text as its value, or an empty
// string.
func parameterWith(text string, values []Value) string {
	for _, v := range values {
		if text != "" && (text == v.Text || text == url.PathEscape(v.Text)) {
			return v.Name
		}
	}
	return ""
}

// sameDocument reports whether two URLs differ in their query and fragment only.
func sameDocument(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	return err == nil && err2 == nil && x.Scheme == y.Scheme && x.Host == y.Host && x.Path == y.Path
}
