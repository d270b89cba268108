package selector

import (
	"fmt"
	"strings"

	"rote/routine"

	"github.com/tdewolff/parse/v2/css"
)

// attribute reads an attribute selector: [name], or [name operator value flag].
func (p *parser) attribute() {
	open := p.peek()
	p.next++
	p.elementType()
	if p.fault != nil {
		return
	}
	if before := p.tokens[p.next-1]; before.at == open.at || before.text == "*" {
		p.attributeFault(open, "no attribute's name follows [")
		return
	}
	if p.is(css.RightBracketToken, "") {
		p.next++
		return
	}
	if !p.matcher() {
		p.attributeFault(open, "%s cannot stand in an attribute's name", routine.Truncate(p.peek().text, 40))
		return
	}
	switch value := p.peek(); value.TokenType {
	case css.StringToken, css.IdentToken, css.CustomPropertyNameToken:
		p.next++
		if p.isName() && (strings.EqualFold(p.peek().text, "i") || strings.EqualFold(p.peek().text, "s")) {
			p.next++
		}
		if !p.is(css.RightBracketToken, "") {
			p.attributeFault(open, "%s cannot stand behind the value", routine.Truncate(p.peek().text, 40))
			p.valueHint(value)
			return
		}
		p.next++
	default:
		p.attributeFault(open, "%s is no value for an attribute", routine.Truncate(value.text, 40))
		p.valueHint(value)
	}
}

// attributeFault records a fault at the next token. If that is the end of the text,
// the fault is that the bracket was not closed.
func (p *parser) attributeFault(open token, format string, args ...any) {
	if p.is(css.ErrorToken, "") {
		p.fail(open.at, "the bracket [ is not closed")
		return
	}
	p.fail(p.peek().at, format, args...)
}

// valueHint suggests writing the value of an attribute in quotes.
func (p *parser) valueHint(value token) {
	rest := p.text[value.at:]
	if end := strings.IndexByte(rest, ']'); end > 0 && value.TokenType != css.StringToken {
		p.hint(fmt.Sprintf("put the value in quotes: ='%s'", routine.Truncate(strings.Trim(rest[:end], `'"`), 60)))
	}
}

// matcher consumes the operator of an attribute selector, such as = or ^=. It reports
// whether there was one.
func (p *parser) matcher() bool {
	if !isMatcher(p.peek()) {
		return false
	}
	p.next++
	return true
}

// isMatcher reports whether a token is the operator of an attribute selector.
func isMatcher(t token) bool {
	switch t.TokenType {
	case css.IncludeMatchToken, css.DashMatchToken, css.PrefixMatchToken, css.SuffixMatchToken, css.SubstringMatchToken:
		return true
	}
	return t.TokenType == css.DelimToken && t.text == "="
}

// foreignPseudos maps pseudo-classes of jQuery, Playwright and Puppeteer, which no
// browser knows, to what to write instead.
var foreignPseudos = map[string]string{
	"contains": textHint, "icontains": textHint, "has-text": textHint, "text": textHint, "text-is": textHint, "text-matches": textHint, "-p-text": textHint,
	"eq": "use :nth-child() or :nth-of-type(), which count from 1", "nth": "use :nth-child() or :nth-of-type(), which count from 1",
	"nth-match": "use :nth-child() or :nth-of-type()",
	"gt":        "use :nth-child(n+3) for those from the third on", "lt": "use :nth-child(-n+3) for the first three",
	"first": "leave it out: the first actionable match is used; or use :first-child", "last": "use :last-child or :last-of-type",
	"even": "use :nth-child(even)", "odd": "use :nth-child(odd)",
	"visible": "leave it out: only visible elements are used", "hidden": "hidden elements are never used; for the attribute write [hidden]",
	"parent": "use :not(:empty)", "header": "use :is(h1, h2, h3, h4, h5, h6)", "selected": "use :checked", "input": "use :is(input, select, textarea, button)",
	"button": "use :is(button, [type='button'])", "submit": "use [type='submit']", "checkbox": "use [type='checkbox']", "radio": "use [type='radio']",
	"password": "use [type='password']", "file": "use [type='file']", "image": "use [type='image']", "reset": "use [type='reset']", "-p-xpath": xpathHint,
	"xpath": xpathHint,
}

const (
	textHint  = "CSS cannot select by text: use an id, a class or an attribute such as [aria-label='…'], or click it from js_evaluate"
	xpathHint = "this is XPath: write a CSS selector, as in form > button[type='submit']"
)

// pseudo reads a pseudo-class or pseudo-element with its arguments.
func (p *parser) pseudo(depth int) {
	colon := p.peek()
	p.next++
	if p.is(css.ColonToken, "") && !p.peek().space {
		p.next++
	}
	name := p.peek()
	if name.space || !p.isName() && name.TokenType != css.FunctionToken {
		p.fail(colon.at, "no pseudo-class follows the colon")
		return
	}
	p.next++
	word := strings.ToLower(strings.TrimSuffix(name.text, "("))
	if hint, foreign := foreignPseudos[word]; foreign {
		p.fail(colon.at, "CSS has no :%s", word)
		p.hint(hint)
		return
	}
	if name.TokenType == css.CustomPropertyNameToken && p.is(css.LeftParenthesisToken, "") && !p.peek().space {
		p.next++
	} else if name.TokenType != css.FunctionToken {
		return
	}
	switch {
	case depth >= maxDepth || word != "not" && word != "has":
		p.skip(name)
	default:
		p.list(depth+1, word == "has")
		if p.fault == nil && !p.is(css.RightParenthesisToken, "") {
			p.fail(name.at, "the bracket of %s is not closed", routine.Truncate(name.text, 40))
		}
		p.next++
	}
}

// skip passes over the arguments of a function without checking more than that their
// brackets are paired.
func (p *parser) skip(open token) {
	closing := []css.TokenType{css.RightParenthesisToken}
	for len(closing) > 0 {
		t := p.peek()
		switch t.TokenType {
		case css.ErrorToken:
			p.fail(open.at, "the bracket of %s is not closed", routine.Truncate(open.text, 40))
			return
		case css.LeftParenthesisToken, css.FunctionToken:
			closing = append(closing, css.RightParenthesisToken)
		case css.LeftBracketToken:
			closing = append(closing, css.RightBracketToken)
		case css.LeftBraceToken:
			closing = append(closing, css.RightBraceToken)
		case css.RightParenthesisToken, css.RightBracketToken, css.RightBraceToken:
			if t.TokenType != closing[len(closing)-1] {
				p.fail(t.at, "%s closes nothing", t.text)
				return
			}
			closing = closing[:len(closing)-1]
		}
		p.next++
	}
}

// foreignHint recognizes selectors of other languages and tools, such as XPath and
// "text=Buy". It returns what to write instead, or an empty string.
func foreignHint(text string) string {
	text = strings.TrimSpace(text)
	engine, rest, found := strings.Cut(text, "=")
	switch {
	case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "(/") || strings.Contains(text, "[@") ||
		strings.Contains(text, "text()"):
		return xpathHint
	case found && (engine == "text" || engine == "role" || engine == "label" || engine == "placeholder" || engine == "link text" || engine == "partial link text"):
		return textHint
	case found && engine == "css":
		return fmt.Sprintf("write the selector alone: %s", routine.Truncate(rest, 60))
	case found && engine == "id":
		return "write #" + routine.Truncate(rest, 60)
	case found && (engine == "name" || engine == "data-testid"):
		return fmt.Sprintf("write [%s='%s']", engine, routine.Truncate(rest, 60))
	case found && engine == "xpath":
		return xpathHint
	case strings.Contains(text, ">>"):
		return "frames and open shadow roots are searched by themselves: name the element only"
	case strings.HasPrefix(text, "document.") || strings.HasPrefix(text, "$(") || strings.HasPrefix(text, "page."):
		return "write the selector alone, without the code around it"
	case len(text) > 1 && strings.ContainsAny(text[:1], `"'`) && text[len(text)-1] == text[0]:
		return "write it without the quotes"
	}
	return ""
}
