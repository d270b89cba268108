package placeholder

import "strings"

// gap stands for a hole in the joined plain text. It is in no valid UTF-8.
const gap = '\xff'

// joined is the plain text with a gap for each hole.
func (t *Template) joined() string {
	return strings.Join(t.texts, string([]byte{gap}))
}

// standIn stands in the holes while a text is cut into tokens. Its first letter
// is no hexadecimal digit, and no word of CSS or JavaScript begins or ends with
// it.
const standIn = "zq"

// named joins the plain texts with a stand-in in each hole, and says where
// each starts. standInFor sees the text before the hole.
func (t *Template) named(standInFor func(before string) string) (string, []int) {
	var b strings.Builder
	holes := make([]int, len(t.holes))
	for i := range t.holes {
		b.WriteString(t.texts[i])
		holes[i] = b.Len()
		b.WriteString(standInFor(t.texts[i]))
	}
	b.WriteString(t.texts[len(t.holes)])
	return b.String(), holes
}

// piece is plain text or, when hole is not -1, what is put into that hole. Some
// parts of a text can only be judged when values and plain text are together.
type piece struct {
	text string
	hole int
}

// assemble gives the text of the pieces and the hole to blame: the last one.
func assemble(pieces []piece, parts []string) (string, int) {
	var b strings.Builder
	hole := -1
	for _, p := range pieces {
		b.WriteString(p.text)
		if p.hole >= 0 {
			b.WriteString(parts[p.hole])
			hole = p.hole
		}
	}
	return b.String(), hole
}

// open tells that a token among the pieces stays as it is written. Where pieces
// are judged no value looks like one: braces are encoded or refused.
func (t *Template) open(pieces []piece, parts []string) bool {
	for _, p := range pieces {
		if p.hole >= 0 && strings.Contains(parts[p.hole], t.holes[p.hole].Raw) {
			return true
		}
	}
	return false
}
