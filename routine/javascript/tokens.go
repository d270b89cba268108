package javascript

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// The parser recurses without a limit on nested patterns, and carries every
// undeclared name through every scope: 250 KB of names inside 900 blocks keep
// it busy for seconds, names inside nested async( for a minute. So nesting is
// bounded before it starts.
const (
	maxDepth = 100 // brackets in brackets
	// maxWork bounds names times scopes, and tenfold names times arrows of one
	// bare parameter, which are what the parser's work grows with: below half a
	// second then.
	maxWork = 1_000_000
)

type token struct {
	tt         js.TokenType
	start, end int
}

// tokens is a script cut into tokens without white space and comments, and the
// text that goes to the parser.
type tokens struct {
	list []token
	// text is as long as the script. Comments are blanked out, regular
	// expressions have become string literals and divisions multiplications:
	// the rules ask for neither, and so the parser cannot read a / otherwise
	// than this scan has, which counted the nesting.
	text []byte
	// disposes: declarations with using call methods of what they hold.
	disposes bool
	next     int // the first token that the walk has not used yet
	lost     int // searches that found nothing
}

// scan cuts the script and refuses what the parser should not be given.
func scan(script string) (*tokens, *Problem) {
	s := scanner{t: &tokens{text: []byte(script)}, names: map[string]bool{}, line: -1}
	l := js.NewLexer(parse.NewInputString(script))
	at := 0
	for {
		tt, data := l.Next()
		if (tt == js.DivToken || tt == js.DivEqToken) && s.regexpMayStart() {
			tt, data = l.RegExp()
		}
		if tt == js.ErrorToken {
			if errors.Is(l.Err(), io.EOF) {
				break
			}
			return nil, lexProblem(at, l.Err())
		}
		t := token{tt, at, at + len(data)}
		at = t.end
		s.blank(t)
		switch tt {
		case js.LineTerminatorToken, js.CommentLineTerminatorToken:
			s.line = max(s.line, t.start)
			continue
		case js.WhitespaceToken, js.CommentToken:
			continue
		}
		s.insert(t)
		s.line = -1
		if p := s.nest(t, script); p != nil {
			return nil, p
		}
		s.count(t, script)
		s.t.list = append(s.t.list, t)
	}
	if n := len(s.open); n > 0 {
		at := s.t.list[s.open[n-1].at].start
		return nil, &Problem{Offset: at, Code: CodeSyntax, Message: fmt.Sprintf("%q is never closed", script[at:s.t.list[s.open[n-1].at].end])}
	}
	s.t.declareUsing(script)
	return s.t, nil
}

// lexProblem is placed at the start of the token: where a string is opened that
// is never closed is what has to be found.
func lexProblem(at int, err error) *Problem {
	p := &Problem{Offset: at, Code: CodeSyntax, Message: "unexpected character"}
	if e, ok := errors.AsType[*parse.Error](err); ok {
		p.Message = e.Message
	}
	return p
}

// syntaxProblem turns the parser's error into a problem.
func (t *tokens) syntaxProblem(script string, err error) Problem {
	p := Problem{Code: CodeSyntax, Message: err.Error()}
	e, ok := errors.AsType[*parse.Error](err)
	if !ok {
		return p
	}
	p.Message = e.Message
	if strings.HasPrefix(e.Message, "too many nested") {
		p.Code = CodeTooComplex
	}
	p.Offset = offsetOf(script, e.Line, e.Column)
	for i, tok := range t.list {
		if tok.start != p.Offset {
			continue
		}
		was, is := script[tok.start:tok.end], string(t.text[tok.start:tok.end])
		if was != is {
			p.Message = strings.Replace(p.Message, is, was, 1)
		}
		if i > 0 && script[t.list[i-1].start:t.list[i-1].end] == "await" {
			p.Message = "await is only for async functions"
			p.Offset = t.list[i-1].start
			p.Hint = "make the function async: (async () => { ... })()"
		}
		break
	}
	if p.Hint == "" && t.list[0].tt != js.OpenParenToken {
		p.Hint = hintForm
	}
	return p
}

// take finds the next token with this text, moves behind it and gives its
// place. Leaves of the tree are taken in the order of the text, so what is
// skipped is punctuation and keywords.
func (t *tokens) take(text []byte) int {
	const enough = 16
	for i := t.next; i < len(t.list) && t.lost < enough; i++ {
		tok := t.list[i]
		is := t.text[tok.start:tok.end]
		if string(is) == string(text) || tok.tt == js.StringToken && string(is[1:len(is)-1]) == string(text) {
			t.next = i + 1
			return tok.start
		}
	}
	t.lost++
	return t.here()
}

// here is the place of the next unused token.
func (t *tokens) here() int {
	if t.next < len(t.list) {
		return t.list[t.next].start
	}
	return len(t.text)
}

// colonNext tells {a: a} from {a}, which are the same to the parser.
func (t *tokens) colonNext() bool {
	return t.next < len(t.list) && t.list[t.next].tt == js.ColonToken
}
