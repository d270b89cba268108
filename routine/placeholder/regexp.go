package placeholder

import (
	"fmt"
	"regexp"
	"strings"
)

// A value in a regular expression matches itself. What is around its hole
// decides how that is written, and whether a value can stand there at all.

// patternHole is what is around a hole in a regular expression.
type patternHole struct {
	class      bool // inside [...]
	inRange    bool // at one end of a range in [...]
	quantifier bool // inside {...} that counts
	name       bool // inside a group's or a property's name
	opening    bool // inside (?...
	joins      bool // behind an escape that takes further characters
	repeated   bool // a quantifier follows
}

func (t *Template) placeRegexp() {
	for i, p := range patternHoles(t.joined()) {
		t.holes[i].put = p.put
	}
}

var (
	anyWord     = regexp.MustCompile(`^[A-Za-z0-9_$]+$`)
	oneWordChar = regexp.MustCompile(`^[A-Za-z0-9]$`)
	someDigits  = regexp.MustCompile(`^[0-9]{1,5}$`)
)

// patternHoles reads a pattern in which gaps stand for holes.
func patternHoles(pattern string) []patternHole {
	s := patternScan{p: pattern}
	for s.at < len(s.p) {
		switch c := s.p[s.at]; {
		case c == gap:
			s.add(patternHole{class: s.class, inRange: s.class && s.inRange(), repeated: !s.class && s.repeats(s.at+1)})
			s.at++
		case c == '\\':
			s.escape()
		case s.class:
			s.class = c != ']'
			s.at++
		case c == '[':
			s.class, s.at = true, s.at+1
			s.first = s.at
			if strings.HasPrefix(s.p[s.at:], "^") {
				s.first++
			}
		case c == '(' && strings.HasPrefix(s.p[s.at:], "(?"):
			s.group()
		case c == '{' && s.counts(s.at) > 0:
			s.take(s.counts(s.at), patternHole{quantifier: true})
		default:
			s.at++
		}
	}
	return s.holes
}

type patternScan struct {
	p     string
	at    int
	class bool
	first int // where the content of the class starts
	holes []patternHole
}

func (s *patternScan) add(h patternHole) { s.holes = append(s.holes, h) }

// take moves on by n bytes; h is what holes among them are.
func (s *patternScan) take(n int, h patternHole) {
	for _, c := range []byte(s.p[s.at : s.at+n]) {
		if c == gap {
			s.add(h)
		}
	}
	s.at += n
}

// counts is the length of the {...} quantifier at that place; 0 when there is
// none.
func (s *patternScan) counts(at int) int {
	for i, c := range []byte(s.p[at+1:]) {
		switch {
		case c == '}':
			return i + 2
		case c != ',' && c != gap && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

func (s *patternScan) repeats(at int) bool {
	return at < len(s.p) && (strings.IndexByte("*+?", s.p[at]) >= 0 || s.p[at] == '{' && s.counts(at) > 0)
}

// inRange tells a hole next to the hyphen of a range.
func (s *patternScan) inRange() bool {
	before := s.at-1 > s.first && s.p[s.at-1] == '-' && !dangling(s.p[s.first:s.at-1])
	after := strings.HasPrefix(s.p[s.at+1:], "-") && !strings.HasPrefix(s.p[s.at+1:], "-]")
	return before || after
}

// group passes "(?" and what belongs to it. "(?<" that is no look-behind
// starts a name.
func (s *patternScan) group() {
	s.at += 2
	rest := s.p[s.at:]
	if strings.HasPrefix(rest, "<") && !strings.HasPrefix(rest, "<=") && !strings.HasPrefix(rest, "<!") {
		s.untilEnd('>', patternHole{name: true})
		return
	}
	n := 0
	for n < len(rest) && (isAlphanumeric(rest[n]) || rest[n] == '-' || rest[n] == gap) {
		n++
	}
	s.take(n, patternHole{opening: true})
}

// untilEnd passes everything up to the closing character.
func (s *patternScan) untilEnd(closing byte, h patternHole) {
	n := strings.IndexByte(s.p[s.at:], closing) + 1
	if n == 0 {
		n = len(s.p) - s.at
	}
	s.take(n, h)
}

// escape passes a backslash and what belongs to it.
func (s *patternScan) escape() {
	s.at++
	if s.at == len(s.p) || s.p[s.at] == gap {
		return
	}
	c := s.p[s.at]
	s.at++
	rest := s.p[s.at:]
	most := 0
	switch {
	case (c == 'p' || c == 'P') && strings.HasPrefix(rest, "{"):
		s.untilEnd('}', patternHole{name: true})
	case c == 'k' && strings.HasPrefix(rest, "<"):
		s.untilEnd('>', patternHole{name: true})
	case c == 'x':
		most = 2
	case c == 'u':
		most = 4
	case c == 'c':
		most = 1
	case '0' <= c && c <= '9':
		most = len(rest)
	}
	n := 0
	for n < most && n < len(rest) && (isHex(rest[n]) && (most <= 4 || rest[n] <= '9') || c == 'c' && isAlphanumeric(rest[n])) {
		n++
	}
	s.at += n
	// Digits go on through any number of holes.
	for n < most && s.at < len(s.p) && s.p[s.at] == gap {
		s.add(patternHole{class: s.class, joins: true, inRange: s.class && s.inRange(), repeated: !s.class && s.repeats(s.at+1)})
		s.at++
	}
}

func (h patternHole) put(v any) (string, string) {
	text := Format(v)
	switch {
	case h.opening:
		return "", "a value cannot stand in the opening of a group"
	case h.quantifier && !someDigits.MatchString(text):
		return "", "a value that counts in a regular expression must be of one to five digits"
	case h.name && !anyWord.MatchString(text):
		return "", "a value in a name in a regular expression may have letters, digits and underscores only"
	case h.quantifier || h.name:
		return text, ""
	case h.inRange && !oneWordChar.MatchString(text):
		return "", "a value at the end of a range of characters must be one letter or digit"
	case h.class && text == "":
		return "", "a value in a set of characters cannot be empty"
	}
	quoted := quotePattern(text, h.class)
	if h.joins && text != "" && isAlphanumeric(text[0]) {
		quoted = fmt.Sprintf(`\x%02x`, text[0]) + quoted[1:]
	}
	if h.repeated || h.joins && text == "" {
		quoted = "(?:" + quoted + ")"
	}
	return quoted, ""
}

// quotePattern makes a pattern that matches text and nothing else, with any
// flags, also between slashes.
func quotePattern(text string, class bool) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case strings.ContainsRune(`^$\.*+?()[]{}|/`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '-', r < ' ', r == 0x7f, class && strings.ContainsRune("&!#%,:;<=>@`~\"' ", r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == '\u2028', r == '\u2029', r == '\u0085':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
