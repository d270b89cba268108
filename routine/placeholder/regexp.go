package placeholder

import (
	"fmt"
	"regexp"
	"strings"
)

// patternHole is the context of a hole in a regular expression. It decides how
// a value is escaped so that it matches itself, and whether it is allowed.
type patternHole struct {
	class       bool // inside [...]
	inRange     bool // at one end of a range in [...]
	quantifier  bool // inside a {...} quantifier
	name        bool // inside the name of a group or a property
	groupPrefix bool // inside (?...
	afterEscape bool // after an escape that could include further characters
	repeated    bool // a quantifier follows
}

func (t *Template) prepareRegexp() {
	for i, p := range patternHoles(t.textWithHoleMarks()) {
		t.holes[i].escape = p.escape
	}
}

var (
	anyWord     = regexp.MustCompile(`^[A-Za-z0-9_$]+$`)
	oneWordChar = regexp.MustCompile(`^[A-Za-z0-9]$`)
	someDigits  = regexp.MustCompile(`^[0-9]{1,5}$`)
)

// patternHoles returns the contexts of the hole marks in a pattern.
func patternHoles(pattern string) []patternHole {
	s := patternScanner{p: pattern}
	for s.at < len(s.p) {
		switch c := s.p[s.at]; {
		case c == holeMark:
			s.addHole(patternHole{class: s.class, inRange: s.class && s.inRange(), repeated: !s.class && s.startsQuantifier(s.at+1)})
			s.at++
		case c == '\\':
			s.skipEscape()
		case s.class:
			s.class = c != ']'
			s.at++
		case c == '[':
			s.class, s.at = true, s.at+1
			s.classStart = s.at
			if strings.HasPrefix(s.p[s.at:], "^") {
				s.classStart++
			}
		case c == '(' && strings.HasPrefix(s.p[s.at:], "(?"):
			s.skipGroupPrefix()
		case c == '{' && s.quantifierLength(s.at) > 0:
			s.advance(s.quantifierLength(s.at), patternHole{quantifier: true})
		default:
			s.at++
		}
	}
	return s.holes
}

type patternScanner struct {
	p          string
	at         int
	class      bool
	classStart int // where the content of the class starts
	holes      []patternHole
}

func (s *patternScanner) addHole(h patternHole) { s.holes = append(s.holes, h) }

// advance skips n bytes and adds the holes among them with the context h.
func (s *patternScanner) advance(n int, h patternHole) {
	for _, c := range []byte(s.p[s.at : s.at+n]) {
		if c == holeMark {
			s.addHole(h)
		}
	}
	s.at += n
}

// quantifierLength returns the length of the {...} quantifier at an offset, or
// 0.
func (s *patternScanner) quantifierLength(at int) int {
	for i, c := range []byte(s.p[at+1:]) {
		switch {
		case c == '}':
			return i + 2
		case c != ',' && c != holeMark && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

func (s *patternScanner) startsQuantifier(at int) bool {
	return at < len(s.p) && (strings.IndexByte("*+?", s.p[at]) >= 0 || s.p[at] == '{' && s.quantifierLength(at) > 0)
}

// inRange reports whether the hole is next to the hyphen of a range.
func (s *patternScanner) inRange() bool {
	before := s.at-1 > s.classStart && s.p[s.at-1] == '-' && !endsInEscape(s.p[s.classStart:s.at-1])
	after := strings.HasPrefix(s.p[s.at+1:], "-") && !strings.HasPrefix(s.p[s.at+1:], "-]")
	return before || after
}

// skipGroupPrefix skips "(?" and what belongs to it. "(?<" that is not a
// look-behind starts a name.
func (s *patternScanner) skipGroupPrefix() {
	s.at += 2
	rest := s.p[s.at:]
	if strings.HasPrefix(rest, "<") && !strings.HasPrefix(rest, "<=") && !strings.HasPrefix(rest, "<!") {
		s.advanceThrough('>', patternHole{name: true})
		return
	}
	n := 0
	for n < len(rest) && (isAlphanumeric(rest[n]) || rest[n] == '-' || rest[n] == holeMark) {
		n++
	}
	s.advance(n, patternHole{groupPrefix: true})
}

// advanceThrough skips everything up to and including the closing character.
func (s *patternScanner) advanceThrough(closing byte, h patternHole) {
	n := strings.IndexByte(s.p[s.at:], closing) + 1
	if n == 0 {
		n = len(s.p) - s.at
	}
	s.advance(n, h)
}

// skipEscape skips a backslash and what belongs to it.
func (s *patternScanner) skipEscape() {
	s.at++
	if s.at == len(s.p) || s.p[s.at] == holeMark {
		return
	}
	c := s.p[s.at]
	s.at++
	rest := s.p[s.at:]
	most := 0
	switch {
	case (c == 'p' || c == 'P') && strings.HasPrefix(rest, "{"):
		s.advanceThrough('}', patternHole{name: true})
	case c == 'k' && strings.HasPrefix(rest, "<"):
		s.advanceThrough('>', patternHole{name: true})
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
	// Digits may continue after any number of holes.
	for n < most && s.at < len(s.p) && s.p[s.at] == holeMark {
		s.addHole(patternHole{class: s.class, afterEscape: true, inRange: s.class && s.inRange(), repeated: !s.class && s.startsQuantifier(s.at+1)})
		s.at++
	}
}

func (h patternHole) escape(v any) (string, string) {
	text := Format(v)
	switch {
	case h.groupPrefix:
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
	if h.afterEscape && text != "" && isAlphanumeric(text[0]) {
		quoted = fmt.Sprintf(`\x%02x`, text[0]) + quoted[1:]
	}
	if h.repeated || h.afterEscape && text == "" {
		quoted = "(?:" + quoted + ")"
	}
	return quoted, ""
}

// quotePattern returns a pattern that matches only text, with any flags and
// also between slashes.
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
