package javascript

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// declareUsing makes "using x" and "await using x", which the parser does not
// know, the "const x" that they are but for what happens at the end of their
// block. The text keeps its length.
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
