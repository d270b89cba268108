package chain

import "strconv"

// Loop is what a block is repeated with: each of the values of a list in turn, for one variable, or
// for several that take each value apart.
type Loop struct {
	Vars  []string
	Apart bool // the variables are members of each value
	List  Value
}

// maxCounted is how many rounds a loop that counts may have.
const maxCounted = 50

// loop reads the head of a loop between its brackets, or between the words for and the colon of
// Python. It returns nil for one that is not over a list and counts by nothing else than one.
func (p *parser) loop(i, stop int) *Loop {
	if l := p.counted(i, stop); l != nil {
		return l
	}
	in := -1
	for j := i; j < stop && in < 0; {
		switch {
		case p.is(j, stop, "of", "in"), p.language == Java && p.is(j, stop, ":"):
			in = j
		case p.opens(j, stop):
			j = p.after(j, stop)
		default:
			j++
		}
	}
	if in <= i {
		return nil
	}
	l := &Loop{List: p.whole(in+1, stop)}
	if p.language == Python {
		for j := i; j < in; j++ {
			if p.tokens[j].kind == identifier {
				l.Vars = append(l.Vars, p.tokens[j].text)
			}
		}
		l.Apart = len(l.Vars) > 1
		return l
	}
	if p.is(in-1, in, "}", "]", ")") {
		for j := p.tokens[in-1].pair + 1; j > 0 && j < in-1; j++ {
			if p.tokens[j].kind == identifier {
				l.Vars = append(l.Vars, p.tokens[j].text)
			}
		}
		l.Apart = true
		return l
	}
	l.Vars = []string{p.tokens[in-1].text}
	return l
}

// Each returns the loop and its block that a statement is which calls forEach; nil if it is none.
func (s *Statement) Each() (*Loop, *Block) {
	v := s.Value
	if s.Keyword != "" || v.Kind != Calls || v.Calls.Last().Name != "forEach" || len(v.Calls.Last().Args) != 1 {
		return nil, nil
	}
	f := v.Calls.Last().Args[0]
	if f.Kind != Function || f.Body == nil || f.Params == "" {
		return nil, nil
	}
	list := Value{Kind: List, Parts: v.Parts}
	if v.Calls.Base != "" {
		list = Value{Kind: Calls, Calls: &Chain{Base: v.Calls.Base, Members: v.Calls.Members[:len(v.Calls.Members)-1]}}
	}
	p := s.p
	head := &parser{src: f.Params, tokens: lex(f.Params, p.language), language: p.language}
	l := &Loop{List: list}
	depth := 0
	for i, t := range head.tokens {
		switch {
		case t.text == "{" || t.text == "[":
			l.Apart = true
			depth++
		case t.text == "}" || t.text == "]":
			depth--
		case t.kind == identifier && depth == 0 && len(l.Vars) > 0: // the number of the round, or a type
			return l, f.Body
		case t.kind == identifier && (i == 0 || !head.is(i-1, i, ":")):
			l.Vars = append(l.Vars, t.text)
		}
	}
	return l, f.Body
}

// counted reads the head of a loop that counts, as in let i = 0; i < 3; i++.
func (p *parser) counted(i, stop int) *Loop {
	j := i
	for j < stop && !p.is(j, stop, ";") {
		j++
	}
	for k := i; k < j; k++ {
		if p.is(k, j, "=") && k+2 == j && k > i && p.tokens[k-1].kind == identifier && p.tokens[k+1].kind == number {
			name, from := p.tokens[k-1].text, integer(p.tokens[k+1].text)
			return p.countedTo(j+1, stop, name, from)
		}
	}
	return nil
}

// countedTo reads the condition and the step of a loop that counts.
func (p *parser) countedTo(i, stop int, name string, from int) *Loop {
	if !p.is(i, stop, name) || !p.is(i+1, stop, "<") {
		return nil
	}
	i += 2
	last := 0
	if p.is(i, stop, "=") {
		i, last = i+1, 1
	}
	if i+5 != stop || p.tokens[i].kind != number || !p.is(i+1, stop, ";") {
		return nil
	}
	if after := p.is(i+2, stop, name) && p.is(i+3, stop, "+") && p.is(i+4, stop, "+"); !after && !(p.is(i+2, stop, "+") && p.is(i+3, stop, "+")) {
		return nil
	}
	if last += integer(p.tokens[i].text); from < 0 || last < 0 || last-from > maxCounted {
		return nil
	}
	return &Loop{Vars: []string{name}, List: Counted(from, last)}
}

// Counted returns the values that a loop counts with: those from a number to the one before another.
func Counted(from, before int) Value {
	v := Value{Kind: List}
	for n := from; n < min(before, from+maxCounted); n++ {
		v.Parts = append(v.Parts, Value{Kind: Number, Text: strconv.Itoa(n)})
	}
	return v
}

// integer returns a whole number; -1 if it is none.
func integer(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n < 1e6 {
		return n
	}
	return -1
}
