package playwright

import (
	"slices"
	"strings"

	"rote/routine/importer/chain"
)

// Bounds of loops that are written out.
const (
	maxRounds    = 20
	maxAllRounds = 60
	maxWritten   = 20_000 // tokens of one loop
)

// loopOf returns the loop that a statement is, and its block; nil if it is none.
func loopOf(s *chain.Statement) (*chain.Loop, *chain.Block) {
	if s.Loop != nil {
		return s.Loop, s.Body
	}
	return s.Each()
}

// roundsOf returns the values that the variables of a loop get in each round; nil if the script does
// not say them, or what is done in a round depends on more than them.
func (r *reader) roundsOf(l *chain.Loop, body *chain.Block) [][]chain.Value {
	if r.lost != "" || len(l.Vars) == 0 || body.Has("break", "continue", "return") {
		return nil
	}
	values := r.listOf(&l.List)
	if len(values) == 0 || len(values) > maxRounds || r.rounds+len(values) > maxAllRounds || len(values)*body.Size() > maxWritten {
		return nil
	}
	if slices.ContainsFunc(body.Statements(), func(s chain.Statement) bool { return s.Keyword != "" && s.Loop == nil && s.Keyword != "{" }) {
		return nil
	}
	var rounds [][]chain.Value
	for _, v := range values {
		round := []chain.Value{v}
		if l.Apart {
			round = nil
			for i, name := range l.Vars {
				switch {
				case v.Kind == chain.List && i < len(v.Parts):
					round = append(round, v.Parts[i])
				case v.Get(name) != nil:
					round = append(round, *v.Get(name))
				default:
					return nil
				}
			}
		}
		rounds = append(rounds, round)
	}
	return rounds
}

// listOf returns the values of a list that the script says; nil if it does not say them.
func (r *reader) listOf(v *chain.Value) []chain.Value {
	if v.Kind == chain.List {
		return v.Parts
	}
	if v.Kind != chain.Calls {
		return nil
	}
	c := v.Calls
	if len(c.Members) == 0 {
		if o := r.vars[c.Base]; o.kind == constant && o.value.Kind == chain.List {
			return o.value.Parts
		}
		return nil
	}
	args := c.Last().Args
	switch name := c.Last().Name; {
	case len(c.Members) != 1 || !c.Last().Called:
	case c.Base == "range" && len(args) > 0 && len(args) < 3:
		from := 0
		before, ok := r.integer(&args[len(args)-1])
		if len(args) == 2 {
			var first bool
			from, first = r.integer(&args[0])
			ok = ok && first
		}
		if ok && from >= 0 && before-from <= maxRounds {
			return chain.Counted(from, before).Parts
		}
	case c.Base == "enumerate" && len(args) == 1:
		numbered := slices.Clone(r.listOf(&args[0]))
		for i := range numbered {
			numbered[i] = chain.Value{Kind: chain.List, Parts: []chain.Value{chain.Counted(i, i+1).Parts[0], numbered[i]}}
		}
		return numbered
	case (c.Base == "List" || c.Base == "Arrays" || c.Base == "Set") && (name == "of" || name == "asList"):
		return args
	}
	return nil
}

// repeat does something once for each round of a loop, with the values of its variables.
func (r *reader) repeat(l *chain.Loop, rounds [][]chain.Value, do func()) {
	for _, round := range rounds {
		r.rounds++
		for i := range round {
			r.vars[l.Vars[i]] = object{kind: constant, value: round[i]}
		}
		do()
	}
	for _, name := range l.Vars {
		delete(r.vars, name)
	}
}

// conditional accounts for a block that may not be done, or more than once.
func (r *reader) conditional(s *chain.Statement) {
	if s.Names(r.touches) && !strings.Contains("else catch except", s.Keyword) {
		r.step(s.Line, s.Column, s.Shown())
		r.d.Drop("not_understood", "the course of a routine is fixed: a condition or loop is left out")
		if s.Loop != nil { // over elements
			for _, name := range s.Loop.Vars {
				r.vars[name] = object{kind: located, element: element{broken: "it is one of many"}}
				defer delete(r.vars, name)
			}
		}
	}
	r.lose(s.Body, "it is in a block of "+s.Keyword)
}

// guarded reads a condition on an element of the page whose block is a click: a script clicks the
// element if it can be seen.
func (r *reader) guarded(s *chain.Statement) bool {
	if r.lost != "" || !r.asksForElement(&s.Value) {
		return false
	}
	var click *chain.Statement
	statements := s.Body.Statements()
	for i := range statements {
		inner := &statements[i]
		if inner.Keyword != "" || inner.Value.Kind != chain.Calls {
			return false
		}
		switch name := inner.Value.Calls.Last().Name; {
		case name == "click" && click == nil:
			click = inner
		case name != "waitForTimeout" && !noOps[name] && inner.Value.Calls.Base != "console" && inner.Value.Calls.Base != "print":
			return false
		}
	}
	if click == nil {
		return false
	}
	e, ok := r.elementOf(click.Value.Calls)
	if !ok || usable(e) != "" {
		return false
	}
	r.step(s.Line, s.Column, s.Shown())
	r.d.Read(e.locator(), "list.find(visible)?.click()", "")
	r.d.Change("set_by_script", "a script clicks the element if it can be seen, whatever the condition was")
	r.moved = true
	for i := range statements {
		inner := &statements[i]
		if inner.Line != click.Line || inner.Column != click.Column {
			r.one(inner)
			continue
		}
		done := *r.d.Item()
		r.step(inner.Line, inner.Column, inner.Shown())
		item := r.d.Item()
		item.What, item.Code, item.Message, item.Operations = done.What, done.Code, done.Message, done.Operations
	}
	return true
}

// asksForElement reports whether a condition is that an element is there or can be seen.
func (r *reader) asksForElement(v *chain.Value) bool {
	if v.Kind != chain.Calls || !r.known(v.Calls) {
		return false
	}
	c := *v.Calls
	if c.Last().Name == "catch" {
		c.Members = c.Members[:len(c.Members)-1]
	}
	switch c.Last().Name {
	case "isVisible", "isEnabled", "count":
		return c.Last().Called
	}
	return false
}

// elementOf returns the element with which the last call of a chain does something.
func (r *reader) elementOf(c *chain.Chain) (element, bool) {
	last, inner := c.Last(), *c
	inner.Members = inner.Members[:len(inner.Members)-1]
	o := r.located(&chain.Value{Kind: chain.Calls, Calls: &inner})
	if o.kind == page && len(last.Args) > 0 {
		if css, ok := r.literal(&last.Args[0]); ok {
			return r.selector(css), true
		}
	}
	return o.element, o.kind == located
}

// with reads a block of Python in which something is awaited.
func (r *reader) with(s *chain.Statement) {
	if s.Value.Kind == chain.Calls {
		awaited := s.Value.Calls.Last().Name
		before := len(r.d.Items)
		o, understood := r.calls(s.Value.Calls)
		r.assign(s, o)
		if !understood && len(r.d.Items) == before && !strings.HasPrefix(awaited, "expect") {
			r.notUnderstood(s)
		}
	}
	r.block(s.Body)
}
