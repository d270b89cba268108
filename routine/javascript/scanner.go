package javascript

import (
	"fmt"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2/js"
)

// scanner is the state of scan.
type scanner struct {
	t     *tokens
	open  []bracket
	names map[string]bool
	// words counts names without members; arrows counts functions of the form x =>
	// ....
	words, arrows int
	scopes        int // maximum number of open scopes
	// head is true if the last ) closed the head of an if, while, for or with; body
	// if the last } closed the body of an arrow function.
	head, body bool
	line       int // where the line ended after the last token, or -1
}

type bracket struct {
	at   int // in tokens.list
	tt   js.TokenType
	head bool
	body bool
	// loose counts scopes without brackets of their own that may still be open at
	// this level: bodies of arrow functions and of for loops.
	loose, loops int
}

var closes = map[js.TokenType]js.TokenType{
	js.CloseParenToken:   js.OpenParenToken,
	js.CloseBracketToken: js.OpenBracketToken,
	js.CloseBraceToken:   js.OpenBraceToken,
	js.TemplateEndToken:  js.TemplateStartToken,
}

// trackBrackets updates the open brackets.
func (s *scanner) trackBrackets(t token, script string) *Problem {
	if want, ok := closes[t.tt]; ok {
		n := len(s.open)
		if n == 0 || s.open[n-1].tt != want {
			return &Problem{Offset: t.start, Code: CodeSyntax, Message: fmt.Sprintf("unexpected %q", script[t.start:t.end])}
		}
		b := s.open[n-1]
		s.head, s.body = b.head, b.body
		s.scopes -= 1 + b.loose + b.loops
		s.open = s.open[:n-1]
	}
	level := &bracket{}
	if n := len(s.open); n > 0 {
		level = &s.open[n-1]
	}
	switch t.tt {
	case js.OpenParenToken, js.OpenBracketToken, js.OpenBraceToken, js.TemplateStartToken:
		s.open = append(s.open, bracket{
			at: len(s.t.list), tt: t.tt,
			head: t.tt == js.OpenParenToken && s.startsHead(),
			body: t.tt == js.OpenBraceToken && s.last(1) == js.ArrowToken,
		})
		s.scopes++
	case js.ArrowToken:
		level.loose++
		s.scopes++
	case js.ForToken:
		level.loops++
		s.scopes++
	case js.CommaToken:
		s.scopes -= level.loose
		level.loose = 0
	case js.SemicolonToken:
		s.scopes -= level.loose + level.loops
		level.loose, level.loops = 0, 0
	}
	if len(s.open) > maxDepth {
		return tooComplex(t.start, fmt.Sprintf("brackets are nested deeper than %d", maxDepth))
	}
	if s.words*s.scopes > maxWork || s.arrows*len(s.names) > 10*maxWork {
		return tooComplex(t.start, "too many names at too great a depth")
	}
	return nil
}

func tooComplex(at int, message string) *Problem {
	return &Problem{Offset: at, Code: CodeTooComplex, Message: message, Hint: "split the script into several js_evaluate operations"}
}

// countWork counts the names and scopes on which the parser's work depends.
func (s *scanner) countWork(t token, script string) {
	if t.tt == js.ArrowToken && js.IsIdentifierName(s.last(1)) {
		s.arrows++
	}
	if js.IsIdentifier(t.tt) && s.last(1) != js.DotToken && s.last(1) != js.OptChainToken {
		s.words++
		s.names[script[t.start:t.end]] = true
	}
}

// last returns the type of the nth token from the end.
func (s *scanner) last(n int) js.TokenType {
	if n > len(s.t.list) {
		return js.ErrorToken
	}
	return s.t.list[len(s.t.list)-n].tt
}

// startsHead reports whether a ( at this point opens the head of a statement.
func (s *scanner) startsHead() bool {
	n := 1
	if s.last(1) == js.AwaitToken {
		n = 2 // for await (
	}
	switch s.last(n) {
	case js.IfToken, js.WhileToken, js.ForToken, js.WithToken:
		return s.last(n+1) != js.DotToken && s.last(n+1) != js.OptChainToken
	}
	return false
}

// regexpMayStart reports whether a slash starts a regular expression. After }
// it does, because a division of an object literal is useless.
func (s *scanner) regexpMayStart() bool {
	switch tt := s.last(1); tt {
	case js.CloseParenToken:
		return s.head
	case js.CloseBracketToken, js.IncrToken, js.DecrToken,
		js.StringToken, js.TemplateToken, js.TemplateEndToken, js.RegExpToken, js.PrivateIdentifierToken,
		js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken:
		return false
	default:
		member := s.last(2) == js.DotToken || s.last(2) == js.OptChainToken
		if js.IsReservedWord(tt) {
			return !member
		}
		return !js.IsIdentifier(tt) && !js.IsNumeric(tt)
	}
}

// rewriteToken writes what the parser shall see instead of t. For example,
// "x = /ab/ // c" becomes `x = "\x01\x01"     `, and "a / b" becomes "a * b".
func (s *scanner) rewriteToken(t token) {
	text := s.t.text[t.start:t.end]
	switch t.tt {
	case js.CommentToken, js.CommentLineTerminatorToken:
		for i := range text {
			if text[i] != '\n' && text[i] != '\r' {
				text[i] = ' '
			}
		}
		if t.tt == js.CommentLineTerminatorToken {
			text[0] = '\n' // also where the line ended in U+2028
		}
	case js.RegExpToken:
		for i := range text {
			text[i] = pattern
		}
		text[0], text[len(text)-1] = '"', '"'
	case js.DivToken, js.DivEqToken:
		text[0] = '*'
	}
}

// insertSemicolon inserts the semicolon that the parser misses at a line break
// after the body of an arrow function, which cannot be called or indexed there.
func (s *scanner) insertSemicolon(t token) {
	if s.last(1) != js.CloseBraceToken || !s.body || s.line < 0 {
		return
	}
	switch t.tt {
	case js.OpenBracketToken, js.OpenParenToken, js.TemplateToken, js.TemplateStartToken, js.AddToken, js.SubToken:
		_, n := utf8.DecodeRune(s.t.text[s.line:])
		copy(s.t.text[s.line:], ";  "[:n])
	}
}

// pattern fills the string literal that replaces a regular expression.
const pattern = '\x01'
