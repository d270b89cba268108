package chain

import (
	"regexp"
	"slices"
	"strings"
)

// maxDepth is how deep expressions and blocks may be in one another.
const maxDepth = 60

// parser reads expressions and statements of tokens.
type parser struct {
	src      string
	tokens   []token
	language Language
	depth    int
}

// is reports whether the token is one of these words or punctuation characters.
func (p *parser) is(i, stop int, words ...string) bool {
	return i >= 0 && i < stop && (p.tokens[i].kind == punctuation || p.tokens[i].kind == identifier) && slices.Contains(words, p.tokens[i].text)
}

// after returns the index behind a bracket's pair.
func (p *parser) after(i, stop int) int { return min(p.tokens[i].pair+1, stop) }

// inside returns the end of what is in the brackets that open at i.
func (p *parser) inside(i, stop int) int { return min(p.tokens[i].pair, stop) }

func (p *parser) opens(i, stop int) bool { return p.is(i, stop, "(", "[", "{") && p.tokens[i].pair > i }

// expression reads an expression from i on, and returns where it ends.
func (p *parser) expression(i, stop int) (Value, int) {
	if i >= stop || p.depth > maxDepth {
		return Value{}, stop
	}
	p.depth++
	defer func() { p.depth-- }()
	begin := i
	v, i := p.operand(i, stop)
	for i < stop {
		kind := Sum
		switch {
		case p.is(i, stop, "!") && !p.is(i+1, stop, "="):
			i++
			continue
		case p.is(i, stop, "as", "satisfies") && p.language == JavaScript:
			for i++; i < stop && !p.is(i, stop, ",", ";", ")") && !p.tokens[i].fresh; i++ {
			}
			continue
		case p.is(i, stop, "+"):
			i++
		case p.is(i, stop, "|") && p.is(i+1, stop, "|"), p.is(i, stop, "?") && p.is(i+1, stop, "?"):
			kind, i = Choice, i+2
		case p.is(i, stop, "or") && p.language == Python:
			kind, i = Choice, i+1
		case v.Kind == Text && p.tokens[i].kind == text: // they are joined
		default:
			v.Text = p.sourceOf(v, begin, i)
			return v, i
		}
		var next Value
		next, i = p.operand(i, stop)
		v = Value{Kind: kind, Parts: []Value{v, next}, Line: v.Line, Column: v.Column}
	}
	v.Text = p.sourceOf(v, begin, i)
	return v, i
}

// sourceOf is the text of a value: the source, except for literals.
func (p *parser) sourceOf(v Value, begin, stop int) string {
	if v.Kind == Text || v.Kind == Template || v.Kind == Number || v.Kind == Pattern || stop <= begin {
		return v.Text
	}
	return p.src[p.tokens[begin].start:p.tokens[stop-1].stop]
}

// operand reads what stands between two operators.
func (p *parser) operand(i, stop int) (Value, int) {
	if i >= stop || p.depth > maxDepth {
		return Value{}, stop
	}
	p.depth++
	defer func() { p.depth-- }()
	t := p.tokens[i]
	v := Value{Line: t.line, Column: t.column}
	switch {
	case t.kind == text:
		v.Kind, v.Text = Text, strings.ReplaceAll(t.text, "\x00", "")
		if t.flags != "" {
			v = p.template(t, v)
		}
		return v, i + 1
	case t.kind == regex:
		v.Kind, v.Text, v.Flags = Pattern, t.text, t.flags
		return v, i + 1
	case t.kind == number:
		v.Kind, v.Text = Number, t.text
		return v, i + 1
	case p.is(i, stop, "-") && i+1 < stop && p.tokens[i+1].kind == number:
		v.Kind, v.Text = Number, "-"+p.tokens[i+1].text
		return v, i + 2
	case t.kind == identifier:
		return p.named(i, stop, v)
	case p.opens(i, stop):
		return p.bracketed(i, stop, v)
	}
	return v, i + 1
}

// named reads an operand that begins with a word.
func (p *parser) named(i, stop int, v Value) (Value, int) {
	switch word := p.tokens[i].text; {
	case word == "await" || word == "async" || word == "return" || word == "yield" && p.language == Python:
		inner, next := p.operand(i+1, stop)
		if inner.Kind == Calls {
			inner.Calls.Await = true
		}
		return inner, next
	case word == "function":
		for i++; i < stop && !p.is(i, stop, "("); i++ {
		}
		return p.function(i, stop, v)
	case word == "lambda" && p.language == Python:
		for i++; i < stop && !p.is(i, stop, ":"); i++ {
		}
		v.Kind = Function
		result, next := p.expression(i+1, stop)
		v.Result = &result
		return v, next
	case word == "new":
		return p.created(i+1, stop, v)
	case p.is(i+1, stop, "=>"):
		v.Params = word
		return p.arrow(i+1, stop, v)
	}
	v.Kind, v.Calls = Calls, &Chain{Base: p.tokens[i].text}
	i = p.members(i+1, stop, v.Calls)
	return p.asPattern(v), i
}

// members reads what follows the base of a chain.
func (p *parser) members(i, stop int, c *Chain) int {
	for i < stop {
		t := p.tokens[i]
		switch {
		case p.is(i, stop, "!") && p.is(i+1, stop, "."):
			i++
		case p.is(i, stop, "?") && p.is(i+1, stop, "."):
			i++
		case p.is(i, stop, "<") && p.afterTypes(i, stop) > 0:
			i = p.afterTypes(i, stop)
		case p.is(i, stop, ".") && i+1 < stop && p.tokens[i+1].kind == identifier:
			name := p.tokens[i+1]
			c.Members = append(c.Members, Member{Name: normal(name.text, p.language), Line: name.line, Column: name.column, open: name.stop})
			i += 2
		case t.text == "(" && p.opens(i, stop) && (!t.fresh || p.language == Python):
			if len(c.Members) == 0 || c.Members[len(c.Members)-1].Called || c.Members[len(c.Members)-1].Index {
				c.Members = append(c.Members, Member{Line: t.line, Column: t.column, open: t.start})
			}
			m := &c.Members[len(c.Members)-1]
			m.Called, m.Args = true, p.arguments(i+1, p.inside(i, stop))
			i = p.after(i, stop)
		case t.text == "[" && p.opens(i, stop) && (!t.fresh || p.language == Python):
			c.Members = append(c.Members, Member{Index: true, Args: p.arguments(i+1, p.inside(i, stop)), Line: t.line, Column: t.column, open: t.start})
			i = p.after(i, stop)
		default:
			return i
		}
	}
	return i
}

// arguments reads the values between brackets. Named ones are an object at the end.
func (p *parser) arguments(i, stop int) []Value {
	var all []Value
	named := Value{Kind: Object}
	for i < stop {
		name := ""
		if p.tokens[i].kind == identifier && p.is(i+1, stop, "=") && !p.is(i+2, stop, "=") && p.language != JavaScript {
			name, i = normal(p.tokens[i].text, p.language), i+2
		} else if p.language == CSharp && p.tokens[i].kind == identifier && p.is(i+1, stop, ":") {
			i += 2
		}
		comma := p.comma(i, stop)
		v := p.whole(i, comma)
		if name != "" {
			named.Fields = append(named.Fields, Field{name, v})
		} else if comma > i {
			all = append(all, v)
		}
		i = comma + 1
	}
	if len(named.Fields) > 0 {
		all = append(all, named)
	}
	return all
}

// whole reads the expression that has to take all tokens.
func (p *parser) whole(i, stop int) Value {
	v, next := p.expression(i, stop)
	if next < stop && i < stop && v.Kind == Function && v.Body == nil { // it returns more than a chain
		v.Text, v.Result = p.src[p.tokens[i].start:p.tokens[stop-1].stop], &Value{}
		return v
	}
	if next < stop && i < stop {
		return Value{Text: p.src[p.tokens[i].start:p.tokens[stop-1].stop], Line: v.Line, Column: v.Column}
	}
	return v
}

// comma returns the index of the next comma that is in no brackets.
func (p *parser) comma(i, stop int) int {
	for i < stop && !p.is(i, stop, ",") {
		if p.opens(i, stop) {
			i = p.after(i, stop)
		} else {
			i++
		}
	}
	return i
}

// bracketed reads a list, an object, a function or an expression in brackets.
func (p *parser) bracketed(i, stop int, v Value) (Value, int) {
	next := p.after(i, stop)
	switch p.tokens[i].text {
	case "[":
		v.Kind, v.Parts = List, p.arguments(i+1, p.inside(i, stop))
		if p.is(next, stop, ".") && p.is(next+1, stop, "forEach") {
			v.Kind, v.Calls = Calls, &Chain{}
			next = p.members(next, stop, v.Calls)
		}
		return v, next
	case "{":
		v.Kind, v.Fields = Object, p.fields(i+1, p.inside(i, stop))
		return v, next
	}
	arrow := next
	if p.is(next, stop, ":") && p.language == JavaScript { // the type of the result
		for arrow < min(next+12, stop) && !p.is(arrow, stop, "=>", ",", ";") {
			arrow++
		}
	}
	if p.is(arrow, stop, "=>") {
		v.Params = p.source(i+1, p.inside(i, stop))
		return p.arrow(arrow, stop, v)
	}
	if p.language == Python && p.comma(i+1, p.inside(i, stop)) < p.inside(i, stop) { // a tuple
		v.Kind, v.Parts = List, p.arguments(i+1, p.inside(i, stop))
		return v, next
	}
	inner := p.whole(i+1, p.inside(i, stop))
	switch inner.Kind {
	case Calls:
		next = p.members(next, stop, inner.Calls)
	case Function:
		if p.is(next, stop, "(") {
			inner.Flags = Called
		}
		next = p.members(next, stop, &Chain{})
	}
	return inner, next
}

// Called is in the Flags of a function that is called where it is written.
const Called = "called"

// fields reads the members of an object.
func (p *parser) fields(i, stop int) []Field {
	var all []Field
	for i < stop {
		comma := p.comma(i, stop)
		if name := p.tokens[i]; (name.kind == identifier || name.kind == text) && p.is(i+1, comma, ":", "=") {
			key := name.text
			if name.kind == identifier || p.language == Python {
				key = normal(key, p.language)
			}
			all = append(all, Field{key, p.whole(i+2, comma)})
		} else if name.kind == identifier && i+1 == comma {
			all = append(all, Field{name.text, p.whole(i, comma)})
		}
		i = comma + 1
	}
	return all
}

// function reads a function from its parameters on.
func (p *parser) function(i, stop int, v Value) (Value, int) {
	if !p.opens(i, stop) {
		return v, i
	}
	v.Params = p.source(i+1, p.inside(i, stop))
	for i = p.after(i, stop); i < stop && !p.is(i, stop, "{"); i++ {
	}
	return p.body(i, stop, v)
}

// arrow reads a function from its arrow on.
func (p *parser) arrow(i, stop int, v Value) (Value, int) {
	if p.is(i+1, stop, "{") {
		return p.body(i+1, stop, v)
	}
	v.Kind = Function
	result, next := p.expression(i+1, stop)
	v.Result = &result
	return v, next
}

func (p *parser) body(i, stop int, v Value) (Value, int) {
	if !p.opens(i, stop) {
		return v, i
	}
	v.Kind, v.Body = Function, &Block{p: p, start: i + 1, stop: p.inside(i, stop)}
	return v, p.after(i, stop)
}

// created reads what follows the word new: options with setters or members, a pattern, a list.
func (p *parser) created(i, stop int, v Value) (Value, int) {
	c := &Chain{}
	for i < stop && (p.tokens[i].kind == identifier || p.is(i, stop, ".")) {
		c.Base = p.tokens[i].text
		i++
	}
	if p.is(i, stop, "[") && p.opens(i, stop) { // a list of a type
		i = p.after(i, stop)
		if p.is(i, stop, "{") && p.opens(i, stop) {
			v.Kind, v.Parts = List, p.arguments(i+1, p.inside(i, stop))
			return v, p.after(i, stop)
		}
		return v, i
	}
	i = p.members(i, stop, c)
	if c.Base == "RegExp" || c.Base == "Regex" {
		v.Kind, v.Calls = Calls, c
		return p.asPattern(v), i
	}
	v.Kind, v.Calls = Object, c
	for _, m := range c.Members {
		if name, setter := strings.CutPrefix(m.Name, "set"); setter && len(m.Args) > 0 {
			v.Fields = append(v.Fields, Field{strings.ToLower(name[:min(1, len(name))]) + name[min(1, len(name)):], m.Args[0]})
		}
	}
	if p.is(i, stop, "{") && p.opens(i, stop) {
		v.Fields = append(v.Fields, p.fields(i+1, p.inside(i, stop))...)
		i = p.after(i, stop)
	}
	return v, i
}

// ignoresCase matches the flag with which the languages make a pattern that ignores case.
var ignoresCase = regexp.MustCompile(`(?i)ignore|insens|(^|\.)i$`)

// asPattern returns the pattern that a call makes, as re.compile("x") of Python; other values
// are returned as they are.
func (p *parser) asPattern(v Value) Value {
	c := v.Calls
	made := (c.Base == "re" || c.Base == "Pattern") && c.Last().Name == "compile" || c.Base == "RegExp" || c.Base == "Regex"
	if len(c.Members) != 1 || !made || len(c.Members[0].Args) == 0 || c.Members[0].Args[0].Kind != Text {
		return v
	}
	args := c.Members[0].Args
	v.Kind, v.Text = Pattern, args[0].Text
	if len(args) > 1 && ignoresCase.MatchString(args[1].Text) {
		v.Flags = "i"
	}
	return v
}
