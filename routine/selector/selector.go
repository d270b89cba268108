// Package selector finds what keeps a text from being a CSS selector, and says where
// and why.
package selector

import (
	"fmt"
	"rote/routine"
	"strings"

	input "github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// Fault is why a text is no CSS selector.
type Fault struct {
	Offset        int
	Message, Hint string
}

// Check finds what certainly keeps a text from being a CSS selector. It
// follows the grammar of Selectors Level 4 as far as that is settled; names of
// pseudo-classes and what stands in their brackets are let pass, save what
// other tools are known to put there.
func Check(text string) *Fault {
	p := &selectorParser{text: text}
	p.split()
	if p.fault == nil {
		p.list(0, false)
	}
	if p.fault != nil && p.fault.Hint == "" {
		p.fault.Hint = foreignHint(text)
	}
	return p.fault
}

// selectorToken is one token. White space and comments are no tokens: space
// tells that white space stands before.
type selectorToken struct {
	css.TokenType
	text  string
	at    int
	space bool
}

type selectorParser struct {
	text   string
	tokens []selectorToken
	next   int
	fault  *Fault
}

func (p *selectorParser) fail(at int, format string, args ...any) {
	if p.fault == nil {
		p.fault = &Fault{Offset: at, Message: "is no CSS selector: " + fmt.Sprintf(format, args...)}
	}
}

// hint adds the cure to the fault.
func (p *selectorParser) hint(text string) {
	if p.fault != nil && p.fault.Hint == "" {
		p.fault.Hint = text
	}
}

// split cuts the text into tokens. In selectors there are no Unicode ranges,
// which the lexer would see in "u+a".
func (p *selectorParser) split() {
	space := false
	add := func(tt css.TokenType, at, end int) {
		p.tokens = append(p.tokens, selectorToken{tt, p.text[at:end], at, space})
		space = false
	}
	at := 0
	l := css.NewLexer(input.NewInputString(p.text))
	for {
		tt, data := l.Next()
		end := at + len(data)
		switch tt {
		case css.ErrorToken:
			p.tokens = append(p.tokens, selectorToken{css.ErrorToken, "", len(p.text), space})
			return
		case css.WhitespaceToken:
			space = true
		case css.CommentToken:
		case css.UnicodeRangeToken:
			end = at + 1
			add(css.IdentToken, at, end)
			l = css.NewLexer(input.NewInputString(p.text[end:]))
		case css.BadStringToken:
			p.fail(at, "a string goes over the end of its line")
			return
		case css.StringToken:
			if len(data) < 2 || data[len(data)-1] != data[0] {
				p.fail(at, "the quote %s is not closed", data[:1])
				return
			}
			add(tt, at, end)
		default:
			add(tt, at, end)
		}
		at = end
	}
}

func (p *selectorParser) peek() selectorToken { return p.tokens[p.next] }

func (p *selectorParser) is(tt css.TokenType, text string) bool {
	t := p.peek()
	return t.TokenType == tt && (text == "" || t.text == text)
}

func (p *selectorParser) isName() bool {
	return p.is(css.IdentToken, "") || p.is(css.CustomPropertyNameToken, "")
}

// maxSelectorDepth bounds how deep selectors inside selectors are looked at.
const maxSelectorDepth = 16

// list is selectors with commas between, up to the end or a closing bracket.
// Relative ones may begin with a combinator.
func (p *selectorParser) list(depth int, relative bool) {
	for p.fault == nil {
		p.complex(depth, relative)
		if p.fault != nil || !p.is(css.CommaToken, "") {
			break
		}
		p.next++
	}
	if p.fault != nil {
		return
	}
	switch t := p.peek(); {
	case t.TokenType == css.ErrorToken:
	case t.TokenType == css.RightParenthesisToken && depth > 0:
	default:
		p.unexpected(t)
	}
}

// complex is compound selectors with combinators between.
func (p *selectorParser) complex(depth int, relative bool) {
	if p.combinator() && !relative {
		t := p.tokens[p.next-1]
		p.fail(t.at, "it begins with %s", t.text)
		p.hint("write what stands before it, as in \"main > a\"")
		return
	}
	for p.fault == nil {
		if !p.compound(depth) {
			return
		}
		if t := p.peek(); p.combinator() {
			if p.atEnd() {
				p.fail(t.at, "nothing stands behind %s", t.text)
			}
		} else if !t.space || p.atEnd() {
			return
		}
	}
}

// atEnd tells that no compound selector can follow.
func (p *selectorParser) atEnd() bool {
	switch p.peek().TokenType {
	case css.ErrorToken, css.CommaToken, css.RightParenthesisToken:
		return true
	}
	return false
}

func (p *selectorParser) combinator() bool {
	if p.is(css.DelimToken, ">") || p.is(css.DelimToken, "+") || p.is(css.DelimToken, "~") || p.is(css.ColumnToken, "") {
		p.next++
		return true
	}
	return false
}

// compound is what one element must be: a type, then ids, classes, attributes
// and pseudo-classes, with nothing between them.
func (p *selectorParser) compound(depth int) bool {
	first := p.next
	p.elementType()
	for p.fault == nil && (p.next == first || !p.peek().space) {
		t := p.peek()
		switch {
		case t.TokenType == css.HashToken:
			p.next++
			if !startsName(t.text[1:]) {
				p.fail(t.at, "%s: an id cannot begin like this", routine.Truncate(t.text, 40))
				p.hint(fmt.Sprintf("write [id=%q]", t.text[1:]))
			}
		case p.is(css.DelimToken, "."):
			p.next++
			if p.peek().space || !p.isName() {
				p.fail(t.at, "no class name follows the dot")
				return false
			}
			p.next++
		case p.is(css.DelimToken, "&"):
			p.next++
		case t.TokenType == css.LeftBracketToken:
			p.attribute()
		case t.TokenType == css.ColonToken:
			p.pseudo(depth)
		default:
			if p.next == first {
				p.empty(t)
			}
			return p.fault == nil
		}
	}
	return p.fault == nil
}

// elementType is a name or *, perhaps with a namespace.
func (p *selectorParser) elementType() {
	name := func() bool {
		if p.isName() || p.is(css.DelimToken, "*") {
			p.next++
			return true
		}
		return false
	}
	named := name()
	if p.is(css.DelimToken, "|") && (!named || !p.peek().space) {
		bar := p.peek()
		p.next++
		if p.peek().space || !name() {
			p.fail(bar.at, "no name follows |")
		}
	}
}

// empty reports that a selector is missing where t stands.
func (p *selectorParser) empty(t selectorToken) {
	switch {
	case len(p.tokens) == 1:
		p.fail(0, "it is empty")
	case t.TokenType == css.ErrorToken && p.next > 0:
		p.fail(p.tokens[p.next-1].at, "nothing stands behind %s", p.tokens[p.next-1].text)
	case t.TokenType == css.CommaToken:
		p.fail(t.at, "nothing stands before the comma")
	default:
		p.unexpected(t)
	}
}

func (p *selectorParser) unexpected(t selectorToken) {
	switch t.TokenType {
	case css.RightParenthesisToken, css.RightBracketToken:
		p.fail(t.at, "%s closes nothing", t.text)
	case css.StringToken:
		p.fail(t.at, "a string can stand in [ ] only")
	case css.FunctionToken:
		p.fail(t.at, "%s is no pseudo-class: it lacks the colon", t.text+"…)")
	case css.NumberToken, css.DimensionToken, css.PercentageToken:
		p.fail(t.at, "a name cannot begin with a digit: %s", routine.Truncate(t.text, 40))
		p.hint("a class with such a name is written [class~='…']")
	default:
		if t.text == "#" {
			p.fail(t.at, "no name follows #")
		}
		p.fail(t.at, "unexpected %s", routine.Truncate(t.text, 40))
		if t.text == "/" && p.next > 0 && !t.space {
			p.hint(`a slash in a name is written \/`)
		}
	}
}

// startsName tells whether text can begin a CSS name.
func startsName(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return text != "" && (text[0] < '0' || text[0] > '9')
}

// PseudoElement returns the byte offset at which a selector names a pseudo-element;
// -1: it names none.
func PseudoElement(selector string) int {
	p := &selectorParser{text: selector}
	p.split()
	for i, t := range p.tokens {
		if i > 0 && t.text == ":" && !t.space && p.tokens[i-1].text == ":" {
			return p.tokens[i-1].at
		}
	}
	return -1
}
