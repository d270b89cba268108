package javascript

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// declareUsing replaces "using x" and "await using x", which the parser does
// not know, by "const x". They differ only in what happens at the end of the
// block. The length of the text stays the same.
func (t *tokens) declareUsing(script string) {
	text := func(i int) string {
		if i < 0 || i >= len(t.list) {
			return ""
		}
		return script[t.list[i].start:t.list[i].end]
	}
	// together reports whether no line ends between token i and the next.
	together := func(i int) bool {
		return !strings.ContainsAny(script[t.list[i].end:t.list[i+1].start], "\n\r\u2028\u2029")
	}
	for i := range t.list {
		if text(i) != "using" || text(i-1) == "." || text(i-1) == "?." || i+1 == len(t.list) || !together(i) ||
			!js.IsIdentifier(t.list[i+1].tt) || text(i+1) == "of" && text(i+2) != "=" {
			continue
		}
		t.disposes = true
		t.list[i].tt = js.ConstToken
		copy(t.text[t.list[i].start:], "const")
		if text(i-1) == "await" && together(i-1) {
			copy(t.text[t.list[i-1].start:], "     ")
		}
	}
}
