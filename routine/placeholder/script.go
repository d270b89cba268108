package placeholder

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// jsContext is the token that contains a hole, and its neighbors.
//
// A script is split into tokens with a dummy in each hole. The token around a
// hole decides how a value is inserted:
//
//   - an identifier in code: a literal. As a property key it is a string literal;
//     after a dot, or next to other letters or digits, only letters and digits
//     are allowed;
//   - the whole of a double-quoted string: a literal for a number or boolean,
//     otherwise a string literal, with "" for a missing value;
//   - a part of a string or template: escaped text;
//   - a part of a regular expression: escaped, so that it matches itself;
//   - a comment: nothing.
//
// If the token is ambiguous, every character of a string is written as a \u
// escape, which is harmless inside any token.
type jsContext struct {
	jsToken
	before, after js.TokenType // the neighboring tokens without comments; 0 if none
	// betweenEmptyStrings: the token has an empty double-quoted string directly on
	// both sides.
	betweenEmptyStrings bool
}

func (t *Template) prepareScript() {
	if t.Literal() {
		return
	}
	s := &jsTemplate{Template: t}
	s.script, s.holes = t.textWithDummies(scriptDummy)
	contexts := findContexts(s.script, s.holes)
	for i := 0; i < len(contexts); {
		first := i
		context := contexts[first]
		for i++; i < len(contexts) && context != nil && contexts[i] != nil && contexts[i].start == context.start; i++ {
		}
		if context == nil {
			t.holes[first].escape = escapeScriptAnywhere
			continue
		}
		s.setEscapersFor(*context, first, i)
	}
	t.checkWhole = s.check
}

// jsTemplate is a script whose holes are being prepared.
type jsTemplate struct {
	*Template
	script string // with a dummy in each hole
	holes  []int  // the offsets of the dummies
	words  []jsWord
}

// jsWord is an identifier or number that contains holes.
type jsWord struct {
	fragments []fragment
	member    bool // a property name, which may be a reserved word
	number    bool
}

// scriptDummy returns digits after a digit, where letters would be a syntax
// error.
func scriptDummy(before string) string {
	if n := len(before); n > 0 && digits.MatchString(before[n-1:]) {
		return strings.Repeat("1", len(dummyName))
	}
	return dummyName
}

// findContexts returns the context of each hole, or nil where it is ambiguous.
func findContexts(script string, holes []int) []*jsContext {
	contexts := make([]*jsContext, len(holes))
	for n, tokens := range tokenizations(script) {
		for i, s := range contextsIn(script, tokens, holes) {
			switch {
			case n == 0:
				contexts[i] = s
			case s == nil || contexts[i] == nil || *s != *contexts[i]:
				contexts[i] = nil
			}
		}
	}
	return contexts
}

func contextsIn(script string, tokens []jsToken, holes []int) []*jsContext {
	contexts := make([]*jsContext, len(holes))
	code := slices.DeleteFunc(slices.Clone(tokens), jsToken.isComment)
	next, c := 0, 0 // in holes, in code
	for _, p := range tokens {
		for ; next < len(holes) && holes[next] < p.end; next++ {
			s := &jsContext{jsToken: p}
			if !p.isComment() {
				s.setNeighbors(script, code, c)
			}
			contexts[next] = s
		}
		if !p.isComment() {
			c++
		}
	}
	return contexts
}

// setNeighbors sets the neighbors of code[at].
func (s *jsContext) setNeighbors(script string, code []jsToken, at int) {
	empty := 0
	touches := func(p jsToken) {
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
	s.betweenEmptyStrings = empty == 2
}

// setEscapersFor sets the escapers of holes first to last-1, which are in one
// token.
func (s *jsTemplate) setEscapersFor(context jsContext, first, last int) {
	set := func(p escaper) {
		for i := first; i < last; i++ {
			s.Template.holes[i].escape = p
		}
	}
	hole, end := s.holes[first], s.holes[first]+len(dummyName)
	alone := context.start == hole && context.end == end
	switch {
	case context.isComment():
		set(func(any) (string, string) { return "", "" })
	case context.tt == js.StringToken && s.script[context.start] == '"':
		set(escapeScriptText)
		if context.start == hole-1 && context.end == end+1 {
			s.absorbQuotePair(first)
			set(literalContext{context.isPropertyKey(), s.touches(context.start, context.end), false}.escapeQuoted)
		}
	case context.tt == js.StringToken, isTemplate(context.tt):
		set(escapeScriptText)
		s.absorbQuotesInLiteral(first, last)
	case context.tt == js.RegExpToken:
		s.setPatternEscapers(context, first, last)
	case js.IsNumeric(context.tt):
		set(escapeScriptDigits)
		s.words = append(s.words, jsWord{fragments: s.fragments(context, first, last), number: true})
	case alone && context.betweenEmptyStrings:
		s.absorbQuotePair(first)
		set(escapeScriptText)
	case alone && !isAccess(context.before):
		set(literalContext{context.isPropertyKey(), s.touches(hole, end), true}.escapeCode)
	case !isAccess(context.before) && context.end == end && mayPrecedeValue(s.script[context.start:hole]):
		set(literalContext{touches: true, name: true}.escapeAfterWord)
	default:
		set(escapeScriptWord)
		s.words = append(s.words, jsWord{fragments: s.fragments(context, first, last), member: isAccess(context.before)})
	}
}

// mayPrecedeValue reports whether word is a keyword that a value may follow,
// such as return.
func mayPrecedeValue(word string) bool {
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

// isPropertyKey reports whether the token is a property key in an object
// literal.
func (s jsContext) isPropertyKey() bool {
	return s.after == js.ColonToken && (s.before == js.OpenBraceToken || s.before == js.CommaToken)
}

// absorbQuotesInLiteral absorbs double quotes around holes first to last-1
// inside a literal. Escaped quotes are kept.
func (s *jsTemplate) absorbQuotesInLiteral(first, last int) {
	for i := first; i < last; i++ {
		if !endsInEscape(strings.TrimSuffix(s.texts[i], `"`)) {
			s.absorbQuotePair(i)
		}
	}
}

// touches reports whether a number or identifier from start to end would merge
// with the text next to it.
func (s *jsTemplate) touches(start, end int) bool {
	inName := func(c byte) bool { return isAlphanumeric(c) || c == '_' || c == '$' || c == '\\' || c >= 0x80 }
	return start > 0 && inName(s.script[start-1]) || end < len(s.script) && (inName(s.script[end]) || s.script[end] == '.')
}

// fragments returns the parts of the token that contains holes first to last-1.
func (s *jsTemplate) fragments(context jsContext, first, last int) []fragment {
	var tokens []fragment
	at := context.start
	for i := first; i < last; i++ {
		tokens = append(tokens, fragment{s.script[at:s.holes[i]], -1}, fragment{"", i})
		at = s.holes[i] + len(dummyName)
	}
	return append(tokens, fragment{s.script[at:context.end], -1})
}

// setPatternEscapers sets the escapers of the holes in a regular expression.
func (s *jsTemplate) setPatternEscapers(context jsContext, first, last int) {
	slash := context.start + closingSlash(s.script[context.start:context.end])
	at := context.start + 1
	var b strings.Builder
	i := first
	for ; i < last && s.holes[i] < slash; i++ {
		s.absorbQuotesInLiteral(i, i+1)
		left := s.script[at:s.holes[i]]
		at = s.holes[i] + len(dummyName)
		if s.Template.holes[i].after != "" {
			left = strings.TrimSuffix(left, `"`)
			at++
		}
		b.WriteString(left)
		b.WriteByte(holeMark)
	}
	b.WriteString(s.script[at:slash])
	for n, p := range patternHoles(b.String()) {
		s.Template.holes[first+n].escape = p.escapeInLiteral
	}
	for ; i < last; i++ {
		s.Template.holes[i].escape = escapeScriptFlags
	}
}

// closingSlash returns the offset at which the pattern of a regular expression
// literal ends.
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

// check checks the identifiers and numbers that contain values.
func (s *jsTemplate) check(text string, parts []string) (string, []rejection) {
	var found []rejection
	for _, w := range s.words {
		if s.hasUnresolvedToken(w.fragments, parts) {
			continue
		}
		word, hole := fillFragments(w.fragments, parts)
		l := js.NewLexer(parse.NewInputString(word))
		tt, data := l.Next()
		ok := tt == js.IdentifierToken || tt == js.PrivateIdentifierToken || w.member && js.IsIdentifierName(tt)
		if w.number {
			ok = js.IsNumeric(tt)
		}
		if !ok || len(data) < len(word) {
			found = append(found, rejection{hole, "a value that is part of a name or number in a script must make one"})
		}
	}
	return text, found
}
