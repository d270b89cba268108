package lesson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/lesson/jsonobject"
	"rote/routine/lesson/parameters"
	"rote/routine/operation"
	"rote/routine/placeholder"
)

// draft is what a lesson is saved as, before it is stored.
type draft struct {
	definition routine.Definition
	steps      []parameters.Step
	// values are those of the parameters with which it is proved.
	values map[string]any
	// fromSecret are the stored secrets whose values parameters have, by the name of the
	// parameter.
	fromSecret map[string]string
	proposals  []parameters.Proposal
	replaced   []parameters.Replacement
	warnings   []routine.Problem
	// declaredAt are the places of the request's declarations in its list, by name.
	declaredAt map[string]int
}

// text is the definition as JSON.
func (d *draft) text() json.RawMessage { return routine.RawJSON(d.definition) }

// assemble makes a definition of the kept operations and those of a mended routine that were
// not done. base is that routine; nil if there is none. CodeInvalid names what is wrong with
// the parameters of the request.
func (l *lesson) assemble(q SaveRequest, base *routine.Routine) (*draft, error) {
	d := &draft{values: map[string]any{}}
	for _, k := range l.kept {
		s := parameters.Step{Raw: k.raw}
		if k.element != nil {
			s.Field = k.element.Field
		}
		d.steps = append(d.steps, s)
	}
	for _, k := range l.remaining {
		d.steps = append(d.steps, parameters.Step{Raw: k.raw})
	}
	d.definition = routine.Definition{Incognito: l.incognito, IsMCPToolDesignated: true, Tags: []string{}, Parameters: []routine.Parameter{}}
	stored := l.imported
	if base != nil {
		stored = &base.Definition
	}
	if stored != nil {
		d.definition = *stored
		d.definition.Parameters = append([]routine.Parameter{}, stored.Parameters...)
	}
	if l.newSession != "" {
		d.definition.Session, d.definition.Incognito = l.newSession, false
	}
	d.fromSecret = map[string]string{}
	for _, p := range l.parameters {
		if g := l.given[p.Name]; g.from != "" {
			d.fromSecret[p.Name] = g.from
		} else {
			d.values[p.Name] = g.value
		}
		if d.parameter(p.Name) == nil && d.uses(p.Name) {
			d.definition.Parameters = append(d.definition.Parameters, p)
		}
	}
	if err := d.declare(q.Parameters); err != nil {
		return nil, err
	}
	d.declareSecrets()
	for name, value := range d.values {
		if p := d.parameter(name); p != nil {
			d.values[name] = parameters.Value(*p, value)
		} else {
			delete(d.values, name) // it was given and is used no more
		}
	}
	d.proposals = parameters.Propose(d.steps, d.definition.Parameters, d.values)
	d.describe(q)
	d.finish(l)
	d.warnOfForms(l)
	return d, nil
}

// parameter returns the declaration with a name, or nil.
func (d *draft) parameter(name string) *routine.Parameter {
	if i := slices.IndexFunc(d.definition.Parameters, func(p routine.Parameter) bool { return p.Name == name }); i >= 0 {
		return &d.definition.Parameters[i]
	}
	return nil
}

// uses reports whether an operation has a placeholder of a parameter.
func (d *draft) uses(name string) bool {
	return slices.ContainsFunc(d.steps, func(s parameters.Step) bool { return slices.Contains(parameterTokens(parsedOperation(s.Raw)), name) })
}

// describe sets the name and the description. One that is missing is made of what is known.
func (d *draft) describe(q SaveRequest) {
	if q.Name != "" {
		d.definition.Name = q.Name
	}
	if d.definition.Name == "" {
		d.definition.Name = "lesson"
	}
	if q.Description != "" {
		d.definition.Description = q.Description
	}
	if d.definition.Description != "" {
		return
	}
	d.definition.Description = strings.ReplaceAll(d.definition.Name, "_", " ")
	for _, s := range d.steps {
		var o struct{ URL string }
		_ = json.Unmarshal(s.Raw, &o) // a kept operation is well-formed
		if u, err := url.Parse(o.URL); err == nil && u.Host != "" && !strings.Contains(u.Host, "{{") {
			d.definition.Description += " on " + u.Hostname()
			break
		}
	}
	d.definition.Description += "."
	d.warnings = append(d.warnings, routine.Problem{Pointer: "/description", Code: "no_description",
		Message: "the description was made of the name", Hint: "say in description what the routine does, for the agents that choose it"})
}

// finish writes the operations, with what mending needs to know of those that were done.
func (d *draft) finish(l *lesson) {
	d.definition.Operations = nil
	for i, s := range d.steps {
		raw := s.Raw
		if i < len(l.kept) {
			raw = d.withNotes(raw, l.kept[i])
			d.warnOfPlace(i, raw, l.kept[i].element)
		}
		d.definition.Operations = append(d.definition.Operations, parsedOperation(raw))
	}
}

// withNotes adds to an operation by what else its element can be found, and which requests
// that may have changed something it made in the lesson.
func (d *draft) withNotes(raw json.RawMessage, k *keptOperation) json.RawMessage {
	var o struct{ Selector string }
	_ = json.Unmarshal(raw, &o) // a kept operation is well-formed
	if k.record.Details["skipped"] == true {
		return raw // with what an earlier lesson noted
	}
	replaced := []string{operation.ActingField}
	var more []jsonobject.Member
	if e := k.element; e != nil && o.Selector != "" {
		replaced = append(replaced, "x-target", "x-alternatives")
		if t := (routine.Target{Role: e.Target.Role, Name: d.withPlaceholder(e.Target.Name), Near: d.withPlaceholder(e.Target.Near)}); t.Name != "" {
			more = append(more, jsonobject.Member{Name: "x-target", Value: routine.RawJSON(t)})
		}
		if others := d.alternatives(o.Selector, e); len(others) > 0 {
			more = append(more, jsonobject.Member{Name: "x-alternatives", Value: routine.RawJSON(others)})
		}
	}
	switch typ := k.operation.Type(); {
	case typ == "fetch", typ == "download": // their method says it
	case len(k.acting) > 0, typ == "press": // a click with a target and without the field made none
		more = append(more, jsonobject.Member{Name: operation.ActingField, Value: routine.RawJSON(append([]string{}, k.acting...))})
	}
	if len(more) == 0 && !bytes.Contains(raw, []byte(operation.ActingField)) {
		return raw // as it was written
	}
	return jsonobject.Replace(raw, replaced, more...)
}

// alternatives are the other selectors of an element that hold for other values, too.
func (d *draft) alternatives(given string, e *routine.ElementDescription) []string {
	var others []string
	for _, s := range append([]string{e.Selector}, e.Alternatives...) {
		if s != "" && s != given && !slices.Contains(others, s) && !d.hasValue(s) && len(others) < maxAlternatives {
			others = append(others, s)
		}
	}
	return others
}

// maxAlternatives is how many other selectors are kept with an operation.
const maxAlternatives = 3

// withPlaceholder returns a text of the page, with a placeholder if it is the value of a
// parameter; empty if a secret is in it.
func (d *draft) withPlaceholder(text string) string {
	if strings.Contains(text, routine.Masked) {
		return ""
	}
	for _, p := range d.definition.Parameters {
		if value := placeholder.Format(d.values[p.Name]); !p.Secret && d.values[p.Name] != nil && value == text {
			return "{{" + p.Name + "}}"
		}
	}
	return text
}

// hasValue reports whether a selector holds the value of a parameter, and so is good for that
// value only.
func (d *draft) hasValue(selector string) bool {
	return slices.ContainsFunc(d.definition.Parameters, func(p routine.Parameter) bool {
		value := placeholder.Format(d.values[p.Name])
		return d.values[p.Name] != nil && utf8.RuneCountInString(value) >= parameters.MinLength && strings.Contains(selector, value)
	})
}

// warnOfPlace warns of a selector that holds only while the element keeps its place.
func (d *draft) warnOfPlace(i int, raw json.RawMessage, e *routine.ElementDescription) {
	var o struct{ Selector string }
	if _ = json.Unmarshal(raw, &o); o.Selector == "" || e == nil || e.GivenGrade != gradeOfPlace {
		return
	}
	p := routine.Problem{Pointer: fmt.Sprintf("/operations/%d/selector", i), Code: "selector_by_place",
		Message: fmt.Sprintf("%s finds the element only by its place", routine.Truncate(o.Selector, 100))}
	switch {
	case e.Selector != "" && e.Selector != o.Selector && e.Grade != gradeOfPlace && !d.hasValue(e.Selector) && !operation.HasToken(o.Selector):
		p.Hint = fmt.Sprintf("%s matches it, too (grade %s)", e.Selector, e.Grade)
	case e.Target.Name != "" && e.Target.Matches == 1:
		p.Hint = fmt.Sprintf("its text is unique: use the text form, which finds the %s %s", e.Target.Role, routine.Quote(e.Target.Name))
	}
	d.warnings = append(d.warnings, p)
}

// parsedOperation returns an operation with its JSON text.
func parsedOperation(raw json.RawMessage) routine.Operation {
	var o routine.Operation
	_ = o.UnmarshalJSON(raw) // a kept operation is well-formed
	return o
}
