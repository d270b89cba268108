package draft

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/lesson/textform"
	"rote/routine/selector"
)

// Locator says how an element is found. Exactly one way acts: the selector, or without one the
// texts of Target.
type Locator struct {
	CSS string
	// Alternatives are other selectors of the same element.
	Alternatives []string
	// Target is what a person sees of it; nil if it is not known.
	Target *textform.Target
	// ByPlace reports whether the selector holds only by the place of the element in the page.
	ByPlace bool
	// Label names the element, for the names of parameters.
	Label string
	// names are all texts that name it, for the question whether it takes a secret.
	names []string
}

// Empty reports whether nothing finds the element.
func (l Locator) Empty() bool { return l.CSS == "" && l.Target == nil }

// Same reports whether both find the same element in the same way.
func (l Locator) Same(other Locator) bool {
	if l.CSS != "" || other.CSS != "" {
		return l.CSS == other.CSS
	}
	return l.Target != nil && other.Target != nil && reflect.DeepEqual(l.Target, other.Target)
}

// maxAlternatives is how many other selectors an operation keeps.
const maxAlternatives = 3

// How many selectors of an element are compared, and how many bytes each may have.
const (
	maxSelectors = 50
	maxSelector  = 2000
)

// Choose returns the locator of an element for which a recording has several ways: CSS selectors
// and what a person sees, in the order of the recording.
func Choose(css []string, targets []textform.Target) Locator {
	var l Locator
	for _, t := range targets {
		if t.Check() == nil && l.Target == nil {
			l.Target = new(t)
		}
		l.names = append(l.names, t.Name, t.Label, t.Text)
		l.Label = cmp.Or(l.Label, t.Label, t.Name)
	}
	var valid []string
	for _, s := range css {
		s = strings.TrimSpace(s)
		if len(valid) < maxSelectors && s != "" && len(s) <= maxSelector && !strings.Contains(s, "{{") && selector.Check(s) == nil && !slices.Contains(valid, s) {
			valid = append(valid, s)
		}
	}
	slices.SortStableFunc(valid, func(a, b string) int { return cmp.Compare(cost(a), cost(b)) })
	l.names = append(l.names, valid...)
	if len(valid) == 0 {
		return l
	}
	l.CSS = valid[0]
	if len(valid) > 1 {
		l.Alternatives = valid[1:min(len(valid), maxAlternatives+1)]
	}
	l.ByPlace = cost(l.CSS) >= byPlace && l.Target != nil
	if l.ByPlace && l.Target.Role != "" && (token.FindString(l.CSS) == "" || strings.Contains(l.CSS, ":nth") && len(compounds(l.CSS)) >= 4) {
		l.Alternatives, l.CSS, l.ByPlace = nil, "", false
	}
	l.Label = cmp.Or(l.Label, labelOf(l.CSS))
	return l
}

// Weak reports whether the selector could match an element of another frame: it is a tag or a
// place only.
func (l Locator) Weak() bool { return l.CSS != "" && !strings.ContainsAny(l.CSS, "#[.") }

var (
	cssID   = regexp.MustCompile(`#((?:[\w-]|\\.)+)`)
	cssName = regexp.MustCompile(`\[(?:name|aria-label|placeholder|data-test[\w-]*|data-cy|data-qa|title|alt|id)[~^$*|]?=["']?([^"'\]]+)`)
)

// labelOf returns the name that a selector gives its element.
func labelOf(css string) string {
	parts := compounds(css)
	last := parts[len(parts)-1]
	for _, pattern := range []*regexp.Regexp{cssName, cssID} {
		if m := pattern.FindStringSubmatch(last); m != nil {
			return strings.ReplaceAll(m[1], `\`, "")
		}
	}
	return ""
}

// Quote is a CSS string.
func Quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\a `, "\r", `\d `, "\f", `\c `).Replace(text) + `"`
}

// Attribute is the selector of an element by the value of an attribute.
func Attribute(name, value string) string { return "[" + name + "=" + Quote(value) + "]" }

var plainID = regexp.MustCompile(`^[A-Za-z_][\w-]*$`)

// ID is the selector of an element by its id.
func ID(id string) string {
	if plainID.MatchString(id) {
		return "#" + id
	}
	return Attribute("id", id)
}

// Shown is a short text for the account of a step.
func Shown(text string) string { return routine.Truncate(routine.OneLine(text), 60) }
