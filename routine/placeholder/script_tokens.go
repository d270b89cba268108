package placeholder

import (
	"errors"
	"io"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// jsPiece is one token of a script, white space left out.
type jsPiece struct {
	tt         js.TokenType
	start, end int
}

func (p jsPiece) comment() bool {
	return p.tt == js.CommentToken || p.tt == js.CommentLineTerminatorToken
}

var (
	// errWrong: what never ends, or brackets that do not match. No engine reads
	// the script this way.
	errWrong = errors.New("this is no reading of the script")
	// errUnknown: something that the lexer does not know and an engine might,
	// such as an octal number.
	errUnknown = errors.New("the script cannot be cut into tokens")
)

// A script is read in at most this many ways, and for at most so many bytes
// beyond the first.
const (
	maxReadings = 32
	maxReread   = 16 << 20
)

// readings cuts a script into tokens in every way that a scanner without
// a parser must think of. Where a slash may start a regular expression or
// divide, as behind the brace that ends a block or an object, both are tried;
// what no engine would read so is dropped. There are none when there would be
// too many, or when one is not known to be right or wrong.
func readings(script string) [][]jsPiece {
	var all [][]jsPiece
	todo := [][]bool{nil}
	for n := 0; len(todo) > 0; n++ {
		if n == maxReadings || n*len(script) > maxReread {
			return nil
		}
		choices := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		r := reading{script: script, choices: choices}
		switch err := r.read(); {
		case err == nil:
			all = append(all, r.pieces)
		case errors.Is(err, errUnknown):
			return nil
		}
		for k := len(choices); k < r.asked && len(todo) <= maxReadings; k++ {
			other := make([]bool, k+1)
			copy(other, choices)
			other[k] = true
			todo = append(todo, other)
		}
	}
	return all
}

// reading is one way to cut a script.
type reading struct {
	script  string
	choices []bool // of each doubtful slash: it divides; those beyond start regular expressions
	asked   int    // doubtful slashes so far
	pieces  []jsPiece
	last    [2]js.TokenType // significant tokens, newest first
	open    []bracket
	head    bool // the last ) closed the head of an if, while, for or with
}

type bracket struct {
	tt   js.TokenType
	head bool
}

var opens = map[js.TokenType]js.TokenType{
	js.CloseParenToken:     js.OpenParenToken,
	js.CloseBracketToken:   js.OpenBracketToken,
	js.CloseBraceToken:     js.OpenBraceToken,
	js.TemplateMiddleToken: js.TemplateStartToken,
	js.TemplateEndToken:    js.TemplateStartToken,
}

func (r *reading) read() error {
	l := js.NewLexer(parse.NewInputString(r.script))
	for at := 0; ; {
		tt, data := l.Next()
		if (tt == js.DivToken || tt == js.DivEqToken) && r.regexpStarts() {
			tt, data = l.RegExp()
		}
		if tt == js.ErrorToken || l.Err() != nil && !errors.Is(l.Err(), io.EOF) {
			if tt == js.ErrorToken && errors.Is(l.Err(), io.EOF) && at == len(r.script) && len(r.open) == 0 {
				return nil
			}
			if at == len(r.script) || strings.IndexByte("\"'`}/", r.script[at]) >= 0 {
				return errWrong
			}
			return errUnknown
		}
		p := jsPiece{tt, at, at + len(data)}
		at = p.end
		if tt == js.WhitespaceToken || tt == js.LineTerminatorToken {
			continue
		}
		r.pieces = append(r.pieces, p)
		if p.comment() {
			continue
		}
		if !r.nest(tt) {
			return errWrong
		}
		r.last[0], r.last[1] = tt, r.last[0]
	}
}

// nest follows the brackets; false when they do not match.
func (r *reading) nest(tt js.TokenType) bool {
	if want, closing := opens[tt]; closing {
		n := len(r.open) - 1
		if n < 0 || r.open[n].tt != want {
			return false
		}
		r.head = r.open[n].head
		r.open = r.open[:n]
	}
	switch tt {
	case js.OpenParenToken:
		r.open = append(r.open, bracket{tt, r.headStarts()})
	case js.OpenBracketToken, js.OpenBraceToken, js.TemplateStartToken:
		r.open = append(r.open, bracket{tt: tt})
	case js.TemplateMiddleToken:
		r.open = append(r.open, bracket{tt: js.TemplateStartToken})
	}
	return true
}

// headStarts tells whether a ( that follows now opens the head of a statement.
func (r *reading) headStarts() bool {
	switch r.last[0] {
	case js.IfToken, js.WhileToken, js.ForToken, js.WithToken:
		return !isAccess(r.last[1])
	case js.AwaitToken:
		return r.last[1] == js.ForToken
	}
	return false
}

func isAccess(tt js.TokenType) bool { return tt == js.DotToken || tt == js.OptChainToken }

// regexpStarts tells whether a slash that comes now starts a regular
// expression.
func (r *reading) regexpStarts() bool {
	switch tt := r.last[0]; tt {
	case js.CloseParenToken:
		return r.head
	case js.CloseBracketToken, js.IncrToken, js.DecrToken, js.StringToken, js.TemplateToken, js.TemplateEndToken, js.RegExpToken, js.PrivateIdentifierToken,
		js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken:
		return false
	case js.CloseBraceToken:
		return r.doubtful()
	case js.AwaitToken, js.YieldToken, js.OfToken:
		return !isAccess(r.last[1]) && r.doubtful()
	default:
		if js.IsReservedWord(tt) {
			return !isAccess(r.last[1])
		}
		return !js.IsIdentifier(tt) && !js.IsNumeric(tt)
	}
}

// doubtful asks for the next choice.
func (r *reading) doubtful() bool {
	r.asked++
	return r.asked > len(r.choices) || !r.choices[r.asked-1]
}
