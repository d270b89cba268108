package lesson

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/lesson/parameters"
	"rote/routine/placeholder"
)

// declarationFields are the fields that a declaration of a request may have. Fields whose
// names begin with "x-" are the author's own.
var declarationFields = slices.Concat([]string{"name", "from", "type", "required", "description", "default", "validation", "examples", "observed_value"},
	routine.ValidationFields)

// declaration is one declaration of a request.
type declaration struct {
	name   string
	from   *string // the literal text that the parameter replaces; nil: none
	fields map[string]json.RawMessage
}

// readDeclaration reads a declaration of a request. A number or a boolean in "from" is taken
// as its text.
func readDeclaration(raw json.RawMessage) (declaration, *routine.Problem) {
	var d declaration
	if json.Unmarshal(raw, &d.fields) != nil || d.fields == nil {
		return d, &routine.Problem{Code: "type", Message: "a parameter is an object with a name", Hint: `as in {"name":"branch","from":"Oslo"}`}
	}
	if p := unknownField(d.fields, declarationFields); p != nil {
		return d, p
	}
	var rules map[string]json.RawMessage
	if json.Unmarshal(d.fields["validation"], &rules) == nil {
		if p := unknownField(rules, routine.ValidationFields); p != nil {
			p.Pointer = "/validation" + p.Pointer
			return d, p
		}
	}
	if name := d.fields["name"]; name != nil && json.Unmarshal(name, &d.name) != nil {
		return d, &routine.Problem{Pointer: "/name", Code: "type", Message: "the name of a parameter must be a string"}
	}
	if d.name == "" {
		return d, &routine.Problem{Pointer: "/name", Code: "required", Message: "a parameter needs a name"}
	}
	var problem *routine.Problem
	d.from, problem = readFrom(d.fields["from"])
	delete(d.fields, "from")
	return d, problem
}

// readFrom reads the "from" of a declaration; nil if there is none.
func readFrom(raw json.RawMessage) (*string, *routine.Problem) {
	var value any
	if raw == nil || routine.DecodeJSON(raw, &value) == nil && value == nil {
		return nil, nil
	}
	switch value.(type) {
	case string, json.Number, bool:
		text := placeholder.Format(value)
		return &text, nil
	}
	return nil, &routine.Problem{Pointer: "/from", Code: "type", Message: "from must be the text that the parameter replaces", Hint: `as in "from":"Oslo"`}
}

// unknownField returns a problem for the first field whose name is not known and does not
// begin with "x-"; nil if there is none.
func unknownField(fields map[string]json.RawMessage, known []string) *routine.Problem {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(known, name) || strings.HasPrefix(name, "x-") {
			continue
		}
		hint := routine.DidYouMean(name, append([]string{"x-secret"}, known...))
		if hint == "" {
			hint = "its fields are " + strings.Join(known, ", ")
		}
		return &routine.Problem{Pointer: "/" + routine.EscapePointer(name), Code: "unknown_field",
			Message: fmt.Sprintf("a parameter has no field %s", routine.Quote(routine.Truncate(name, 60))), Hint: hint}
	}
	return nil
}

// declare applies the declarations of a request: those with "from" replace a literal by the
// parameter.
func (d *draft) declare(declarations []json.RawMessage) error {
	var problems []routine.Problem
	d.declaredAt = map[string]int{}
	for i, raw := range declarations {
		asked, problem := readDeclaration(raw)
		if problem == nil {
			d.declaredAt[asked.name] = i
			problem = d.declareOne(asked)
		}
		if problem != nil {
			problem.Pointer = "/parameters/" + strconv.Itoa(i) + problem.Pointer
			problems = append(problems, *problem)
		}
	}
	if len(problems) > 0 {
		return routine.Invalid("parameters", problems)
	}
	return nil
}

func (d *draft) declareOne(asked declaration) *routine.Problem {
	if from := d.fromSecret[asked.name]; from != "" {
		if problem := refuseRules(asked, from); problem != nil {
			return problem
		}
	}
	declared := d.parameter(asked.name)
	var p routine.Parameter
	switch {
	case declared != nil:
		p = *declared
	case asked.from != nil:
		p = parameters.Declare(asked.name, *asked.from, d.fieldOf(*asked.from), false)
	default:
		p = routine.Parameter{Name: asked.name, Type: routine.TypeString, Required: true}
	}
	p, err := overlay(p, asked.fields)
	if err != nil {
		return &routine.Problem{Code: "type", Message: "the parameter cannot be read: " + err.Error()}
	}
	if asked.from != nil {
		if problem := d.replace(*asked.from, p); problem != nil {
			return problem
		}
		if _, known := d.values[p.Name]; !known {
			d.values[p.Name] = *asked.from
		}
	}
	if declared != nil {
		*declared = p
	} else {
		d.definition.Parameters = append(d.definition.Parameters, p)
	}
	return nil
}

// overlay returns a declaration with the given fields instead of its own.
func overlay(p routine.Parameter, fields map[string]json.RawMessage) (routine.Parameter, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(routine.RawJSON(p), &all); err != nil {
		return p, err
	}
	if typ, ok := fields["type"]; ok && string(typ) != string(all["type"]) {
		delete(all, "validation") // these rules were for the other type
	}
	maps.Copy(all, fields)
	var changed routine.Parameter
	if err := json.Unmarshal(routine.RawJSON(all), &changed); err != nil {
		return p, err
	}
	if changed.Secret && !p.Secret {
		changed.Observed, changed.Examples = nil, nil
	}
	return changed, nil
}

// fieldOf returns the form field that took a literal text; nil if none did.
func (d *draft) fieldOf(text string) *routine.Field {
	for _, l := range parameters.Literals(d.steps) {
		if l.Text == text {
			return l.Field
		}
	}
	return nil
}

// replace puts the placeholder of p into the places of a literal text.
func (d *draft) replace(text string, p routine.Parameter) *routine.Problem {
	replaced := len(d.replaced)
	for i := range d.steps {
		raw, changes := parameters.Replace(d.steps[i].Raw, text, p)
		d.steps[i].Raw = raw
		for _, c := range changes {
			c.Pointer = fmt.Sprintf("/operations/%d%s", i, c.Pointer)
			d.replaced = append(d.replaced, c)
		}
	}
	if len(d.replaced) > replaced {
		return nil
	}
	if problem := d.alreadyParameter(text, p.Name); problem != nil {
		return problem
	}
	problem := &routine.Problem{Pointer: "/from", Code: "not_found",
		Message: fmt.Sprintf("no operation types, chooses or opens %s", routine.Quote(routine.Truncate(text, 60)))}
	var found []string
	for _, l := range parameters.Literals(d.steps) {
		found = append(found, routine.Quote(routine.Truncate(l.Text, 40)))
	}
	if len(found) > 0 {
		problem.Hint = "they do with " + strings.Join(found[:min(len(found), 10)], ", ")
	}
	return problem
}

// alreadyParameter returns a problem if a text is the placeholder or the value of a parameter
// that the operations use, preferably of the one with the name; nil if it is neither.
func (d *draft) alreadyParameter(text, name string) *routine.Problem {
	is := func(p routine.Parameter) bool {
		return text == "{{"+p.Name+"}}" || !p.Secret && d.values[p.Name] != nil && placeholder.Format(d.values[p.Name]) == text
	}
	if p := d.parameter(name); p != nil && is(*p) {
		return &routine.Problem{Pointer: "/from", Code: "already_parameter", Message: name + " is already a parameter: leave out from"}
	}
	for _, p := range d.definition.Parameters {
		if is(p) {
			return &routine.Problem{Pointer: "/from", Code: "already_parameter",
				Message: fmt.Sprintf("%s is already the parameter %s: declare that one, without from", routine.Quote(routine.Truncate(text, 60)), p.Name)}
		}
	}
	return nil
}

// withRequestPointers returns an error of checking the definition in which the pointers to
// parameters that the request declares are those into the list of the request.
func (d *draft) withRequestPointers(err error) error {
	e := routine.AsError(err)
	if e.Code != routine.CodeInvalid || len(e.Problems) == 0 || len(d.declaredAt) == 0 {
		return err
	}
	problems := slices.Clone(e.Problems)
	for i, p := range problems {
		rest, ok := strings.CutPrefix(p.Pointer, "/parameters/")
		number, field, _ := strings.Cut(rest, "/")
		n, notNumber := strconv.Atoi(number)
		if !ok || notNumber != nil || n >= len(d.definition.Parameters) {
			continue
		}
		name := d.definition.Parameters[n].Name
		at, asked := d.declaredAt[name]
		if !asked { // the request may have another parameter at that place
			problems[i].Pointer, problems[i].Message = "", "parameter "+name+": "+p.Message
			continue
		}
		problems[i].Pointer = strings.TrimSuffix(fmt.Sprintf("/parameters/%d/%s", at, field), "/")
	}
	return routine.Invalid("routine", problems)
}
