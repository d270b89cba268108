package sanitize

import (
	"fmt"
	"strings"

	"rote/routine"

	"github.com/ohler55/ojg/jp"
)

const (
	// maxShownNames bounds how many names of an object's members a warning lists.
	maxShownNames = 12
	// maxMissSteps bounds the values that are visited to explain why a path matches
	// nothing.
	maxMissSteps = 100_000
)

// explainNoMatch explains why a path selects nothing: it describes the value at which
// the first failing step of the path was applied, as in "json_path $.items matches
// nothing; the response has total, products". It returns an empty string if no match
// is normal, as for the items of an empty list or a filter that excludes all.
func (s *pathSearch) explainNoMatch(x *jsonPath) string {
	steps := s.steps
	defer func() { s.steps = steps }()
	s.steps = min(steps, maxMissSteps)
	parent := rootNode
	for i := 1; i < len(x.expr); i++ {
		if _, open := x.expr[i].(jp.Descent); open && i < len(x.expr)-1 {
			continue // a path does not end in one
		}
		found, err := s.find(&jsonPath{expr: x.expr[:i+1], filters: x.filters})
		if err != nil {
			return ""
		}
		if len(found) > 0 {
			parent = found[0]
			continue
		}
		switch x.expr[i].(type) {
		case jp.Child, jp.Nth, jp.Union:
		case jp.Wildcard, jp.Slice:
			if kind := s.doc.kind(parent); kind == '{' || kind == '[' {
				return ""
			}
		default: // a filter
			return ""
		}
		contents, err := s.contents(parent)
		if err != nil {
			return ""
		}
		return fmt.Sprintf("json_path %s matches nothing; %s %s", routine.Truncate(x.String(), routine.MaxShownURL), placeOf(x.expr, i), contents)
	}
	return ""
}

// placeOf names the value to which the first n steps of a path lead.
func placeOf(x jp.Expr, n int) string {
	if _, open := x[n-1].(jp.Descent); n == 1 || open {
		return "the response"
	}
	return routine.Truncate(x[:n].String(), routine.MaxShownURL)
}

// contents describes a value in a few words.
func (s *pathSearch) contents(n jsonNodeID) (words string, err error) {
	defer func() { err = searchError(&jsonPath{}, recover()) }()
	switch s.doc.kind(n) {
	case '{':
		return s.memberNames(n), nil
	case '[':
		return fmt.Sprintf("is a list of %d", s.size(n)), nil
	case '"':
		return "is " + routine.Show(routine.Truncate(string(unquoteJSON(s.doc.raw(n))), routine.MaxShownURL)), nil
	}
	return "is " + string(s.doc.raw(n)), nil
}

// memberNames lists the names of the first members of an object.
func (s *pathSearch) memberNames(n jsonNodeID) string {
	var shown []string
	for child := range s.doc.children(n) {
		if s.step(1); len(shown) == maxShownNames {
			shown = append(shown, "…")
			break
		}
		shown = append(shown, routine.Truncate(routine.OneLine(string(s.doc.name(child))), 40))
	}
	if len(shown) == 0 {
		return "is {}"
	}
	return "has " + strings.Join(shown, ", ")
}
