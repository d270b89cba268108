package chain

// pythonHeads are the words that begin a block of Python.
var pythonHeads = []string{"def", "async", "class", "with", "for", "while", "if", "elif", "else", "try", "except", "finally", "match"}

// pythonStatement reads a statement of Python.
func (p *parser) pythonStatement(i, stop int, s *Statement) int {
	last := i
	for last < stop && p.tokens[last].kind != end && !p.is(last, stop, ";") {
		if p.opens(last, stop) {
			last = p.after(last, stop)
		} else {
			last++
		}
	}
	switch {
	case last == i:
		return i + 1
	case p.is(i, last, "@"):
		s.Marks = p.source(i+1, last)
		return last + 1
	case p.is(i, last, "assert"):
		s.Value = p.assertion(i+1, last)
		return last + 1
	case p.is(i, last, "import", "from", "pass", "global", "nonlocal"):
		return last + 1
	case p.is(i, last, pythonHeads...):
		return p.pythonBlock(i, last, stop, s)
	}
	for j := i; j < last; {
		switch {
		case p.is(j, last, "=") && !p.is(j+1, last, "=") && !p.is(j-1, last, "=", "!", "<", ">"):
			if j == i+1 || p.is(i+1, j, ":") {
				s.Vars = append(s.Vars, p.tokens[i].text)
			} else if j == i+3 || p.is(i+3, j, ":") {
				p.targets(i, i+3, s)
			}
			s.Value = p.whole(j+1, last)
			return last + 1
		case p.opens(j, last):
			j = p.after(j, last)
		default:
			j++
		}
	}
	s.Value = p.whole(i, last)
	return last + 1
}

// pythonBlock reads a head of Python and the lines that are further in.
func (p *parser) pythonBlock(i, last, stop int, s *Statement) int {
	column := p.tokens[i].column
	if p.is(i, last, "async") {
		i++
	}
	s.Keyword = p.tokens[min(i, last-1)].text
	colon := last - 1
	if !p.is(colon, last, ":") { // the block is in the same line
		for colon = i; colon < last && !p.is(colon, last, ":"); {
			if p.opens(colon, last) {
				colon = p.after(colon, last)
			} else {
				colon++
			}
		}
	}
	switch s.Keyword {
	case "def":
		s.Keyword, s.Name = "function", p.tokens[min(i+1, last-1)].text
		if p.opens(i+2, last) {
			s.Params = p.source(i+3, p.inside(i+2, last))
		}
	case "class":
		s.Name = p.tokens[min(i+1, last-1)].text
	case "if":
		s.Value = p.condition(i+1, colon)
	case "for":
		s.Loop = p.loop(i+1, colon)
	case "with":
		var next int
		s.Value, next = p.expression(i+1, colon)
		if p.is(next, colon, "as") && next+1 < colon {
			s.Vars = append(s.Vars, p.tokens[next+1].text)
		}
	}
	if colon+1 < last {
		s.Body = &Block{p, colon + 1, last}
		return last + 1
	}
	next := min(last+1, stop)
	for next < stop && (!p.tokens[next].fresh || p.tokens[next].column > column || p.tokens[next].kind == end) {
		if p.opens(next, stop) {
			next = p.after(next, stop)
		} else {
			next++
		}
	}
	s.Body = &Block{p, min(last+1, stop), next}
	return next
}

// assertion reads an assertion of Python as a call of expect.
func (p *parser) assertion(i, last int) Value {
	comma := p.comma(i, last)
	name, split, width := "toBeTruthy", comma, 0
	for j := i; j < comma; {
		switch {
		case p.is(j, comma, "=") && p.is(j+1, comma, "="):
			name, split, width = "toBe", j, 2
		case p.is(j, comma, "!") && p.is(j+1, comma, "="):
			name, split, width = "notToBe", j, 2
		case p.is(j, comma, "in"):
			name, split, width = "toContain", j, 1
		case p.is(j, comma, "<", ">"):
			name, split, width = map[string]string{"<": "toBeLessThan", ">": "toBeGreaterThan"}[p.tokens[j].text], j, 1
			if p.is(j+1, comma, "=") {
				name, width = name+"OrEqual", 2
			}
		case p.is(j, comma, "and", "or"):
			return Value{Text: p.source(i, last)}
		}
		if width > 0 {
			break
		}
		if p.opens(j, comma) {
			j = p.after(j, comma)
		} else {
			j++
		}
	}
	if p.is(i, split, "not") {
		name, i = "toBeFalsy", i+1
	}
	left, right := p.whole(i, split), p.whole(min(split+width, comma), comma)
	c := &Chain{Base: "expect"}
	check := Member{Name: name, Called: true, Line: p.tokens[i-1].line, Column: p.tokens[i-1].column, open: p.tokens[i-1].stop}
	switch name {
	case "toContain":
		left, right = right, left
		fallthrough
	case "toBe", "notToBe", "toBeLessThan", "toBeLessThanOrEqual", "toBeGreaterThan", "toBeGreaterThanOrEqual":
		check.Args = []Value{right}
	}
	c.Members = []Member{{Called: true, Args: []Value{left}}, check}
	return Value{Kind: Calls, Calls: c, Text: p.source(i, last)}
}
