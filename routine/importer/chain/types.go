package chain

import "strings"

// WithoutTypes returns a function of TypeScript as JavaScript: without the types of variables,
// parameters and results, casts, and non-null assertions.
func WithoutTypes(src string) string {
	p := &parser{src: src, tokens: lex(src, JavaScript), language: JavaScript}
	n := len(p.tokens)
	var b strings.Builder
	done := 0
	remove := func(i, stop int) {
		if start := p.tokens[i].start; stop > i && start >= done {
			b.WriteString(src[done:start] + " ")
			done = p.tokens[stop-1].stop
		}
	}
	for i := 1; i < n; i++ {
		switch {
		case p.is(i, n, "as", "satisfies") && !p.tokens[i].fresh && p.ends(i-1) && p.typeEnd(i+1) > i+1:
			remove(i, p.typeEnd(i+1))
		case p.is(i, n, "!") && p.ends(i-1) && p.is(i+1, n, ".", ")", ",", ";", "["):
			remove(i, i+1)
		case p.is(i, n, "<") && p.tokens[i-1].kind == identifier && p.afterTypes(i, n) > 0:
			remove(i, p.afterTypes(i, n))
		case p.is(i, n, ":") && p.hasType(i):
			remove(i, p.typeEnd(i+1))
		case p.is(i, n, "?") && p.is(i+1, n, ":") && p.parameter(i):
			remove(i, p.typeEnd(i+2))
		}
	}
	return b.String() + src[done:]
}

// ends reports whether a token can be the last of a value.
func (p *parser) ends(i int) bool {
	return p.tokens[i].kind == identifier || p.is(i, len(p.tokens), ")", "]", "}")
}

// hasType reports whether a colon is in front of a type: of a variable, a parameter or a result.
func (p *parser) hasType(i int) bool {
	n := len(p.tokens)
	if p.is(i-2, n, "const", "let", "var") || p.parameter(i) {
		return true
	}
	return p.is(i-1, n, ")") && p.is(p.typeEnd(i+1), n, "=>", "{") && p.takes(p.tokens[i-1].pair)
}

// parameter reports whether a token stands behind the name of a parameter of a function.
func (p *parser) parameter(i int) bool {
	for j := i - 1; j >= max(0, i-maxTypes); j-- {
		switch {
		case p.is(j, len(p.tokens), ")", "]", "}") && p.tokens[j].pair >= 0 && p.tokens[j].pair < j:
			j = p.tokens[j].pair
		case p.is(j, len(p.tokens), "(", "[", "{"):
			return p.is(j, len(p.tokens), "(") && p.takes(j) && (p.is(i-2, i, "(", ",") || p.is(i-1, i, "}", "]"))
		}
	}
	return false
}

// takes reports whether a bracket begins the parameters of a function.
func (p *parser) takes(i int) bool {
	n := len(p.tokens)
	if !p.is(i, n, "(") || p.tokens[i].pair <= i {
		return false
	}
	after := p.tokens[i].pair + 1
	if p.is(after, n, ":") {
		after = p.typeEnd(after + 1)
	}
	return p.is(after, n, "=>") || p.is(i-1, n, "function") || p.is(i-2, n, "function")
}

// typeEnd returns the end of the type that begins at a token.
func (p *parser) typeEnd(i int) int {
	n := min(len(p.tokens), i+maxTypes)
	for i < n {
		switch {
		case p.opens(i, n):
			i = p.after(i, n)
		case p.tokens[i].kind == identifier || p.tokens[i].kind == text:
			i++
		default:
			return i
		}
		for p.is(i, n, ".") && i+1 < n {
			i += 2
		}
		if p.is(i, n, "<") {
			for depth := 0; i < n; i++ {
				if depth += p.count(i, n, "<") - p.count(i, n, ">"); depth == 0 {
					i++
					break
				}
			}
		}
		for p.is(i, n, "[") && p.is(i+1, n, "]") {
			i += 2
		}
		if !p.is(i, n, "|", "&") || p.is(i+1, n, "|", "&") {
			return i
		}
		i++
	}
	return n
}

// maxTypes is how many tokens the types of a call may have.
const maxTypes = 100

// afterTypes returns the index of the bracket that follows the types with which a function is called,
// as in extend<Fixtures>(…); 0 if these are no types.
func (p *parser) afterTypes(i, stop int) int {
	depth := 0
	for j := i; j < min(stop, i+maxTypes); {
		switch {
		case p.is(j, stop, ";", ")", "=>"):
			return 0
		case p.is(j, stop, "<"):
			depth++
		case p.is(j, stop, ">"):
			depth--
		}
		if depth == 0 {
			if p.is(j+1, stop, "(") {
				return j + 1
			}
			return 0
		}
		if p.opens(j, stop) {
			j = p.after(j, stop)
		} else {
			j++
		}
	}
	return 0
}
