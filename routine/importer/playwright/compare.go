package playwright

import (
	"strconv"
	"strings"

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

// result returns the last value that the script keeps.
func (r *reader) result() {
	if r.key != "" {
		r.d.Add(draft.Operation{Type: "return", StorageKey: r.key})
	}
}
