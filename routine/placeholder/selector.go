package placeholder

import (
	"regexp"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// A selector is cut into tokens with a stand-in in each hole. A value goes in as
// text of the token its hole is in: of a string, or of an identifier. So
// [name="{{f}}"], whose quotes are eaten, matches the same as an identifier.
// Inside :nth-child( and its like, digits are a number.

// cssPiece is one token of a selector.
type cssPiece struct {
	tt         css.TokenType
	start, end int
}

func (t *Template) placeSelector() {
	if t.Literal() {
		return
	}
	text, holes := t.named(func(string) string { return standIn })
	var pieces []cssPiece
	l := css.NewLexer(parse.NewInputString(text))
	for at := 0; ; {
		tt, data := l.Next()
		if tt == css.ErrorToken {
			break
		}
		pieces = append(pieces, cssPiece{tt, at, at + len(data)})
		at += len(data)
	}
	nth := nthPlaces(text, pieces)
	next := 0
	for i, p := range pieces {
		first := next
		for next < len(holes) && holes[next] < p.end {
			next++
		}
		if first < next {
			t.placeInPiece(text, pieces, i, nth[i], holes[first:next], t.holes[first:next])
		}
	}
	for ; next < len(holes); next++ { // behind what cannot be cut
		t.holes[next].put = putCSSAnywhere
	}
	for i := range t.holes {
		if endsInNumber(t.texts[i]) {
			inner := t.holes[i].put
			t.holes[i].put = func(v any) (string, string) {
				text, reason := inner(v)
				return " " + text, reason
			}
		}
	}
}

// endsInNumber tells an escape like \3 at the end, which takes further digits
// and one space.
func endsInNumber(text string) bool {
	digits := len(text)
	for len(text)-digits < 6 && digits > 0 && isHex(text[digits-1]) {
		digits--
	}
	return digits < len(text) && dangling(text[:digits])
}

// placeInPiece decides how values go into the holes at the given places, all of
// them in pieces[i].
func (t *Template) placeInPiece(text string, pieces []cssPiece, i int, nth bool, at []int, holes []hole) {
	p := pieces[i]
	for n := range holes {
		switch p.tt {
		case css.CommentToken:
			holes[n].put = func(any) (string, string) { return "", "" }
		case css.StringToken:
			holes[n].put = func(v any) (string, string) { return cssString(Format(v)), "" }
		default:
			holes[n].put = putCSSAnywhere
		}
	}
	switch p.tt {
	case css.IdentToken, css.HashToken, css.FunctionToken, css.AtKeywordToken, css.DimensionToken, css.CustomPropertyNameToken:
	default:
		return
	}
	word := strings.TrimRight(text[p.start:p.end], "(")
	plain := strings.ReplaceAll(strings.TrimLeft(word, "#@"), standIn, "")
	w := cssWord{
		empty: noName.MatchString(plain),
		start: true,
		glued: p.tt == css.DimensionToken,
		url:   p.tt == css.FunctionToken && urlLetters.MatchString(plain),
	}
	if p.tt == css.IdentToken && len(plain) < 2 && strings.HasPrefix(text[p.end:], "+") {
		w.unicodeRange = &plain
	}
	if p.tt == css.IdentToken && word == standIn && i > 0 {
		w.attribute = isMatcher(pieces[i-1].tt, text[pieces[i-1].start:pieces[i-1].end])
	}
	before := p.start
	for n := range holes {
		w.start = w.start && strings.Trim(text[before:at[n]], "#@-") == ""
		before = at[n] + len(standIn)
		w.inRange = rangeStart.MatchString(text[max(0, at[n]-longestRange):at[n]])
		w.number = nth && p.tt == css.IdentToken && isAnPlusB(text[before:p.end])
		w.signed = w.number && n == 0 && p.start == at[n] && pieces[i-1].tt == css.FunctionToken
		holes[n].put = w.put
	}
}

// anPlusB is what may follow a number inside the same identifier: n, n- or n-1.
var anPlusB = regexp.MustCompile(`^(?i:n(?:-[0-9]*)?)?$`)

func isAnPlusB(after string) bool {
	const enough = 40
	return len(after) < enough && anPlusB.MatchString(strings.ReplaceAll(after, standIn, "0"))
}

func isMatcher(tt css.TokenType, text string) bool {
	switch tt {
	case css.IncludeMatchToken, css.DashMatchToken, css.PrefixMatchToken, css.SuffixMatchToken, css.SubstringMatchToken:
		return true
	}
	return tt == css.DelimToken && text == "="
}

// nthPlaces tells of each piece whether it is where :nth-child( and its like
// take a number: at their start or behind a sign.
func nthPlaces(text string, pieces []cssPiece) []bool {
	nth := make([]bool, len(pieces))
	var open []bool // of each open parenthesis: it is one of these functions, and "of" has not come
	last := ""
	for i, p := range pieces {
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
