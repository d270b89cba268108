package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
)

// Bind checks and converts the values of a call: the result has a value of the right
// type for every parameter of d. It reports at once all values that d does not
// declare, that are missing, or that break a rule. It also refuses values that are not
// allowed in their place of the routine, such as a line break in a header or a slash
// in a host name, before a browser is involved.
func Bind(d *routine.Definition, given json.RawMessage) (routine.Values, error) {
	if err := d.CheckKnown(); err != nil {
		return nil, err
	}
	found := &report{}
	doc, err := readValues(given, found)
	if err != nil {
		return nil, err
	}
	values := routine.Values{}
	m := &matchBudget{}
	for i := range d.Parameters {
		p := &d.Parameters[i]
		n := doc.root.member(p.Name)
		if n != nil && n.bad {
			continue
		}
		value, faults := bindParameter(p, n, m)
		for _, f := range faults {
			found.add(valueProblem(p.Name, f.code, f.message))
		}
		values[p.Name] = value
	}
	unknownNames(d, doc, found)
	if found.count == 0 {
		checkFiles(d, values, found)
		checkSession(d, values, found)
	}
	if found.count == 0 {
		checkPlaces(d, values, found)
	}
	if found.count > 0 {
		return nil, invalidText("parameters", found.byPointer(), found.count)
	}
	return values, nil
}

// CheckNames reports the given values for which d has no parameter.
func CheckNames(d *routine.Definition, given map[string]json.RawMessage) error {
	if len(given) == 0 {
		return nil
	}
	found := &report{}
	doc, err := readValues(routine.RawJSON(given), found)
	if err != nil {
		return err
	}
	if unknownNames(d, doc, found); found.count > 0 {
		return invalidText("parameters", found.byPointer(), found.count)
	}
	return nil
}

// readValues reads the parameters object strictly.
func readValues(given json.RawMessage, found *report) (*document, error) {
	if len(given) == 0 {
		given = json.RawMessage(`{}`)
	}
	doc := readDocument(given, false)
	*found = doc.found
	if !doc.broken && doc.root.kind != '{' && !doc.root.bad {
		found.add(finding{Problem: routine.Problem{Code: "type", Message: "parameters must be an object of name to value, not " + doc.show(&doc.root)}})
	}
	if doc.broken || doc.root.kind != '{' || doc.root.bad {
		return nil, invalidText("parameters", problemsOf(found.truncated()), found.count)
	}
	return doc, nil
}

// unknownNames reports the values for which d has no parameter.
func unknownNames(d *routine.Definition, doc *document, found *report) {
	declared := map[string]bool{}
	for _, p := range d.Parameters {
		declared[p.Name] = true
	}
	for _, k := range doc.root.keys() {
		switch {
		case k.bad || declared[k.name]:
		case found.full():
			found.count++
		default:
			problem := valueProblem(k.name, "unknown_parameter", "is not a parameter of this routine")
			problem.Hint = knownNames(k.name, d.Parameters)
			found.add(problem)
		}
	}
}

// bindParameter returns the parameter's value, or the faults of the one given. n is
// nil if there is none; null means the same. The value is nil if a stored secret supplies it.
func bindParameter(p *routine.Parameter, n *node, m *matchBudget) (any, []fault) {
	var v any
	if n != nil {
		v = n.value()
	}
	if v == nil {
		switch {
		case p.Default != nil:
			if err := routine.DecodeJSON(p.Default, &v); err != nil {
				return nil, []fault{{"default", "has a default that cannot be read"}}
			}
		case p.Needed():
			return nil, []fault{{"required", "is required"}}
		default:
			return nil, nil
		}
	}
	return newValueChecker(p, m).apply(v)
}

func valueProblem(name, code, message string) finding {
	return finding{Problem: routine.Problem{Pointer: "/" + routine.EscapePointer(name), Code: code,
		Message: fmt.Sprintf("%q %s", routine.Truncate(name, 60), message)}}
}

func parameterNames(ps []routine.Parameter) []string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.Name
	}
	return names
}

// knownNames returns a hint with the nearest declared name, or with all of them.
func knownNames(name string, ps []routine.Parameter) string {
	names := parameterNames(ps)
	if hint := routine.DidYouMean(name, names); hint != "" {
		return hint
	}
	if len(names) == 0 {
		return "this routine takes no parameters"
	}
	if len(names) > routine.MaxSuggestionCandidates {
		names = append(names[:routine.MaxSuggestionCandidates:routine.MaxSuggestionCandidates], "…")
	}
	return "its parameters are " + strings.Join(names, ", ")
}

// checkPlaces fills in every operation as a run does, and reports the values that are
// not allowed in their place. Tokens that only a run can resolve stay unfilled. It
// stops when the filled-in bytes or the problems exceed their limits.
func checkPlaces(d *routine.Definition, values routine.Values, found *report) {
	filling := &placeholder.Filling{Resolve: lookupIn(values), Room: routine.MaxFilledBytes}
	for i := range d.Operations {
		op, err := operation.Decode(d.Operations[i])
		if err != nil {
			continue // a stored definition decodes; Run reports it if not
		}
		where := func(pointer string) string {
			return fmt.Sprintf("does not fit where operation %d (%s) puts it, at %s: ", i+1, d.Operations[i].Type(), pointer)
		}
		fits := true
		operation.EachTemplate(op, func(s operation.Site) {
			if filling.Full || found.full() || !strings.Contains(s.Text, "{{") {
				return
			}
			t, _ := placeholder.Parse(s.Text, s.Place)
			for _, bad := range filling.Misfits(t, maxKept-len(found.list)) {
				if bad.Token.Source == placeholder.Parameter {
					fits = false
					found.add(valueProblem(bad.Token.Name, "invalid_value", where(s.Pointer)+bad.Reason))
				}
			}
		})
		if filling.Full || found.full() {
			return
		}
		if !fits {
			continue
		}
		var clash *operation.KeyClash
		err = operation.ReplaceTemplates(op, func(s operation.Site) (any, error) { return fillParameters(values, s) })
		if errors.As(err, &clash) {
			found.add(valueProblem(firstParameter(clash.Keys), "invalid_value", where(clash.Pointer)+clash.Error()))
		}
	}
}

// lookupIn returns a function that resolves the tokens of parameters only.
func lookupIn(v routine.Values) func(placeholder.Token) (any, bool) {
	return func(t placeholder.Token) (any, bool) {
		value, ok := v[t.Name]
		return value, ok && t.Source == placeholder.Parameter
	}
}

// fillParameters fills in the parameters of s.
func fillParameters(v routine.Values, s operation.Site) (any, error) {
	t, _ := placeholder.Parse(s.Text, s.Place)
	return (&placeholder.Filling{Resolve: lookupIn(v)}).Fill(t)
}

// firstParameter returns the first parameter that a text names.
func firstParameter(text string) string {
	t, _ := placeholder.Parse(text, placeholder.Text)
	for _, tok := range t.Tokens() {
		if tok.Source == placeholder.Parameter {
			return tok.Name
		}
	}
	return ""
}
