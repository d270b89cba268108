package placeholder

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// unknownMark is what WithUnknownValues first puts in for each token.
const unknownMark = "RoteUnknownValue"

// Expressions whose value a reader of the script does not know: of any type, and a text.
const (
	unknownValue = "(0==0)"
	unknownText  = "${0==0}"
)

// WithUnknownValues returns a script in which an expression stands for each token, so that
// what holds for the result, by its text alone, holds for every value of the parameters. It
// returns false if a token is part of a name or of something else that is no value, or if it
// is not certain what it is part of.
func WithUnknownValues(script string) (string, bool) {
	t, faults := Parse(script, Script)
	if len(faults) > 0 {
		return "", false
	}
	if t.Literal() {
		return script, true
	}
	filled, err := t.FillText(func(Token) (any, bool) { return unknownMark, true })
	all := tokenizations(filled)
	if err != nil || len(all) != 1 {
		return "", false
	}
	var b strings.Builder
	written := 0
	marks := 0
	for _, p := range all[0] {
		text := filled[p.start:p.end]
		n := strings.Count(text, unknownMark)
		if n == 0 {
			continue
		}
		marks += n
		b.WriteString(filled[written:p.start])
		written = p.end
		switch {
		case p.tt == js.StringToken && text == `"`+unknownMark+`"`:
			b.WriteString(unknownValue)
		case p.tt == js.StringToken:
			b.WriteString("(`" + unknownText + "`)")
		case isTemplate(p.tt):
			b.WriteString(strings.ReplaceAll(text, unknownMark, unknownText))
		case p.tt == js.RegExpToken && strings.Count(text[strings.LastIndexByte(text, '/'):], unknownMark) == 0:
			b.WriteString(text)
		default:
			return "", false
		}
	}
	// A value in a comment is left out. One that is written in escapes is in a place that is
	// not certain.
	if marks+t.commented() != len(t.holes) {
		return "", false
	}
	b.WriteString(filled[written:])
	return b.String(), true
}

// commented counts the holes that are in comments.
func (t *Template) commented() int {
	n := 0
	for _, h := range t.holes {
		if text, reason := h.escape(unknownMark); text == "" && reason == "" {
			n++
		}
	}
	return n
}
