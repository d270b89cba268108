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

// Bind is the only door for the values of a call. It gives every parameter of d
// a value of its type and refuses, with all faults at once, what d does not
// declare, what is missing and what breaks a rule. Values that no place of the
// routine may take (a line break in a header, a slash in a host name) are
// refused here too, before any browser is touched.
func Bind(d *routine.Definition, given json.RawMessage) (routine.Values, error) {
	found := &report{}
	doc, err := readValues(given, found)
	if err != nil {
		return nil, err
	}
	values := routine.Values{}
	m := &matching{}
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
	}
	if found.count == 0 {
		checkPlaces(d, values, found)
	}
	if found.count > 0 {
		return nil, invalidText("parameters", found.byPointer(), found.count)
	}
	return values, nil
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

// unknownNames reports the values of which d has no parameter.
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

// bindParameter returns the parameter's value, or what is wrong with the one given. n is
// nil where there is none, and null means the same.
func bindParameter(p *routine.Parameter, n *node, m *matching) (any, []fault) {
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
		case p.Required:
			return nil, []fault{{"required", "is required"}}
		default:
			return nil, nil
		}
	}
	return newJudge(p, m).value(v)
}

func valueProblem(name, code, message string) finding {
	return finding{Problem: routine.Problem{Pointer: "/" + routine.EscapePointer(name), Code: code, Message: fmt.Sprintf("%q %s", routine.Truncate(name, 60), message)}}
}

func parameterNames(ps []routine.Parameter) []string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.Name
	}
	return names
}

// knownNames suggests the nearest declared name, or lists them all.
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

// checkPlaces fills every operation as a run will and reports the values that
// their place does not allow. Tokens that only the run can resolve stay as they
// are. What is beyond the room for values, or beyond the problems that are kept,
// is not looked at.
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

// lookupIn resolves the tokens of parameters, and no others.
func lookupIn(v routine.Values) func(placeholder.Token) (any, bool) {
	return func(t placeholder.Token) (any, bool) {
		value, ok := v[t.Name]
		return value, ok && t.Source == placeholder.Parameter
	}
}

// fillParameters fills the parameters of s.
func fillParameters(v routine.Values, s operation.Site) (any, error) {
	t, _ := placeholder.Parse(s.Text, s.Place)
	return (&placeholder.Filling{Resolve: lookupIn(v)}).Fill(t)
}

// firstParameter is the one that a text names first.
func firstParameter(text string) string {
	t, _ := placeholder.Parse(text, placeholder.Text)
	for _, tok := range t.Tokens() {
		if tok.Source == placeholder.Parameter {
			return tok.Name
		}
	}
	return ""
}
