package lesson

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/lesson/candidate"
	"rote/routine/operation"
	"rote/routine/placeholder"
)

// savedTarget is what a saved operation says about the element that it acts on.
type savedTarget struct {
	Target       routine.Target `json:"x-target"`
	Alternatives []string       `json:"x-alternatives"`
	Bridge       string         `json:"x-bridge"`
}

// targetOf returns what an operation says about its element, with the values of parameters
// filled in. Fields that an author wrote in another form are left out.
func targetOf(o routine.Operation, values routine.Values) savedTarget {
	var raw map[string]json.RawMessage
	var t savedTarget
	_ = json.Unmarshal(o.Raw(), &raw) // a stored operation is well-formed
	_ = json.Unmarshal(raw["x-target"], &t.Target)
	_ = json.Unmarshal(raw["x-alternatives"], &t.Alternatives)
	_ = json.Unmarshal(raw["x-bridge"], &t.Bridge)
	t.Target.Role, t.Target.Name = fillValues(t.Target.Role, placeholder.Text, values), fillValues(t.Target.Name, placeholder.Text, values)
	t.Target.Near = fillValues(t.Target.Near, placeholder.Text, values)
	for i, a := range t.Alternatives {
		t.Alternatives[i] = fillValues(a, placeholder.Selector, values)
	}
	return t
}

// fillValues puts the values of parameters into a text. Other placeholders stay.
func fillValues(text string, place placeholder.Place, values routine.Values) string {
	t, _ := placeholder.Parse(text, place)
	if t.Literal() {
		return text
	}
	filled, err := t.FillText(func(t placeholder.Token) (any, bool) {
		v, ok := values[t.Name]
		return v, ok && t.Source == placeholder.Parameter
	})
	if err != nil {
		return text
	}
	return filled
}

// usedValues are the values of the parameters in an operation that are no secrets.
func usedValues(o routine.Operation, ps []routine.Parameter, values routine.Values) []candidate.Value {
	var used []candidate.Value
	for _, p := range ps {
		v, ok := values[p.Name]
		if !ok || v == nil || p.Secret || p.Type == routine.TypeFiles || !strings.Contains(string(o.Raw()), p.Name) {
			continue
		}
		if text := placeholder.Format(v); text != "" {
			used = append(used, candidate.Value{Name: p.Name, Text: text})
		}
	}
	// A value that is part of another one is put back after it.
	slices.SortStableFunc(used, func(a, b candidate.Value) int { return len(b.Text) - len(a.Text) })
	return used
}

// search is one search for what could take the place of an operation that fails.
type search struct {
	page    livePage
	secrets []string
	// operations are all of the routine, at is the index of the one that fails.
	operations []routine.Operation
	at         int
	parameters []routine.Parameter
	values     routine.Values
	// code is that of the failure, before the URL that the page had before the operation in
	// front of the failed one.
	code   routine.Code
	before string
}

// maxNeighbours is how many of the other operations are asked for the form that they act in.
const maxNeighbours = 6

// candidates returns what could take the place of the operation that fails, and the selector
// of the part of the page in which the likeliest one is; empty for all of it.
func (s *search) candidates(ctx context.Context) (found []candidate.Candidate, scope string) {
	o := s.operations[s.at]
	switch o.Type() {
	case "wait_for_url":
		now, err := s.page.URL(ctx)
		if err != nil {
			return nil, ""
		}
		return candidate.ForURL(o, s.before, now, usedValues(o, s.parameters, s.values)), ""
	case "fetch", "download":
		return s.requestCandidates(ctx, o), ""
	}
	k, _ := operation.KindOf(o.Type())
	selector := selectorOf(o, s.values)
	t := targetOf(o, s.values)
	if o.Type() == "js_evaluate" && t.Bridge == "" {
		return s.scriptCandidates(ctx, o), ""
	}
	if selector == "" && t.Bridge == "" {
		return nil, ""
	}
	if selector != "" {
		if d, err := s.page.Describe(ctx, selector, k.Use, s.secrets); err == nil && d.Matches > 0 {
			return s.presentCandidates(ctx, o, k.Use, selector, d), ""
		}
	}
	use := k.Use
	action := s.formAction()
	if action != nil {
		next, _ := operation.KindOf(action.Type())
		use, t.Alternatives = next.Use, targetOf(*action, s.values).Alternatives
	}
	lost := candidate.LostElement{Operation: o, Selector: selector, Target: t.Target, Alternatives: t.Alternatives, Around: s.forms(ctx),
		Near: targetOf(o, nil).Target.Near, Values: usedValues(o, s.parameters, s.values)}
	if action != nil {
		lost.Action = action.Raw()
	}
	elements, err := s.page.FindElements(ctx, routine.ElementQuery{Target: t.Target, Alternatives: t.Alternatives, Lost: selector, Use: use, Secrets: s.secrets})
	if err != nil {
		return nil, ""
	}
	if len(elements) < candidate.Max {
		elements = append(elements, s.others(ctx, lost, use, elements)...)
	}
	if found = candidate.ForElement(lost, elements); len(found) > 0 {
		at := slices.IndexFunc(elements, func(f routine.FoundElement) bool {
			return candidate.WithPlaceholders(f.Selector, lost.Values) == found[0].Selector
		})
		scope = elements[at].Form
	}
	return found, scope
}

// formAction returns the operation that belongs to the failed one if that is the script of a
// text form; else nil.
func (s *search) formAction() *routine.Operation {
	bridge := targetOf(s.operations[s.at], nil).Bridge
	if bridge == "" || s.at+1 == len(s.operations) || targetOf(s.operations[s.at+1], nil).Bridge != bridge {
		return nil
	}
	return &s.operations[s.at+1]
}

// otherResemblance is the resemblance of an element that has nothing but the role.
const otherResemblance = 2

// others are elements of the same role, or those that a click could act on, in case nothing
// else is known of the lost one.
func (s *search) others(ctx context.Context, lost candidate.LostElement, use routine.ElementUse, known []routine.FoundElement) []routine.FoundElement {
	nearest, err := s.page.Nearest(ctx, routine.Inspection{Use: use, Selector: lost.Selector, Secrets: s.secrets})
	if err != nil {
		return nil
	}
	var found []routine.FoundElement
	for _, e := range nearest {
		if len(known)+len(found) >= candidate.Max {
			break
		}
		same := func(f routine.FoundElement) bool { return f.Selector == e.Selector }
		if e.Problem != "" || e.Matched || lost.Target.Role != "" && e.Role != lost.Target.Role || slices.ContainsFunc(known, same) {
			continue
		}
		d, err := s.page.Describe(ctx, e.Selector, use, s.secrets)
		if err != nil || d.Matches == 0 || slices.ContainsFunc(known, func(f routine.FoundElement) bool { return f.Selector == d.Selector }) {
			continue
		}
		found = append(found, routine.FoundElement{Selector: e.Selector, Grade: d.GivenGrade, Role: e.Role, Name: e.Text, Alternative: -1,
			Resemblance: otherResemblance, Why: "nothing has a similar name; this is a " + e.Role + " too"})
	}
	return found
}

// forms are the selectors of the forms, lists and dialogs in which the nearest other
// operations find their elements on the page as it is now.
func (s *search) forms(ctx context.Context) []string {
	var selectors []string
	for distance := 1; distance < len(s.operations) && len(selectors) < maxNeighbours; distance++ {
		for _, i := range []int{s.at - distance, s.at + distance} {
			if i < 0 || i >= len(s.operations) {
				continue
			}
			if selector := selectorOf(s.operations[i], s.values); selector != "" {
				selectors = append(selectors, selector)
			}
		}
	}
	if len(selectors) == 0 {
		return nil
	}
	found, err := s.page.FindElements(ctx, routine.ElementQuery{Alternatives: selectors, Use: routine.UseRead, Secrets: s.secrets})
	if err != nil {
		return nil
	}
	var forms []string
	for _, f := range found {
		if f.Alternative >= 0 && f.Form != "" && !slices.Contains(forms, f.Form) {
			forms = append(forms, f.Form)
		}
	}
	return forms
}

// presentCandidates proposes what to do if the selector of the operation does match: its
// element may be covered, or have come too late.
func (s *search) presentCandidates(ctx context.Context, o routine.Operation, use routine.ElementUse, selector string,
	d routine.ElementDescription) []candidate.Candidate {

	nearest, err := s.page.Nearest(ctx, routine.Inspection{Use: use, Selector: selector, Secrets: s.secrets})
	if err != nil {
		return nil
	}
	covered := ""
	for _, e := range nearest {
		if e.Matched && strings.Contains(e.Problem, "covered") {
			covered = e.Problem
		}
	}
	if covered == "" {
		return []candidate.Candidate{{Operation: o.Raw(), Selector: selector, Grade: d.GivenGrade, Points: againPoints, Why: againWhy(nearest)}}
	}
	var all []candidate.Candidate
	for _, e := range nearest {
		if !e.Matched && e.Problem == "" && use == routine.UseClick {
			all = append(all, closeCandidate(e, covered, len(all)))
		}
	}
	return candidate.Best(all)
}

// Points of what is done before an operation that fails, or of the operation itself.
const (
	closePoints = 70 // of the first element in what covers the element, less for each further one
	closeStep   = 10
	againPoints = 50
)

// closeCandidate is a click that may close what covers the element of an operation. It is
// optional: most such dialogs come only sometimes.
func closeCandidate(e routine.Element, covered string, place int) candidate.Candidate {
	c := candidate.Candidate{Before: true, Selector: e.Selector, Points: closePoints - closeStep*place,
		Operation: routine.RawJSON(struct {
			Type     string `json:"type"`
			Selector string `json:"selector"`
			Optional bool   `json:"x-optional"`
		}{"click", e.Selector, true}),
		Why: "the element " + candidate.Quoted(covered) + "; " + e.Role + " " + candidate.Quoted(e.Text) + " may close that"}
	if does := candidate.Destructive("", e.Text); does != "" {
		c.Destructive, c.Points = true, c.Points+candidate.DestructivePoints
		c.Why += "; its name says that it " + does + " something: never chosen by itself"
	}
	return c
}

// againWhy says why the same operation may work now.
func againWhy(nearest []routine.Element) string {
	for _, e := range nearest {
		if e.Matched && e.Problem != "" {
			return "the selector matches, but its element " + candidate.Quoted(e.Problem)
		}
	}
	return "the selector matches now: perhaps the element came later than timeout_ms"
}
