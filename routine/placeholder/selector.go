package placeholder

import (
	"regexp"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// cssToken is one token of a selector.
//
// A selector is split into tokens with a dummy in each hole. A value is
// inserted as part of the token that contains its hole: a string or an
// identifier. So [name="{{f}}"], whose quotes are absorbed, matches the same
// elements as an identifier. In :nth-child( and similar functions, digits are a
// number.
type cssToken struct {
	tt         css.TokenType
	start, end int
}

func (t *Template) prepareSelector() {
	if t.Literal() {
		return
	}
	text, holes := t.textWithDummies(func(string) string { return dummyName })
	var tokens []cssToken
	l := css.NewLexer(parse.NewInputString(text))
	for at := 0; ; {
		tt, data := l.Next()
		if tt == css.ErrorToken {
			break
		}
		tokens = append(tokens, cssToken{tt, at, at + len(data)})
		at += len(data)
	}
	nth := nthArguments(text, tokens)
	next := 0
	for i, p := range tokens {
		first := next
		for next < len(holes) && holes[next] < p.end {
			next++
		}
		if first < next {
			t.setSelectorEscapers(text, tokens, i, nth[i], holes[first:next], t.holes[first:next])
		}
	}
	for ; next < len(holes); next++ { // after text that cannot be split into tokens
		t.holes[next].escape = escapeCSSAnywhere
	}
	for i := range t.holes {
		if endsInHexEscape(t.texts[i]) {
			inner := t.holes[i].escape
			t.holes[i].escape = func(v any) (string, string) {
				text, reason := inner(v)
				return " " + text, reason
			}
		}
	}
}

// endsInHexEscape reports whether text ends in an escape such as \3, which
// would include further digits and one space.
func endsInHexEscape(text string) bool {
	digits := len(text)
	for len(text)-digits < 6 && digits > 0 && isHex(text[digits-1]) {
		digits--
	}
	return digits < len(text) && endsInEscape(text[:digits])
}

// setSelectorEscapers sets the escapers of the holes at the given offsets, all
// of which are in tokens[i].
func (t *Template) setSelectorEscapers(text string, tokens []cssToken, i int, nth bool, at []int, holes []hole) {
	p := tokens[i]
	for n := range holes {
		switch p.tt {
		case css.CommentToken:
			holes[n].escape = func(any) (string, string) { return "", "" }
		case css.StringToken:
			holes[n].escape = func(v any) (string, string) { return cssString(Format(v)), "" }
		default:
			holes[n].escape = escapeCSSAnywhere
		}
	}
	switch p.tt {
	case css.IdentToken, css.HashToken, css.FunctionToken, css.AtKeywordToken, css.DimensionToken, css.CustomPropertyNameToken:
	default:
		return
	}
	word := strings.TrimRight(text[p.start:p.end], "(")
	plain := strings.ReplaceAll(strings.TrimLeft(word, "#@"), dummyName, "")
	w := cssWord{
		emptyName: noName.MatchString(plain),
		atStart:   true,
		isUnit:    p.tt == css.DimensionToken,
		url:       p.tt == css.FunctionToken && urlLetters.MatchString(plain),
	}
	if p.tt == css.IdentToken && len(plain) < 2 && strings.HasPrefix(text[p.end:], "+") {
		w.unicodeRange = &plain
	}
	if p.tt == css.IdentToken && word == dummyName && i > 0 {
		w.attribute = isAttributeOperator(tokens[i-1].tt, text[tokens[i-1].start:tokens[i-1].end])
	}
	before := p.start
	for n := range holes {
		w.atStart = w.atStart && strings.Trim(text[before:at[n]], "#@-") == ""
		before = at[n] + len(dummyName)
		w.inRange = rangeStart.MatchString(text[max(0, at[n]-maxRangeLookback):at[n]])
		w.isNthNumber = nth && p.tt == css.IdentToken && isAnPlusB(text[before:p.end])
		w.mayBeSigned = w.isNthNumber && n == 0 && p.start == at[n] && tokens[i-1].tt == css.FunctionToken
		holes[n].escape = w.escape
	}
}

// anPlusB matches what may follow a number in the same identifier: n, n- or
// n-1.
var anPlusB = regexp.MustCompile(`^(?i:n(?:-[0-9]*)?)?$`)

func isAnPlusB(after string) bool {
	const enough = 40
	return len(after) < enough && anPlusB.MatchString(strings.ReplaceAll(after, dummyName, "0"))
}

func isAttributeOperator(tt css.TokenType, text string) bool {
	switch tt {
	case css.IncludeMatchToken, css.DashMatchToken, css.PrefixMatchToken, css.SuffixMatchToken, css.SubstringMatchToken:
		return true
	}
	return tt == css.DelimToken && text == "="
}

// nthArguments reports for each token whether :nth-child( or a similar function
// takes a number there: after the parenthesis or a sign.
func nthArguments(text string, tokens []cssToken) []bool {
	nth := make([]bool, len(tokens))
	var open []bool // for each open parenthesis: whether it is an nth function before its "of"
	last := ""
	for i, p := range tokens {
		piece := text[p.start:p.end]
		inNth := len(open) > 0 && open[len(open)-1]
		nth[i] = inNth && (last == "(" || last == "+" || last == "-")
		switch p.tt {
		case css.WhitespaceToken, css.CommentToken:
			continue
		case css.FunctionToken:
			open = append(open, strings.HasPrefix(strings.ToLower(piece), "nth-"))
			piece = "("
		case css.LeftParenthesisToken:
			open = append(open, false)
		case css.RightParenthesisToken:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case css.IdentToken:
			if inNth && strings.EqualFold(piece, "of") {
				open[len(open)-1] = false
			}
		}
		last = piece
	}
	return nth
}
