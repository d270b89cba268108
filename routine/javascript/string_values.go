package javascript

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// text is what is known about a string: of 'get' + x + 'ById' the prefix "get" and
// the suffix "ById", so that it may be "getElementById" but not "fetch".
type text struct {
	// prefix is the whole string if it is exact, otherwise how it starts; suffix is
	// how it ends.
	prefix, suffix string
	exact          bool
	// never is true if it cannot be a relevant property name, such as a number or a
	// symbol.
	never bool
}

var (
	unknown = []text{{}}
	never   = []text{{never: true}}
)

const (
	maxTexts = 16  // alternatives that are kept
	maxText  = 256 // bytes of one
)

func exactly(s string) []text { return []text{newText(s)} }

func newText(s string) text {
	if len(s) > maxText {
		return text{prefix: s[:maxText/2], suffix: s[len(s)-maxText/2:]}
	}
	return text{prefix: s, exact: true}
}

// may reports whether the string may be name.
func (t text) may(name string) bool {
	if t.never {
		return false
	}
	if t.exact {
		return t.prefix == name
	}
	return len(name) >= len(t.prefix)+len(t.suffix) && strings.HasPrefix(name, t.prefix) && strings.HasSuffix(name, t.suffix)
}

// concat returns x followed by y for all alternatives.
func concat(x, y []text) []text {
	var out []text
	for _, a := range x {
		for _, b := range y {
			out = append(out, a.append(b))
			if len(out) > maxTexts {
				return unknown
			}
		}
	}
	return out
}

func (t text) append(u text) text {
	t.exact, u.exact = t.exact && !t.never, u.exact && !u.never
	switch {
	case t.exact && u.exact:
		return newText(t.prefix + u.prefix)
	case t.exact:
		return text{prefix: truncateText(t.prefix + u.prefix), suffix: u.suffix}
	case u.exact:
		s := t.suffix + u.prefix
		return text{prefix: t.prefix, suffix: s[max(0, len(s)-maxText):]}
	}
	return text{prefix: t.prefix, suffix: u.suffix}
}

func truncateText(s string) string { return s[:min(len(s), maxText)] }

// union returns the union of two sets of alternatives; nil is the empty set.
// Too many alternatives become unknown.
func union(x, y []text) []text {
	for _, t := range y {
		if slices.Contains(x, t) {
			continue
		}
		if len(x) >= maxTexts {
			if !slices.Contains(x, text{}) {
				x = slices.Clone(x)
				x[maxTexts-1] = text{}
			}
			return x
		}
		x = append(slices.Clip(x), t)
	}
	return x
}

// mapTexts applies f to the exact alternatives; the others become unknown.
func mapTexts(x []text, f func(string) (string, bool)) []text {
	var out []text
	for _, t := range x {
		if !t.exact || t.never {
			out = union(out, unknown)
			continue
		}
		s, ok := f(t.prefix)
		if !ok {
			out = union(out, unknown)
			continue
		}
		out = union(out, exactly(s))
	}
	return out
}

// singleText returns the string if it is known and the only alternative.
func singleText(x []text) (string, bool) {
	if len(x) == 1 && x[0].exact && !x[0].never {
		return x[0].prefix, true
	}
	return "", false
}

// Unescape returns the value of the inside of a string or template literal, or
// of an identifier, which may contain escapes such as \u0066.
func Unescape(raw []byte) string {
	s := string(raw)
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		if s[0] != '\\' || len(s) == 1 {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		r, n := escape(s[1:])
		if r >= 0 {
			b.WriteRune(r)
		}
		s = s[1+n:]
	}
	return b.String()
}

// escape parses what follows a backslash. It returns the character, or -1 for
// none, and its length.
func escape(s string) (rune, int) {
	simple := map[byte]rune{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v'}
	switch c := s[0]; {
	case simple[c] != 0:
		return simple[c], 1
	case c == '\r' && strings.HasPrefix(s, "\r\n"):
		return -1, 2
	case c == '\n' || c == '\r':
		return -1, 1
	case c == 'x' && len(s) >= 3:
		return number(s[1:3], 16, 3)
	case c == 'u' && strings.HasPrefix(s, "u{"):
		if end := strings.IndexByte(s, '}'); end > 0 {
			return number(s[2:end], 16, end+1)
		}
	case c == 'u' && len(s) >= 5:
		return number(s[1:5], 16, 5)
	case c >= '0' && c <= '7':
		n := 1
		for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '7' && !(n == 2 && c > '3') {
			n++
		}
		return number(s[:n], 8, n)
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == '\u2028' || r == '\u2029' {
		return -1, n
	}
	return r, n
}

func number(digits string, base, length int) (rune, int) {
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune {
		return utf8.RuneError, length
	}
	return rune(n), length
}
