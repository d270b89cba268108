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
	// maxWork limits names times scopes, and ten times names times arrow functions
	// with one bare parameter, on which the parser's work depends. At the limit it
	// takes less than half a second.
	maxWork = 1_000_000
)

type token struct {
	tt         js.TokenType
	start, end int
}

// tokens are the tokens of a script without white space and comments, and the
// text for the parser.
type tokens struct {
	list []token
	// text has the length of the script. Comments are blanked out, regular
	// expressions are replaced by string literals and divisions by multiplications.
	// The rules do not depend on these, and the parser cannot interpret a slash
	// differently than scan, which has limited the nesting.
	text []byte
	// disposes is true if there are declarations with using, which call methods of
	// their values.
	disposes bool
	next     int // the first token that the walk has not used yet
	lost     int // searches without a result
}

// scan splits the script into tokens and rejects text that the parser must not
// be given.
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
		s.rewriteToken(t)
		switch tt {
		case js.LineTerminatorToken, js.CommentLineTerminatorToken:
			s.line = max(s.line, t.start)
			continue
		case js.WhitespaceToken, js.CommentToken:
			continue
		}
		s.insertSemicolon(t)
		s.line = -1
		if p := s.trackBrackets(t, script); p != nil {
			return nil, p
		}
		s.countWork(t, script)
		s.t.list = append(s.t.list, t)
	}
	if n := len(s.open); n > 0 {
		at := s.t.list[s.open[n-1].at].start
		return nil, &Problem{Offset: at, Code: CodeSyntax, Message: fmt.Sprintf("%q is never closed", script[at:s.t.list[s.open[n-1].at].end])}
	}
	s.t.declareUsing(script)
	return s.t, nil
}

// lexProblem is reported at the start of the token, because for an unterminated
// string its start has to be found.
func lexProblem(at int, err error) *Problem {
	p := &Problem{Offset: at, Code: CodeSyntax, Message: "unexpected character"}
	if e, ok := errors.AsType[*parse.Error](err); ok {
		p.Message = e.Message
	}
	return p
}

// syntaxProblem converts the parser's error to a problem.
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

// takeToken finds the next token with this text, advances past it and returns
// its offset. The leaves of the tree are visited in the order of the text, so
// the skipped tokens are punctuation and keywords.
func (t *tokens) takeToken(text []byte) int {
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
	return t.nextOffset()
}

// nextOffset returns the offset of the next unused token.
func (t *tokens) nextOffset() int {
	if t.next < len(t.list) {
		return t.list[t.next].start
	}
	return len(t.text)
}

// colonNext distinguishes {a: a} from {a}, which are the same for the parser.
func (t *tokens) colonNext() bool {
	return t.next < len(t.list) && t.list[t.next].tt == js.ColonToken
}
