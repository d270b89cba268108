// Package candidate proposes what could take the place of an operation that fails, because
// the site has changed: another element, another request, another URL.
package candidate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/lesson/jsonobject"
	"rote/routine/lesson/textform"
	"rote/routine/operation"
)

// Candidate is an operation that could take the place of the one that fails.
type Candidate struct {
	Operation json.RawMessage `json:"operation"`
	// Needs are operations that have to be done right before it, as the request for a token.
	Needs []json.RawMessage `json:"needs,omitempty"`
	// Before reports whether the operation is to be done before the one that fails, which
	// stays, as the click that closes a dialog.
	Before bool `json:"before,omitempty"`
	// Destructive reports whether the name of the element says that the operation deletes,
	// pays or cancels something, and what was saved did not. It is never chosen by itself.
	Destructive bool   `json:"destructive,omitempty"`
	Selector    string `json:"selector,omitempty"`
	Grade       string `json:"grade,omitempty"`
	Why         string `json:"why"`
	Points      int    `json:"points"`
}

// String returns the candidate for logs: its selector, its points and whether it is
// destructive.
func (c Candidate) String() string {
	text := fmt.Sprintf("%s %d", c.Selector, c.Points)
	if c.Destructive {
		text += " destructive"
	}
	return text
}

// Points of candidates. One that a saved name or selector identifies has 90 to 100.
const (
	targetPoints      = 90
	alternativePoints = 100 // less the cost of the alternative
	// resemblancePoints are given for each point of routine.FoundElement.Resemblance, up
	// to maxResemblance: what only looks alike is never as good as what has the same name.
	resemblancePoints = 10
	maxResemblance    = 80
	// similarPoints are those of an element that was found for another reason.
	similarPoints     = 40
	sameFormPoints    = 15
	otherRolePoints   = -30
	DestructivePoints = -50
	// clearPoints are those from which a candidate may be chosen without asking.
	clearPoints = 85
	Max         = 5
)

// LostElement is the element that a failed operation needs, as far as the routine
// describes it.
type LostElement struct {
	Operation routine.Operation
	// selector is that of the operation, its placeholders filled in.
	Selector     string
	Target       routine.Target
	Alternatives []string
	// action is the operation that belongs to the lost one if that is the script of a text
	// form, and near is the text near the element as the script has it, with placeholders.
	Action json.RawMessage
	Near   string
	// around are the selectors of the forms, lists and dialogs in which the other
	// operations of the routine find their elements.
	Around []string
	// values are those of the parameters that the operation uses.
	Values []Value
}

// Value is the text of a parameter's value.
type Value struct{ Name, Text string }

// ForElement makes candidates of the elements that were found in place of a lost one, the
// likeliest first and at most maxCandidates.
func ForElement(lost LostElement, found []routine.FoundElement) []Candidate {
	var all []Candidate
	for _, f := range found {
		if c, ok := elementCandidate(lost, f); ok {
			all = append(all, c)
		}
	}
	return Best(all)
}

// Best returns the best candidates, the likeliest first.
func Best(all []Candidate) []Candidate {
	slices.SortStableFunc(all, byPoints)
	return all[:min(len(all), Max)]
}

// byPoints orders candidates by points and then by grade, the better ones first.
func byPoints(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Grade, b.Grade))
}

// Clear returns the only candidate that is good enough to be chosen without
// asking; nil if there is none, or if there are several.
func Clear(cs []Candidate) *Candidate {
	var chosen *Candidate
	for i, c := range cs {
		if c.Points < clearPoints {
			continue
		}
		if chosen != nil {
			return nil
		}
		chosen = &cs[i]
	}
	if chosen == nil || chosen.Destructive || chosen.Grade != "A" && chosen.Grade != "B" {
		return nil
	}
	return chosen
}

// elementCandidate weighs one element; false if nothing suggests that it is the lost one.
func elementCandidate(lost LostElement, f routine.FoundElement) (Candidate, bool) {
	if f.Selector == "" || f.Selector == lost.Selector {
		return Candidate{}, false
	}
	points, why := identify(lost, f)
	if points <= 0 {
		return Candidate{}, false
	}
	if inSameForm(lost, f) {
		points, why = points+sameFormPoints, append(why, "in "+f.Form+", as before")
	}
	if f.Name != "" && !f.SameTarget {
		why = append(why, "named "+Quoted(f.Name))
	}
	if lost.Target.Role != "" && f.Role != lost.Target.Role {
		points, why = points+otherRolePoints, append(why, "a "+f.Role+", not a "+lost.Target.Role)
	}
	does := Destructive(lost.Target.Name+" "+lost.Selector, f.Name)
	if does != "" {
		points, why = points+DestructivePoints, append(why, "its name says that it "+does+" something: never chosen by itself")
	}
	selector := WithPlaceholders(f.Selector, lost.Values)
	operation, err := lost.operationFor(f, selector)
	if err != nil {
		return Candidate{}, false
	}
	return Candidate{Operation: operation, Selector: selector, Grade: f.Grade, Points: points, Destructive: does != "", Why: strings.Join(why, "; ")}, true
}

// operationFor returns the lost operation with another selector or, in place of a text form,
// one that names another element by its texts.
func (l LostElement) operationFor(f routine.FoundElement, selector string) (json.RawMessage, error) {
	if l.Action == nil {
		return jsonobject.Set(l.Operation.Raw(), "selector", routine.RawJSON(selector))
	}
	target := textform.Target{Role: f.Role, Name: f.Name, Near: l.Near}
	if err := target.Check(); err != nil {
		return nil, err
	}
	without := []string{"selector", "x-bridge", "x-target", "x-alternatives", operation.ActingField}
	return jsonobject.Replace(l.Action, without, jsonobject.Member{Name: "x-target", Value: routine.RawJSON(target)}), nil
}

// identify returns the points for how an element was found, and what to say about it.
func identify(lost LostElement, f routine.FoundElement) (points int, why []string) {
	if f.Alternative >= 0 && f.Alternative < len(lost.Alternatives) {
		alternative := lost.Alternatives[f.Alternative]
		points, why = alternativePoints-alternativeCost(alternative), append(why, "saved alternative "+alternative+" matches once")
	}
	if f.SameTarget {
		points, why = max(points, targetPoints), append(why, "x-target "+describeTarget(lost.Target)+" matches once")
	}
	if points == 0 && f.Resemblance == 0 && f.Why != "" {
		points, why = similarPoints, append(why, f.Why)
	}
	if f.Resemblance > 0 {
		points = max(points, min(f.Resemblance*resemblancePoints, maxResemblance))
		if len(why) == 0 {
			why = append(why, cmp.Or(f.Why, "looks alike"))
		}
	}
	return points, why
}

func describeTarget(t routine.Target) string {
	text := "role " + t.Role
	if t.Name != "" {
		text += ", name " + Quoted(t.Name)
	}
	if t.Near != "" {
		text += ", near " + Quoted(t.Near)
	}
	return text
}

// Quoted returns a text of a page in JSON quotes, on one line and shortened.
func Quoted(text string) string {
	return routine.JSONText(routine.Truncate(routine.PlainText(routine.OneLine(text)), 60))
}

// inSameForm reports whether an element is in the form, list or dialog in which the lost
// element was, or where the other operations find theirs.
func inSameForm(lost LostElement, f routine.FoundElement) bool {
	return f.Form != "" && (slices.Contains(lost.Around, f.Form) || strings.HasPrefix(lost.Selector, f.Form+" ") ||
		slices.ContainsFunc(lost.Alternatives, func(a string) bool { return strings.HasPrefix(a, f.Form+" ") }))
}

// alternativeCost estimates the cost of a selector as the generator of selectors counts it:
// a name costs little, a place much.
func alternativeCost(selector string) int {
	cost := 28
	last := selector[strings.LastIndexAny(selector, " >")+1:]
	switch {
	case strings.Contains(selector, ":nth-"):
		return 75
	case strings.HasPrefix(last, "#"), strings.Contains(last, "[name="), strings.Contains(last, "[data-test"):
		cost = 4
	case strings.Contains(last, "["):
		cost = 12
	case strings.Contains(last, "."):
		cost = 26
	}
	return cost + 8*strings.Count(selector, " ")
}

// WithPlaceholders replaces the values of parameters in a selector by their placeholders. A
// very short value is left alone: it occurs by chance.
func WithPlaceholders(selector string, values []Value) string {
	for _, v := range values {
		if len(v.Text) > 1 {
			selector = strings.ReplaceAll(selector, v.Text, "{{"+v.Name+"}}")
		}
	}
	return selector
}
