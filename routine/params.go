package routine

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"rote/routine/placeholder"
)

// Values are the typed values of a call by parameter name: string, json.Number,
// bool, or nil for a parameter without value.
type Values map[string]any

// Bind is the only door for the values of a call. It gives every parameter of d
// a value of its type and refuses, with all faults at once, what d does not
// declare, what is missing and what breaks a rule. Values that no place of the
// routine may take (a line break in a header, a slash in a host name) are
// refused here too, before any browser is touched.
func Bind(d *Definition, given json.RawMessage) (Values, error) {
	raw, err := readValues(given)
	if err != nil {
		return nil, err
	}
	var problems []Problem
	values := Values{}
	for i := range d.Parameters {
		p := &d.Parameters[i]
		v, found := raw[p.Name]
		delete(raw, p.Name)
		value, faults := p.bind(v, found)
		for _, f := range faults {
			problems = append(problems, valueProblem(p.Name, f.code, f.message))
		}
		values[p.Name] = value
	}
	for name := range raw {
		problem := valueProblem(name, "unknown_parameter", "is not a parameter of this routine")
		problem.Hint = knownNames(name, d.Parameters)
		problems = append(problems, problem)
	}
	if len(problems) == 0 {
		problems = checkPlaces(d, values)
	}
	if len(problems) > 0 {
		sort.SliceStable(problems, func(i, j int) bool { return problems[i].Pointer < problems[j].Pointer })
		return nil, invalid("parameters", problems)
	}
	return values, nil
}

// readValues decodes the parameters object strictly.
func readValues(given json.RawMessage) (map[string]any, error) {
	if len(given) == 0 {
		return map[string]any{}, nil
	}
	tree, problem := readStrict(given)
	if problem != nil {
		return nil, invalid("parameters", []Problem{*problem})
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, invalid("parameters", []Problem{{Code: "type", Message: fmt.Sprintf("parameters must be an object of name to value, not %s", show(tree))}})
	}
	return object, nil
}

// bind gives the parameter's value, or what is wrong with the one given.
func (p *Parameter) bind(v any, found bool) (any, []fault) {
	if !found || v == nil {
		if p.Default != nil {
			if err := unmarshal(p.Default, &v); err != nil {
				return nil, []fault{{"default", "has a default that cannot be read"}}
			}
		} else if p.Required {
			return nil, []fault{{"required", "is required"}}
		} else {
			return nil, nil
		}
	}
	return p.check(v)
}

// check converts v and applies the rules.
func (p *Parameter) check(v any) (any, []fault) {
	value, f := p.convert(v)
	if f != nil {
		return nil, []fault{*f}
	}
	return value, p.checkRules(value)
}

func valueProblem(name, code, message string) Problem {
	return Problem{Pointer: "/" + escapePointer(name), Code: code, Message: fmt.Sprintf("%q %s", name, message)}
}

// knownNames suggests the nearest declared name, or lists them all.
func knownNames(name string, ps []Parameter) string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.Name
	}
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(names) == 0 {
		return "this routine takes no parameters"
	}
	return "its parameters are " + strings.Join(names, ", ")
}

// checkPlaces fills every operation as a run will and reports the values that
// their place does not allow. Tokens that only the run can resolve stay as they
// are.
func checkPlaces(d *Definition, values Values) []Problem {
	var problems []Problem
	for i := range d.Operations {
		op, err := d.Operations[i].decode()
		if err != nil {
			continue // a stored definition decodes; Run reports it if not
		}
		eachTemplate(op, func(s site) {
			t, _ := placeholder.Parse(s.text, s.place)
			if t.Literal() {
				return
			}
			_, err := t.Fill(func(tok placeholder.Token) (any, bool) {
				v, ok := values[tok.Name]
				return v, ok && tok.Source == placeholder.Parameter
			})
			if bad, ok := asInvalidValue(err); ok && bad.Token.Source == placeholder.Parameter {
				problems = append(problems, valueProblem(bad.Token.Name, "invalid_value",
					fmt.Sprintf("does not fit where operation %d (%s) puts it, at %s: %s", i+1, d.Operations[i].Type(), s.pointer, bad.Reason)))
			}
		})
	}
	return problems
}

// Mask is the JSON of the values with secret ones replaced, for the ledger.
func (v Values) Mask(ps []Parameter) json.RawMessage {
	shown := map[string]any{}
	for _, p := range ps {
		if value, ok := v[p.Name]; ok && value != nil {
			if p.Secret {
				value = masked
			}
			shown[p.Name] = value
		}
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}

// masked stands wherever a secret would.
const masked = "***"
