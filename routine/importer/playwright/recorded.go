package playwright

import (
	"strings"

	"rote/routine/importer/chain"
)

// enters are the functions of the older scripts that Chrome's Recorder has exported which enter a
// value into an element. The script calls one of them by the type of the element.
var enters = map[string]bool{"typeIntoElement": true, "changeElementValue": true, "changeSelectElement": true}

// recorded reads a call of a function that Chrome's Recorder has put into the scripts that it
// exported before there were locators. It returns false if it is none.
func (r *reader) recorded(c *chain.Chain) (object, bool) {
	if len(c.Members) != 1 || !c.Last().Called || c.Last().Name != "" {
		return object{}, false
	}
	m := c.Last()
	first := argument(m, 0)
	switch {
	case enters[c.Base] && len(m.Args) == 2 && first.Kind == chain.Calls:
		if o := r.located(first); o.kind == located && r.begin(m) {
			r.fill(o.element.locator(), chain.Member{Name: "fill", Args: m.Args[1:]})
		}
		return object{}, true
	case c.Base != "waitForSelectors" && c.Base != "scrollIntoViewIfNeeded" || first == nil || first.Kind != chain.List:
		return object{}, false
	}
	e := r.anyOf(first)
	if r.begin(m) && c.Base == "waitForSelectors" && len(r.statement.Vars) == 0 {
		r.waitFor(e.locator(), m)
	}
	return object{kind: located, element: e}, true
}

// anyOf returns the element of a list of selectors, each of which may be a list of those from a
// shadow host to the next.
func (r *reader) anyOf(list *chain.Value) element {
	var e element
	for i := range list.Parts {
		way := []chain.Value{list.Parts[i]}
		if way[0].Kind == chain.List {
			way = way[0].Parts
		}
		var parts []string
		for k := range way {
			if part, ok := r.literal(&way[k]); ok {
				parts = append(parts, part)
			}
		}
		if len(parts) > 0 {
			e.alternative(r.selector(strings.Join(parts, " >>> ")))
		}
	}
	return e
}

// entered reads the branches in which a script of Chrome's Recorder enters the same value, by the
// type of the element: the first of them is read, as an operation finds out the type itself.
func (r *reader) entered(s *chain.Statement) bool {
	call := entering(s, 0)
	if call == nil || r.lost != "" {
		return false
	}
	if s.Keyword == "if" {
		if last := r.d.Last(); last != nil && last.StorageKey == r.key {
			r.key = "" // the type of the element is no result
		}
		r.one(call)
		return true
	}
	if len(r.d.Items) == 0 {
		return false
	}
	done := *r.d.Item()
	r.step(call.Line, call.Column, call.Shown())
	item := r.d.Item()
	item.What, item.Code, item.Message, item.Operations = done.What, done.Code, done.Message, done.Operations
	return true
}

// entering returns the call of a branch that does nothing else than to enter a value; nil if it does.
func entering(s *chain.Statement, depth int) *chain.Statement {
	all := s.Body.Statements()
	if depth > maxNested || len(all) == 0 || len(all) > 2 { // an else may follow in the same block
		return nil
	}
	first := &all[0]
	switch {
	case first.Keyword == "if":
		return entering(first, depth+1)
	case len(all) == 1 && first.Keyword == "" && first.Value.Kind == chain.Calls && enters[first.Value.Calls.Base]:
		return first
	}
	return nil
}
