package playwright

import (
	"slices"

	"rote/routine/importer/chain"
)

// Bounds of loops that are written out.
const (
	maxRounds    = 20
	maxAllRounds = 100
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
	if len(values) == 0 || len(values) > maxRounds || r.rounds+len(values) > maxAllRounds {
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
