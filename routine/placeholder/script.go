package placeholder

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// A script is cut into tokens with a stand-in in each hole. What holds it
// decides how a value goes in:
//
//   - a name of its own in code: a literal. As a property's key it is a string
//     literal; behind a dot, or glued to other letters or digits, a value can
//     only be letters and digits, and is refused otherwise;
//   - the whole of a double-quoted literal: a literal for a number or boolean,
//     a string literal for all else, an absent value being the empty string;
//   - a part of a string or template: its text;
//   - a part of a regular expression: quoted;
//   - a comment: nothing.
//
// Where the token cannot be told, every character of a string is written by its
// number, which is inside nothing and ends nothing.

// jsSpot is the token that a hole is in.
type jsSpot struct {
	jsPiece
	before, after js.TokenType // the significant tokens beside it; 0 for none
	// doubled: empty double-quoted strings touch it on both sides.
	doubled bool
}

func (t *Template) placeScript() {
	if t.Literal() {
		return
	}
	s := &jsTemplate{Template: t}
	s.script, s.holes = t.named(scriptStandIn)
	spots := findSpots(s.script, s.holes)
	for i := 0; i < len(spots); {
		first := i
		spot := spots[first]
		for i++; i < len(spots) && spot != nil && spots[i] != nil && spots[i].start == spot.start; i++ {
		}
		if spot == nil {
			t.holes[first].put = putScriptAnywhere
			continue
		}
		s.place(*spot, first, i)
	}
	t.whole = s.judge
}

// jsTemplate is a script while its holes are looked at.
type jsTemplate struct {
	*Template
	script string // with a stand-in in each hole
	holes  []int  // where the names are
	words  []jsWord
}

// jsWord is a name or number that has holes in it.
type jsWord struct {
	pieces []piece
	member bool // any word may stand here, reserved ones too
	number bool
}

// scriptStandIn is digits behind a digit, where letters would be an error.
func scriptStandIn(before string) string {
	if n := len(before); n > 0 && digits.MatchString(before[n-1:]) {
		return strings.Repeat("1", len(standIn))
	}
	return standIn
}

// findSpots says of each hole what token it is in, nil where that is in doubt.
func findSpots(script string, holes []int) []*jsSpot {
	spots := make([]*jsSpot, len(holes))
	for n, pieces := range readings(script) {
		for i, s := range spotsIn(script, pieces, holes) {
			switch {
			case n == 0:
				spots[i] = s
			case s == nil || spots[i] == nil || *s != *spots[i]:
				spots[i] = nil
			}
		}
	}
	return spots
}

func spotsIn(script string, pieces []jsPiece, holes []int) []*jsSpot {
	spots := make([]*jsSpot, len(holes))
	code := slices.DeleteFunc(slices.Clone(pieces), jsPiece.comment)
	next, c := 0, 0 // in holes, in code
	for _, p := range pieces {
		for ; next < len(holes) && holes[next] < p.end; next++ {
			s := &jsSpot{jsPiece: p}
			if !p.comment() {
				s.between(script, code, c)
			}
			spots[next] = s
		}
		if !p.comment() {
			c++
		}
	}
	return spots
}

// between notes what is beside code[at].
func (s *jsSpot) between(script string, code []jsPiece, at int) {
	empty := 0
	touches := func(p jsPiece) {
		if script[p.start:p.end] == `""` && (p.end == s.start || p.start == s.end) {
			empty++
		}
	}
	if at > 0 {
		s.before = code[at-1].tt
		touches(code[at-1])
	}
	if at+1 < len(code) {
		s.after = code[at+1].tt
		touches(code[at+1])
	}
	s.doubled = empty == 2
}

// place decides how values go into holes first up to last, which are in one
// token.
func (s *jsTemplate) place(spot jsSpot, first, last int) {
	set := func(p put) {
		for i := first; i < last; i++ {
			s.Template.holes[i].put = p
		}
	}
	hole, end := s.holes[first], s.holes[first]+len(standIn)
	alone := spot.start == hole && spot.end == end
	switch {
	case spot.comment():
		set(func(any) (string, string) { return "", "" })
	case spot.tt == js.StringToken && s.script[spot.start] == '"':
		set(putScriptText)
		if spot.start == hole-1 && spot.end == end+1 {
			s.eatPair(first)
			set(literalAt{spot.key(), s.touches(spot.start, spot.end), false}.putWhole)
		}
	case spot.tt == js.StringToken, isTemplate(spot.tt):
		set(putScriptText)
		s.eatInside(first, last)
	case spot.tt == js.RegExpToken:
		s.placePattern(spot, first, last)
	case js.IsNumeric(spot.tt):
		set(putScriptDigits)
		s.words = append(s.words, jsWord{pieces: s.pieces(spot, first, last), number: true})
	case alone && spot.doubled:
		s.eatPair(first)
		set(putScriptText)
	case alone && !isAccess(spot.before):
		set(literalAt{spot.key(), s.touches(hole, end), true}.putCode)
	case !isAccess(spot.before) && spot.end == end && beforeValue(s.script[spot.start:hole]):
		set(literalAt{touches: true, name: true}.putBehindWord)
	default:
		set(putScriptWord)
		s.words = append(s.words, jsWord{pieces: s.pieces(spot, first, last), member: isAccess(spot.before)})
	}
}

// beforeValue tells a word that a value may follow without a space: return.
func beforeValue(word string) bool {
	tt := js.Keywords[word]
	switch tt {
	case js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken:
		return false
	}
	return js.IsReservedWord(tt)
}

func isTemplate(tt js.TokenType) bool {
	switch tt {
	case js.TemplateToken, js.TemplateStartToken, js.TemplateMiddleToken, js.TemplateEndToken:
		return true
	}
	return false
}

// key tells a property's name in an object literal.
func (s jsSpot) key() bool {
	return s.after == js.ColonToken && (s.before == js.OpenBraceToken || s.before == js.CommaToken)
}

// eatInside eats pairs of double quotes that are text of the literal around
// holes first up to last. An escaped one is not taken.
func (s *jsTemplate) eatInside(first, last int) {
	for i := first; i < last; i++ {
		if !dangling(strings.TrimSuffix(s.texts[i], `"`)) {
			s.eatPair(i)
		}
	}
}

// touches tells that a number or a word from start to end would run into its
// neighbours.
func (s *jsTemplate) touches(start, end int) bool {
	inName := func(c byte) bool { return isAlphanumeric(c) || c == '_' || c == '$' || c == '\\' || c >= 0x80 }
	return start > 0 && inName(s.script[start-1]) || end < len(s.script) && (inName(s.script[end]) || s.script[end] == '.')
}

// pieces are the parts of the token that has holes first up to last.
func (s *jsTemplate) pieces(spot jsSpot, first, last int) []piece {
	var pieces []piece
	at := spot.start
	for i := first; i < last; i++ {
		pieces = append(pieces, piece{s.script[at:s.holes[i]], -1}, piece{"", i})
		at = s.holes[i] + len(standIn)
	}
	return append(pieces, piece{s.script[at:spot.end], -1})
}

// placePattern decides about the holes of a regular expression.
func (s *jsTemplate) placePattern(spot jsSpot, first, last int) {
	slash := spot.start + closingSlash(s.script[spot.start:spot.end])
	at := spot.start + 1
	var b strings.Builder
	i := first
	for ; i < last && s.holes[i] < slash; i++ {
		s.eatInside(i, i+1)
		left := s.script[at:s.holes[i]]
		at = s.holes[i] + len(standIn)
		if s.Template.holes[i].after != "" {
			left = strings.TrimSuffix(left, `"`)
			at++
		}
		b.WriteString(left)
		b.WriteByte(gap)
	}
	b.WriteString(s.script[at:slash])
	for n, p := range patternHoles(b.String()) {
		s.Template.holes[first+n].put = p.putLiteral
	}
	for ; i < last; i++ {
		s.Template.holes[i].put = putScriptFlags
	}
}

// closingSlash is where the pattern of a regular expression literal ends.
func closingSlash(literal string) int {
	class := false
	for i := 1; i < len(literal); i++ {
		switch c := literal[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return i
		}
	}
	return len(literal)
}

// judge looks at the words that values are part of.
func (s *jsTemplate) judge(text string, parts []string) (string, []blame) {
	var found []blame
	for _, w := range s.words {
		if s.open(w.pieces, parts) {
			continue
		}
		word, hole := assemble(w.pieces, parts)
		l := js.NewLexer(parse.NewInputString(word))
		tt, data := l.Next()
		ok := tt == js.IdentifierToken || tt == js.PrivateIdentifierToken || w.member && js.IsIdentifierName(tt)
		if w.number {
			ok = js.IsNumeric(tt)
		}
		if !ok || len(data) < len(word) {
			found = append(found, blame{hole, "a value that is part of a name or number in a script must make one"})
		}
	}
	return text, found
}
