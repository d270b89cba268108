// Package selector checks the syntax of CSS selectors. It finds the first error, says
// where it is, and suggests how to write what the author probably meant.
package selector

import (
	"fmt"
	"strings"

	"rote/routine"

	input "github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// Fault is the first syntax error of a selector. Message begins with "is no CSS
// selector:"; Hint may be empty.
type Fault struct {
	// Offset is the byte offset of the error in the selector.
	Offset        int
	Message, Hint string
}

// Check returns the first certain syntax error of a selector, or nil. It follows the
// settled part of the grammar of Selectors Level 4. It accepts unknown pseudo-classes
// with any arguments, because browsers add new ones, but refuses those that are known
// to belong to other tools, such as :contains() of jQuery.
func Check(text string) *Fault {
	p := &parser{text: text}
	p.split()
	if p.fault == nil {
		p.list(0, false)
	}
	if p.fault != nil && p.fault.Hint == "" {
		p.fault.Hint = foreignHint(text)
	}
	return p.fault
}

// token is one token of a selector. White space and comments are not tokens; space
// reports whether white space precedes the token.
type token struct {
	css.TokenType
	text  string
	at    int
	space bool
}

// parser checks a selector by recursive descent. It stops at the first fault.
type parser struct {
	text   string
	tokens []token
	next   int
	fault  *Fault
}

// fail records a fault at a byte offset, unless there is one already.
func (p *parser) fail(at int, format string, args ...any) {
	if p.fault == nil {
		p.fault = &Fault{Offset: at, Message: "is no CSS selector: " + fmt.Sprintf(format, args...)}
	}
}

// hint adds a suggestion to the fault, unless it has one already.
func (p *parser) hint(text string) {
	if p.fault != nil && p.fault.Hint == "" {
		p.fault.Hint = text
	}
}

// split divides the text into tokens. The lexer reads "u+a" as a Unicode range, which
// selectors do not have: split reads it as the name "u" and lexes the rest again.
func (p *parser) split() {
	space := false
	add := func(tt css.TokenType, at, end int) {
		p.tokens = append(p.tokens, token{tt, p.text[at:end], at, space})
		space = false
	}
	at := 0
	l := css.NewLexer(input.NewInputString(p.text))
	for {
		tt, data := l.Next()
		end := at + len(data)
		switch tt {
		case css.ErrorToken:
			p.tokens = append(p.tokens, token{css.ErrorToken, "", len(p.text), space})
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

// peek returns the next token without consuming it.
func (p *parser) peek() token { return p.tokens[p.next] }

// is reports whether the next token has a type and, unless text is empty, a text.
func (p *parser) is(tt css.TokenType, text string) bool {
	t := p.peek()
	return t.TokenType == tt && (text == "" || t.text == text)
}

// isName reports whether the next token is a name.
func (p *parser) isName() bool {
	return p.is(css.IdentToken, "") || p.is(css.CustomPropertyNameToken, "")
}

// maxDepth bounds how deep selectors nested in :not() and :has() are checked.
const maxDepth = 16

// list reads selectors separated by commas, up to the end of the text or, when nested,
// a closing bracket. If relative, each may begin with a combinator.
func (p *parser) list(depth int, relative bool) {
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

// complex reads compound selectors separated by combinators, as in "main > a b".
func (p *parser) complex(depth int, relative bool) {
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

// atEnd reports whether the next token ends a selector: no compound selector can
// follow.
func (p *parser) atEnd() bool {
	switch p.peek().TokenType {
	case css.ErrorToken, css.CommaToken, css.RightParenthesisToken:
		return true
	}
	return false
}

// combinator consumes a combinator other than white space. It reports whether there
// was one.
func (p *parser) combinator() bool {
	if p.is(css.DelimToken, ">") || p.is(css.DelimToken, "+") || p.is(css.DelimToken, "~") || p.is(css.ColumnToken, "") {
		p.next++
		return true
	}
	return false
}

// compound reads the conditions on one element: its type, then ids, classes,
// attributes and pseudo-classes without white space between them. It reports whether
// that succeeded.
func (p *parser) compound(depth int) bool {
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

// elementType reads an element's or attribute's name or *, with an optional namespace
// as in "svg|a". It may read nothing.
func (p *parser) elementType() {
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

// empty records the fault that a compound selector is missing before t.
func (p *parser) empty(t token) {
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

// unexpected records the fault that t cannot be where it is.
func (p *parser) unexpected(t token) {
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

// startsName reports whether text can begin a CSS name.
func startsName(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return text != "" && (text[0] < '0' || text[0] > '9')
}

// PseudoElement returns the byte offset of the first pseudo-element in a selector,
// such as that of "::before", or -1 if it has none.
func PseudoElement(selector string) int {
	p := &parser{text: selector}
	p.split()
	for i, t := range p.tokens {
		if i > 0 && t.text == ":" && !t.space && p.tokens[i-1].text == ":" {
			return p.tokens[i-1].at
		}
	}
	return -1
}
