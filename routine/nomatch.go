package routine

import (
	"fmt"
	"strings"

	"github.com/ohler55/ojg/jp"
)

const (
	// maxShownNames are told of an object in which a name was looked for.
	maxShownNames = 12
	// maxMissSteps bounds the values looked at to say why a path matches nothing.
	maxMissSteps = 100_000
)

// missed says why a path selects nothing: what stands where its first step
// leads nowhere. It is empty where that may well be so, as with the items of a
// list that has none, or one that a filter leaves none of.
func (d *pathDocument) missed(x jp.Expr) string {
	steps := d.steps
	defer func() { d.steps = steps }()
	d.steps = min(steps, maxMissSteps)
	parents := []any{d.root}
	for i := 1; i < len(x); i++ {
		if _, open := x[i].(jp.Descent); open && i < len(x)-1 {
			continue // a path does not end in one
		}
		values, err := d.get(x[:i+1])
		if err != nil {
			return ""
		}
		if len(values) > 0 {
			parents = values
			continue
		}
		switch x[i].(type) {
		case jp.Child, jp.Nth, jp.Union:
		case jp.Wildcard, jp.Slice:
			if !simple(parents[0]) {
				return ""
			}
		default: // a filter
			return ""
		}
		return fmt.Sprintf("json_path %s matches nothing; %s %s", clip(x.String(), maxShownURL), placeOf(x, i), contents(parents[0]))
	}
	return ""
}

// placeOf names what the first steps of a path lead to.
func placeOf(x jp.Expr, n int) string {
	if _, open := x[n-1].(jp.Descent); n == 1 || open {
		return "the response"
	}
	return clip(x[:n].String(), maxShownURL)
}

func simple(v any) bool {
	switch v.(type) {
	case *pathObject, *pathArray:
		return false
	}
	return true
}

// contents says in a few words what a value is.
func contents(v any) string {
	switch v := v.(type) {
	case *pathObject:
		names := v.Keys()
		if len(names) == 0 {
			return "is {}"
		}
		shown := make([]string, 0, maxShownNames+1)
		for _, name := range names[:min(len(names), maxShownNames)] {
			shown = append(shown, clip(oneLine(name), 40))
		}
		if len(names) > maxShownNames {
			shown = append(shown, "…")
		}
		return "has " + strings.Join(shown, ", ")
	case *pathArray:
		return fmt.Sprintf("is a list of %d", len(v.items))
	}
	return "is " + show(v)
}
