package javascript

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// Span is a part of a script. Lines and columns count from 0. The end is
// exclusive.
type Span struct {
	Line, Column     int
	ToLine, ToColumn int
}

// Holds reports whether a position is in the span.
func (s Span) Holds(line, column int) bool {
	after := line > s.Line || line == s.Line && column >= s.Column
	before := line < s.ToLine || line == s.ToLine && column < s.ToColumn
	return after && before
}

// ConstantBodies returns the bodies of functions that only return a constant,
// as in "() => true" and "function () {}". Functions in other notations may be
// missing.
func ConstantBodies(script string) []Span {
	toks, problem := scan(script)
	if problem != nil || strings.ContainsFunc(script, func(r rune) bool { return r > 0xffff }) { // counts as two columns in browsers
		return nil
	}
	c := constants{toks.list, script}
	cursor := NewCursor(script)
	var spans []Span
	for i := range c.list {
		from, to, ok := c.body(i)
		if !ok {
			continue
		}
		line, column := cursor.To(from)
		toLine, toColumn := cursor.To(to)
		spans = append(spans, Span{line - 1, column - 1, toLine - 1, toColumn - 1})
	}
	return spans
}

type constants struct {
	list   []token
	script string
}

func (c constants) text(i int) string {
	if i < 0 || i >= len(c.list) {
		return ""
	}
	return c.script[c.list[i].start:c.list[i].end]
}

// body returns the body of the function whose "=>" or "function" is token i, if
// it only returns a constant. It starts at the first character and ends after
// the last position at which a browser can stop.
func (c constants) body(i int) (from, to int, ok bool) {
	switch c.text(i) {
	case "=>":
		first := i - 1
		if c.text(first) == ")" {
			for first--; c.isParameter(first); first-- {
			}
			if c.text(first) != "(" {
				return 0, 0, false
			}
		} else if !js.IsIdentifier(c.list[first].tt) {
			return 0, 0, false
		}
		if c.text(first-1) == "async" {
			return 0, 0, false
		}
		if n := c.literal(i + 1); n > 0 && c.ends(i+n) {
			return c.list[i+1].start, c.list[i+n].end + 1, true
		}
		return c.block(i + 1)
	case "function":
		at := i + 1
		if c.text(i-1) == "async" || c.text(i-1) == "." {
			return 0, 0, false
		}
		if at < len(c.list) && js.IsIdentifier(c.list[at].tt) {
			at++
		}
		if c.text(at) != "(" {
			return 0, 0, false
		}
		for at++; c.isParameter(at); at++ {
		}
		if c.text(at) == ")" {
			return c.block(at + 1)
		}
	}
	return 0, 0, false
}

func (c constants) isParameter(i int) bool {
	return i >= 0 && i < len(c.list) && (c.list[i].tt == js.CommaToken || js.IsIdentifier(c.list[i].tt))
}

// block returns the body that starts at token i: {} or { return constant }.
func (c constants) block(i int) (from, to int, ok bool) {
	if c.text(i) != "{" {
		return 0, 0, false
	}
	end := i + 1
	if n := c.literal(i + 2); c.text(end) == "return" && n > 0 {
		end += 1 + n
		if c.text(end) == ";" {
			end++
		}
	}
	if c.text(end) != "}" {
		return 0, 0, false
	}
	return c.list[i].start, c.list[end].end, true
}

// literal returns how many tokens from i are a constant, or 0.
func (c constants) literal(i int) int {
	if i >= len(c.list) {
		return 0
	}
	switch tt := c.list[i].tt; {
	case tt == js.TrueToken, tt == js.FalseToken, tt == js.NullToken, tt == js.StringToken, js.IsNumeric(tt), c.text(i) == "undefined":
		return 1
	case tt == js.NotToken && i+1 < len(c.list) && js.IsNumeric(c.list[i+1].tt): // !0
		return 2
	}
	return 0
}

// ends reports whether an expression certainly ends with token i.
func (c constants) ends(i int) bool {
	switch next := c.text(i + 1); next {
	case ",", ";", ")", "]", "}":
		return true
	case "", "in", "instanceof":
		return false
	default:
		line := strings.ContainsAny(c.script[c.list[i].end:c.list[i+1].start], "\n\r\u2028\u2029")
		return line && js.IsIdentifierName(c.list[i+1].tt)
	}
}
