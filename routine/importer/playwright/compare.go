package playwright

import (
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

func digits(n int) string { return strconv.Itoa(n) }

// compare is the JavaScript that compares found with a value of the script.
func (r *reader) compare(v *chain.Value, contains bool) string {
	switch {
	case v == nil:
		return "found"
	case v.Kind == chain.Pattern:
		flags := strings.Map(func(c rune) rune {
			if strings.ContainsRune("imsu", c) {
				return c
			}
			return -1
		}, v.Flags)
		return "RegExp(" + draft.Literal(v.Text) + "," + draft.Literal(flags) + ").test(found)"
	case v.Is("true"), v.Is("false"):
		return "found===" + strings.ToLower(v.Calls.Base)
	case contains:
		return "t(found).includes(t(" + r.expected(v) + "))"
	}
	return "t(found)===t(" + r.expected(v) + ")"
}

// said is a value of the script in words, for the message of a check that fails.
func (r *reader) said(v *chain.Value) string {
	switch {
	case v == nil || v.Kind == chain.Object:
		return ""
	case v.Kind == chain.Pattern:
		return draft.Shown("/" + v.Text + "/" + v.Flags)
	case v.Kind == chain.Number:
		return v.Text
	case v.Kind == chain.List:
		var parts []string
		for i := range v.Parts {
			parts = append(parts, r.said(&v.Parts[i]))
		}
		return routine.Truncate("["+strings.Join(parts, ", ")+"]", 120)
	}
	s, _ := r.text(v)
	return routine.Quote(draft.Shown(s))
}

// words says what an assertion expects.
func (a assertion) words(what, value string) string {
	words := strings.TrimSpace(what + " " + value)
	if a.negated {
		return "not " + words
	}
	return words
}

// result returns the last value that the script keeps.
func (r *reader) result() {
	if r.key != "" {
		r.d.Add(draft.Operation{Type: "return", StorageKey: r.key})
	}
}
