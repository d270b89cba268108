package placeholder

import "strings"

// holeMark represents a hole in the joined plain text. It does not occur in
// valid UTF-8.
const holeMark = '\xff'

// textWithHoleMarks joins the plain texts with a holeMark for each hole.
func (t *Template) textWithHoleMarks() string {
	return strings.Join(t.texts, string([]byte{holeMark}))
}

// dummyName fills the holes while a text is split into tokens of its language.
// Its first letter is not a hexadecimal digit, and no keyword of CSS or
// JavaScript begins or ends with it.
const dummyName = "zq"

// textWithDummies joins the plain texts with a dummy in each hole, and returns
// the offsets of the dummies. dummyFor returns the dummy for a hole after the
// given text.
func (t *Template) textWithDummies(dummyFor func(before string) string) (string, []int) {
	var b strings.Builder
	holes := make([]int, len(t.holes))
	for i := range t.holes {
		b.WriteString(t.texts[i])
		holes[i] = b.Len()
		b.WriteString(dummyFor(t.texts[i]))
	}
	b.WriteString(t.texts[len(t.holes)])
	return b.String(), holes
}

// fragment is plain text or, if hole is not -1, the text inserted into that
// hole. It is used for parts of a text that can be checked only after they are
// filled.
type fragment struct {
	text string
	hole int
}

// fillFragments returns the filled text of the fragments and the last hole
// among them, or -1.
func fillFragments(fragments []fragment, parts []string) (string, int) {
	var b strings.Builder
	hole := -1
	for _, p := range fragments {
		b.WriteString(p.text)
		if p.hole >= 0 {
			b.WriteString(parts[p.hole])
			hole = p.hole
		}
	}
	return b.String(), hole
}

// hasUnresolvedToken reports whether a token among the fragments was left as
// written. In these places no value can look like a token: braces are encoded
// or rejected.
func (t *Template) hasUnresolvedToken(fragments []fragment, parts []string) bool {
	for _, p := range fragments {
		if p.hole >= 0 && strings.Contains(parts[p.hole], t.holes[p.hole].Raw) {
			return true
		}
	}
	return false
}
