package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/pattern"
	"rote/routine/placeholder"
)

// valueChecker checks values against one parameter's type and rules. It is made once
// per parameter because that costs more than checking one of possibly thousands of
// values.
type valueChecker struct {
	*routine.Parameter
	re       *pattern.Pattern
	choices  map[string]any // by key; nil where anything goes
	listed   []string       // the choices as JSON
	matching *matchBudget
}

// newValueChecker returns a checker that shares a time budget with others. It ignores
// a pattern that does not compile, which is reported elsewhere.
func newValueChecker(p *routine.Parameter, m *matchBudget) *valueChecker {
	j := &valueChecker{Parameter: p, matching: m}
	r := p.Rules()
	if r.Pattern != "" {
		if re, err := pattern.Compile(r.Pattern); err == nil {
			j.re = &re
		}
	}
	if len(r.EnumValues) == 0 {
		return j
	}
	j.choices = make(map[string]any, len(r.EnumValues))
	for i, e := range r.EnumValues {
		v := scalar(e)
		if v == nil {
			continue
		}
		if i <= maxListed {
			j.listed = append(j.listed, string(e))
		}
		if p.Type != routine.TypeEnum {
			if c, f := j.convert(v); f == nil {
				v = c
			}
		}
		j.choices[choiceKey(v)] = v
	}
	return j
}

// maxListed bounds how many choices a message lists.
const maxListed = 20

// scalar decodes a JSON value that is neither object nor array. It returns nil for
// null and for faulty JSON.
func scalar(raw json.RawMessage) (v any) {
	n := len(raw)
	switch {
	case n > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : n-1])
	case routine.IsNumber(string(raw)):
		return json.Number(raw)
	case routine.DecodeJSON(raw, &v) != nil:
		return nil
	}
	return v
}

// choiceKey returns the same key for equal values; numbers are compared by value.
func choiceKey(v any) string {
	switch v := v.(type) {
	case string:
		return "string " + v
	case json.Number:
		return "number " + routine.CanonicalNumber(v.String())
	}
	return "other " + placeholder.Format(v)
}

// choose returns the choice that equals v. A string may also spell a number or
// boolean.
func (j *valueChecker) choose(v any) (any, *fault) {
	if c, ok := j.choices[choiceKey(v)]; ok {
		return c, nil
	}
	if n, ok := spelledNumber(v); ok {
		if c, ok := j.choices[choiceKey(n)]; ok {
			return c, nil
		}
	}
	if v == "true" || v == "false" {
		if c, ok := j.choices[choiceKey(v == "true")]; ok {
			return c, nil
		}
	}
	return nil, j.notChosen(v)
}

// notChosen returns the fault that v is none of the choices. It lists them unless the
// parameter is secret.
func (j *valueChecker) notChosen(v any) *fault {
	if j.Secret {
		return faultf("enum_values", "must be one of the values that its declaration lists, not %s", routine.Masked)
	}
	listed := j.listed
	if len(listed) > maxListed {
		listed = append(listed[:maxListed:maxListed], "…")
	}
	return faultf("enum_values", "must be one of %s, not %s", strings.Join(listed, ", "), j.show(v))
}

// show returns a value for a message, masked if the parameter is secret.
func (j *valueChecker) show(v any) string {
	if j.Secret {
		return routine.Masked
	}
	return routine.Show(v)
}

// rule returns the text of a rule for a message. For a secret parameter it returns
// only the rule's name, because the rule may reveal the value.
func (j *valueChecker) rule(name, text string) string {
	if j.Secret {
		return "its " + name
	}
	return text
}

// apply converts a decoded JSON value to the parameter's type and applies its rules.
func (j *valueChecker) apply(v any) (any, []fault) {
	value, f := j.convert(v)
	if f != nil {
		return nil, []fault{*f}
	}
	if j.Type == routine.TypeFiles {
		return value, nil // no rule is for files
	}
	return value, j.brokenRules(value)
}

// brokenRules returns a fault for each rule that a converted value breaks.
func (j *valueChecker) brokenRules(v any) []fault {
	r := j.Rules()
	var out []fault
	add := func(code, format string, args ...any) { out = append(out, *faultf(code, format, args...)) }
	text := placeholder.Format(v)
	switch x := v.(type) {
	case string:
		n := utf8.RuneCountInString(x)
		if r.MinLength != nil && n < *r.MinLength {
			add("min_length", "must have at least %d characters, not %d", *r.MinLength, n)
		}
		if r.MaxLength != nil && n > *r.MaxLength {
			add("max_length", "must have at most %d characters, not %d", *r.MaxLength, n)
		}
	case json.Number:
		n, _ := routine.ExactNumber(x)
		if low, ok := routine.ExactNumber(r.MinValue); ok && n.Cmp(low) < 0 {
			add("min_value", "must be at least %s, not %s", j.rule("min_value", r.MinValue.String()), j.show(x))
		}
		if high, ok := routine.ExactNumber(r.MaxValue); ok && n.Cmp(high) > 0 {
			add("max_value", "must be at most %s, not %s", j.rule("max_value", r.MaxValue.String()), j.show(x))
		}
	}
	if j.re != nil {
		switch ok, err := j.matching.match(*j.re, text); {
		case err != nil:
			add("pattern", "could not be matched with %s in time: simplify the pattern or shorten the value",
				j.rule("pattern", "the pattern "+routine.Truncate(r.Pattern, 60)))
		case !ok:
			add("pattern", "must match %s", j.rule("pattern", "the pattern "+r.Pattern))
		}
	}
	if j.choices != nil && j.Type != routine.TypeEnum {
		if _, ok := j.choices[choiceKey(v)]; !ok {
			out = append(out, *j.notChosen(v))
		}
	}
	return out
}

// matchBudget is the time that all values of one definition or call together may take
// to be matched with patterns.
type matchBudget struct {
	spent time.Duration
	over  bool
}

// maxMatchBudget is that time. It is generous for machines under load.
const maxMatchBudget = 4 * pattern.MaxMatchTime

var errMatchBudget = errors.New("matching took too long")

// match reports whether text matches. It fails once, when the budget is exhausted;
// after that it reports a match for everything, because one problem is enough.
func (m *matchBudget) match(re pattern.Pattern, text string) (bool, error) {
	if m.over {
		return true, nil
	}
	if m.spent > maxMatchBudget {
		m.over = true
		return false, errMatchBudget
	}
	start := time.Now()
	ok, err := re.Match(text)
	m.spent += time.Since(start)
	m.over = err != nil
	return ok, err
}
