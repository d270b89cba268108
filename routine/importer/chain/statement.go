package chain

import (
	"slices"
	"strings"
)

// Block are statements, which are read when they are asked for.
type Block struct {
	p           *parser
	start, stop int
}

// Statement is one statement. It has a value, or it is the head of a block.
type Statement struct {
	// Keyword is the word that says what the block is: function, class, if, for, with and such, or
	// "{" for a block alone; empty for a statement without one.
	Keyword string
	// Name is the name of a function or class, and Params are the parameters of a function.
	Name, Params string
	// Marks are the annotations in front of a function.
	Marks string
	// Vars are the variables that get the value; of this or self, they begin with "this.".
	Vars []string
	// Returns reports whether the value is what the function gives.
	Returns bool
	Value   Value
	Body    *Block
	// Loop is what the block is repeated with; nil if it is none that is known.
	Loop         *Loop
	Line, Column int

	p           *parser
	start, stop int
}

// Parse returns the statements of a script.
func Parse(src string, language Language) *Block {
	p := &parser{src: src, tokens: lex(src, language), language: language}
	return &Block{p: p, start: 0, stop: len(p.tokens)}
}

// TooLong returns the line from which on a script is not read, as it has more than MaxTokens; 0 if it
// has fewer.
func (b *Block) TooLong() int {
	if len(b.p.tokens) < MaxTokens {
		return 0
	}
	return b.p.tokens[MaxTokens-1].line
}

// Statements are the statements of the block itself.
func (b *Block) Statements() []Statement {
	p := b.p
	var all []Statement
	marks := "" // the decorators of Python
	for i := b.start; i < b.stop; {
		s := Statement{Line: p.tokens[i].line, Column: p.tokens[i].column, p: p, start: i, Returns: p.is(i, b.stop, "return", "yield")}
		next := 0
		if p.language == Python {
			next = p.pythonStatement(i, b.stop, &s)
		} else {
			next = p.statement(i, b.stop, &s)
		}
		s.stop = max(min(next, b.stop), i+1)
		i = s.stop
		if p.language == Python && s.Keyword == "" && s.Marks != "" {
			marks = s.Marks + " " + marks[:min(len(marks), maxMarks)]
			continue
		}
		if s.Keyword == "function" && p.language == Python {
			s.Marks = marks
		}
		marks = ""
		if s.Keyword != "" || s.Value.Kind != Unknown || len(s.Value.Text) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// controls are the words that begin blocks which may not be done, or more than once.
var controls = []string{"if", "for", "while", "switch", "catch", "else", "do", "foreach", "try", "finally"}

// maxMarks bounds the annotations of a function, in bytes.
const maxMarks = 1000

// statement reads a statement of a language with braces.
func (p *parser) statement(i, stop int, s *Statement) int {
	for len(s.Marks) < maxMarks { // annotations
		if p.is(i, stop, "@") {
			s.Marks += p.tokens[min(i+1, stop-1)].text + " "
			if i += 2; p.opens(i, stop) && p.is(i, stop, "(") {
				i = p.after(i, stop)
			}
		} else if p.language == CSharp && p.is(i, stop, "[") && p.opens(i, stop) {
			s.Marks += p.tokens[min(i+1, stop-1)].text + " "
			i = p.after(i, stop)
		} else {
			break
		}
	}
	switch {
	case i >= stop:
		return stop
	case p.is(i, stop, "{") && p.opens(i, stop):
		s.Keyword, s.Body = "{", &Block{p, i + 1, p.inside(i, stop)}
		return p.after(i, stop)
	case p.is(i, stop, ";", "}", ")", "]", "{", ","):
		return i + 1
	case p.is(i, stop, controls...):
		return p.control(i, stop, s)
	case p.is(i, stop, "import", "package") || p.is(i, stop, "using") && !p.is(i+1, stop, "var", "("):
		return p.boundary(i, stop) + 1
	case p.is(i, stop, "export"):
		for p.is(i, stop, "export", "default") {
			i++
		}
		return p.headOrValue(i, stop, s)
	case p.is(i, stop, "const", "let", "var") && p.is(i+1, stop, "{", "[") && p.opens(i+1, stop):
		for _, t := range p.tokens[i+2 : p.inside(i+1, stop)] {
			if t.kind == identifier {
				s.Vars = append(s.Vars, t.text)
			}
		}
		i = p.after(i+1, stop)
		return p.valued(i+p.count(i, stop, "="), stop, s)
	}
	return p.headOrValue(i, stop, s)
}

// count is 1 if the token is this one, or 0.
func (p *parser) count(i, stop int, word string) int {
	if p.is(i, stop, word) {
		return 1
	}
	return 0
}

// headOrValue reads the head of a function or class with its block, or a declaration or call.
func (p *parser) headOrValue(i, stop int, s *Statement) int {
	last := p.boundary(i, stop)
	for j := i; j < last; {
		switch {
		case p.is(j, last, "=") && !p.is(j+1, last, "="):
			p.targets(i, j, s)
			return p.valued(j+1, stop, s)
		case p.is(j, last, "{") && p.opens(j, last):
			p.head(i, j, s)
			s.Body = &Block{p, j + 1, p.inside(j, stop)}
			return p.after(j, stop)
		case p.opens(j, last):
			j = p.after(j, last)
		default:
			j++
		}
	}
	return p.valued(i, stop, s)
}

// head says what the block is whose head is between two tokens.
func (p *parser) head(i, j int, s *Statement) {
	s.Keyword = "function"
	for k := i; k < j; k++ {
		if p.is(k, j, "class", "interface", "namespace", "enum", "record") {
			s.Keyword, s.Name = "class", p.tokens[min(k+1, j-1)].text
			return
		}
		if p.is(k, j, "(") && p.opens(k, j) {
			s.Name = p.tokens[max(k-1, i)].text
			s.Params = p.source(k+1, p.inside(k, j))
			return
		}
	}
}

// targets reads the variables on the left of an assignment.
func (p *parser) targets(i, j int, s *Statement) {
	if p.is(j-1, j, "+", "-", "*", "/", "!", "<", ">") {
		return
	}
	if j-2 >= i && p.is(j-2, j, ".") {
		if j-3 == i && p.is(i, j, "this", "self") {
			s.Vars = append(s.Vars, This+normal(p.tokens[j-1].text, p.language))
		}
		return
	}
	for k := i; k < j && p.language == JavaScript; k++ {
		if k > i && p.is(k, j, ":") { // a type follows the name
			j = k
		}
	}
	if p.is(i, j, "const", "let", "var") {
		j = min(j, i+2) // a type may follow the name
	}
	if j > i && p.tokens[j-1].kind == identifier {
		s.Vars = append(s.Vars, p.tokens[j-1].text)
	}
}

// valued reads the value of a statement to its end.
func (p *parser) valued(i, stop int, s *Statement) int {
	last := p.boundary(i, stop)
	s.Value = p.whole(i, last)
	return last + p.count(last, stop, ";")
}

// continues are the tokens after or before which a statement goes on in the next line.
var continues = []string{".", "?", "+", "|", "&", "=", "=>", ":", ",", "(", "[", "{", "<", ">", "*"}

// boundary returns the end of a statement.
func (p *parser) boundary(i, stop int) int {
	for j := i; j < stop; {
		if p.is(j, stop, ";", "}") {
			return j
		}
		if p.language == JavaScript && j > i && p.tokens[j].fresh && !p.is(j, stop, continues...) && !p.is(j-1, stop, continues...) {
			return j
		}
		if p.opens(j, stop) {
			block := p.is(j, stop, "{") && !p.is(j-1, stop, "=", "=>", ",", "(", "]", "?", ":", "<", "return", "default") && j > i
			if j = p.after(j, stop); block {
				return j
			}
		} else {
			j++
		}
	}
	return stop
}

// control reads a statement that begins with a word such as if.
func (p *parser) control(i, stop int, s *Statement) int {
	s.Keyword = p.tokens[i].text
	if i++; p.is(i, stop, "await") {
		i++
	}
	if p.is(i, stop, "(") && p.opens(i, stop) {
		if s.Keyword == "for" || s.Keyword == "foreach" {
			s.Loop = p.loop(i+1, p.inside(i, stop))
		} else if s.Keyword == "if" {
			s.Value = p.condition(i+1, p.inside(i, stop))
		}
		i = p.after(i, stop)
	}
	if p.is(i, stop, "{") && p.opens(i, stop) {
		s.Body = &Block{p, i + 1, p.inside(i, stop)}
		return p.after(i, stop)
	}
	if i >= stop || p.depth > maxDepth {
		s.Body = &Block{p, i, i}
		return stop
	}
	p.depth++
	defer func() { p.depth-- }()
	var inner Statement
	next := min(max(p.statement(i, stop, &inner), i+1), stop)
	s.Body = &Block{p, i, next}
	return next
}

// condition reads the condition of an if. One that a number is more than 0 is that number.
func (p *parser) condition(i, stop int) Value {
	v, next := p.expression(i, stop)
	if next+2 == stop && p.is(next, stop, ">") && p.tokens[next+1].kind == number && p.tokens[next+1].text == "0" {
		return v
	}
	return p.whole(i, stop)
}

// source is the text of tokens.
func (p *parser) source(i, stop int) string {
	if i >= stop {
		return ""
	}
	return p.src[p.tokens[i].start:p.tokens[stop-1].stop]
}

// NormalName is the name of a function as members of chains have it.
func (s *Statement) NormalName() string { return normal(s.Name, s.p.language) }

// This begins the name of a variable that is a member of this, or of self of Python.
const This = "this."

// Names returns whether one of the words is in the statement, its block not included.
func (s *Statement) Names(is func(word string) bool) bool {
	stop := s.stop
	if s.Body != nil && s.Keyword != "" {
		stop = min(max(s.Body.start, s.start), stop)
	}
	return slices.ContainsFunc(s.p.tokens[s.start:stop], func(t token) bool { return t.kind == identifier && is(t.text) })
}

// Size is the number of tokens in the block.
func (b *Block) Size() int { return b.stop - b.start }

// Has reports whether one of the words is in the block, blocks in it included.
func (b *Block) Has(words ...string) bool {
	return slices.ContainsFunc(b.p.tokens[b.start:max(b.start, b.stop)], func(t token) bool { return t.kind == identifier && slices.Contains(words, t.text) })
}

// Shown is the statement without the values in it, in one line.
func (s *Statement) Shown() string {
	var b strings.Builder
	for i, t := range s.p.tokens[s.start:s.stop] {
		switch {
		case b.Len() > 150:
			return b.String()
		case t.kind == text:
			b.WriteString(`"…"`)
		case i > 0 && t.start > s.p.tokens[s.start+i-1].stop && t.kind != end:
			b.WriteString(" " + t.text)
		default:
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// ShownTo is the source of a chain from the beginning of the statement to the name of a member.
func (s *Statement) ShownTo(m Member) string {
	if start := s.p.tokens[s.start].start; m.open > start && m.open <= len(s.p.src) {
		return s.p.src[start:m.open]
	}
	return m.Name
}
