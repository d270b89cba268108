package placeholder

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// jsToken is one token of a script. White space is omitted.
type jsToken struct {
	tt         js.TokenType
	start, end int
}

func (p jsToken) isComment() bool {
	return p.tt == js.CommentToken || p.tt == js.CommentLineTerminatorToken
}

var (
	// errInvalid means that an unterminated token or unbalanced brackets make this
	// tokenization impossible.
	errInvalid = errors.New("this is no reading of the script")
	// errUnsupported means that the lexer does not know something that a browser
	// might, such as an octal number.
	errUnsupported = errors.New("the script cannot be cut into tokens")
)

// Limits on the number of tokenizations, and on the bytes that are scanned
// again.
const (
	maxTokenizations = 32
	maxRepeatedBytes = 16 << 20
)

// tokenizations splits a script into tokens in every way that is possible
// without a parser. Where a slash may be a division or start a regular
// expression, for example after a closing brace, both are tried, and impossible
// tokenizations are dropped. It returns nil if there are too many, or if one
// cannot be decided.
func tokenizations(script string) [][]jsToken {
	var all [][]jsToken
	todo := [][]bool{nil}
	for n := 0; len(todo) > 0; n++ {
		if n == maxTokenizations || n*len(script) > maxRepeatedBytes {
			return nil
		}
		choices := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		r := tokenization{script: script, choices: choices}
		switch err := r.run(); {
		case err == nil:
			all = append(all, r.tokens)
		case errors.Is(err, errUnsupported):
			return nil
		}
		for k := len(choices); k < r.choicesSeen && len(todo) <= maxTokenizations; k++ {
			other := make([]bool, k+1)
			copy(other, choices)
			other[k] = true
			todo = append(todo, other)
		}
	}
	return all
}

// tokenization is one way to split a script into tokens.
type tokenization struct {
	script      string
	choices     []bool // for each ambiguous slash: whether it divides; further ones start regular expressions
	choicesSeen int    // ambiguous slashes so far
	tokens      []jsToken
	last        [2]js.TokenType // the last two tokens without comments, newest first
	open        []bracket
	afterHead   bool // the last ) closed the head of an if, while, for or with
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

func (r *tokenization) run() error {
	l := js.NewLexer(parse.NewInputString(r.script))
	for at := 0; ; {
		tt, data := l.Next()
		if (tt == js.DivToken || tt == js.DivEqToken) && r.startsRegexp() {
			tt, data = l.RegExp()
		}
		if tt == js.ErrorToken || l.Err() != nil && !errors.Is(l.Err(), io.EOF) {
			if tt == js.ErrorToken && errors.Is(l.Err(), io.EOF) && at == len(r.script) && len(r.open) == 0 {
				return nil
			}
			if at == len(r.script) || strings.IndexByte("\"'`}/", r.script[at]) >= 0 {
				return errInvalid
			}
			return errUnsupported
		}
		p := jsToken{tt, at, at + len(data)}
		at = p.end
		if tt == js.WhitespaceToken || tt == js.LineTerminatorToken {
			continue
		}
		r.tokens = append(r.tokens, p)
		if p.isComment() {
			continue
		}
		if !r.trackBrackets(tt) {
			return errInvalid
		}
		r.last[0], r.last[1] = tt, r.last[0]
	}
}

// trackBrackets updates the open brackets. It returns false if they do not
// match.
func (r *tokenization) trackBrackets(tt js.TokenType) bool {
	if want, closing := opens[tt]; closing {
		n := len(r.open) - 1
		if n < 0 || r.open[n].tt != want {
			return false
		}
		r.afterHead = r.open[n].head
		r.open = r.open[:n]
	}
	switch tt {
	case js.OpenParenToken:
		r.open = append(r.open, bracket{tt, r.startsHead()})
	case js.OpenBracketToken, js.OpenBraceToken, js.TemplateStartToken:
		r.open = append(r.open, bracket{tt: tt})
	case js.TemplateMiddleToken:
		r.open = append(r.open, bracket{tt: js.TemplateStartToken})
	}
	return true
}

// startsHead reports whether a ( at this point opens the head of a statement.
func (r *tokenization) startsHead() bool {
	switch r.last[0] {
	case js.IfToken, js.WhileToken, js.ForToken, js.WithToken:
		return !isAccess(r.last[1])
	case js.AwaitToken:
		return r.last[1] == js.ForToken
	}
	return false
}

func isAccess(tt js.TokenType) bool { return tt == js.DotToken || tt == js.OptChainToken }

// startsRegexp reports whether a slash at this point starts a regular
// expression.
func (r *tokenization) startsRegexp() bool {
	switch tt := r.last[0]; tt {
	case js.CloseParenToken:
		return r.afterHead
	case js.CloseBracketToken, js.IncrToken, js.DecrToken, js.StringToken, js.TemplateToken, js.TemplateEndToken, js.RegExpToken, js.PrivateIdentifierToken,
		js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken:
		return false
	case js.CloseBraceToken:
		return r.nextChoice()
	case js.AwaitToken, js.YieldToken, js.OfToken:
		return !isAccess(r.last[1]) && r.nextChoice()
	default:
		if js.IsReservedWord(tt) {
			return !isAccess(r.last[1])
		}
		return !js.IsIdentifier(tt) && !js.IsNumeric(tt)
	}
}

// nextChoice reports whether the next ambiguous slash starts a regular
// expression.
func (r *tokenization) nextChoice() bool {
	r.choicesSeen++
	return r.choicesSeen > len(r.choices) || !r.choices[r.choicesSeen-1]
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// ScriptStrings returns where the string literals of a script are, with their quotes, in
// order. It returns none if that is not certain.
func ScriptStrings(script string) []Span {
	var found []Span
	for i, tokens := range tokenizations(script) {
		var strings []Span
		for _, t := range tokens {
			if t.tt == js.StringToken {
				strings = append(strings, Span{t.start, t.end})
			}
		}
		if i > 0 && !slices.Equal(found, strings) {
			return nil
		}
		found = strings
	}
	return found
}
