package pattern

import (
	"regexp"
	"rote/routine"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPublishedPattern bounds the pattern of a published schema, in bytes.
const maxPublishedPattern = 500

// Portable reports whether the validators that read published schemas
// can compile expr: JavaScript with the u flag (ajv), Python's re, Go's RE2 and
// Rust's regex crate. They agree on less than ECMAScript: JavaScript with the u
// flag refuses needless escapes and lone brackets, Python has no \p and no
// \cX, RE2 and Rust have no lookaround and no back references, Rust nests
// classes.
func Portable(expr string) bool {
	if len(expr) > maxPublishedPattern {
		return false
	}
	if _, i := routine.FirstInvisible(expr); i >= 0 {
		return false
	}
	if _, err := regexp.Compile(expr); err != nil {
		return false
	}
	s := patternScanner{rest: expr}
	for s.rest != "" {
		if !s.next() {
			return false
		}
	}
	return true
}

// patternScanner reads an expression that RE2 accepts, from left to right.
type patternScanner struct {
	rest string
	// repeatable: what was read last may have a quantifier.
	repeatable bool
}

const (
	// syntaxCharacters may be escaped anywhere, in every dialect.
	syntaxCharacters = `^$\.*+?()[]{}|/`
	// classEscapes stand for many characters, controlEscapes for one.
	classEscapes   = "dDwWsS"
	controlEscapes = "fnrtv"
)

// next reads one piece of the expression, with its quantifier being a piece of
// its own. It reports whether the piece is portable.
func (s *patternScanner) next() bool {
	c := s.rest[0]
	switch c {
	case '\\':
		_, ok := s.escape("", "bB")
		return ok
	case '[':
		s.repeatable = true
		return s.class()
	case '(':
		s.rest = strings.TrimPrefix(s.rest[1:], "?:")
		s.repeatable = false
		return !strings.HasPrefix(s.rest, "?")
	case '*', '+', '?':
		s.rest = s.rest[1:]
		return s.quantified()
	case '{':
		return s.count() && s.quantified()
	case ']', '}':
		return false
	}
	_, size := utf8.DecodeRuneInString(s.rest)
	s.rest = s.rest[size:]
	s.repeatable = c != '^' && c != '$' && c != '|'
	return true
}

// quantified takes what may follow a quantifier. It reports whether there was
// something to repeat.
func (s *patternScanner) quantified() bool {
	ok := s.repeatable
	s.repeatable = false
	s.rest = strings.TrimPrefix(s.rest, "?")
	return ok
}

var countQuantifier = regexp.MustCompile(`^\{([0-9]{1,4})(,[0-9]{0,4})?\}`)

// count reads {n}, {n,} or {n,m}.
func (s *patternScanner) count() bool {
	m := countQuantifier.FindString(s.rest)
	s.rest = s.rest[len(m):]
	return m != ""
}

// escape reads a backslash and what it escapes: a syntax character or one of
// more, a class escape, a control escape, \xHH, or an assertion. single is the
// character that it stands for, -1 where that is not one character.
func (s *patternScanner) escape(more, assertions string) (single rune, ok bool) {
	if len(s.rest) < 2 {
		return 0, false
	}
	c := s.rest[1]
	s.repeatable = true
	size := 2
	switch {
	case strings.IndexByte(syntaxCharacters+more, c) >= 0:
		single = rune(c)
	case strings.IndexByte(classEscapes, c) >= 0:
		single = -1
	case strings.IndexByte(controlEscapes, c) >= 0:
		single = rune(c)
	case strings.IndexByte(assertions, c) >= 0:
		single, s.repeatable = -1, false
	case c == 'x' && len(s.rest) >= 4:
		code, err := strconv.ParseUint(s.rest[2:4], 16, 8)
		if err != nil {
			return 0, false
		}
		single, size = rune(code), 4
	default:
		return 0, false
	}
	s.rest = s.rest[size:]
	return single, true
}

// class reads a class in brackets.
func (s *patternScanner) class() bool {
	s.rest = strings.TrimPrefix(s.rest[1:], "^")
	if strings.HasPrefix(s.rest, "]") {
		return false // JavaScript ends the class here, others do not
	}
	for first := true; s.rest != ""; first = false {
		if s.rest[0] == ']' {
			s.rest = s.rest[1:]
			return true
		}
		if s.rest[0] == '-' && !first && !strings.HasPrefix(s.rest, "-]") {
			return false // a range has been read whole, so this dash is in doubt
		}
		low, ok := s.classMember()
		if !ok {
			return false
		}
		if strings.HasPrefix(s.rest, "--") {
			return false // Rust subtracts classes with it
		}
		if len(s.rest) < 2 || s.rest[0] != '-' || s.rest[1] == ']' {
			continue
		}
		s.rest = s.rest[1:]
		if high, ok := s.classMember(); !ok || low < 0 || high < 0 {
			return false
		}
	}
	return false
}

// classMember reads one member of a class. A bracket may nest a class, and two
// equal signs in a row may be an operator.
func (s *patternScanner) classMember() (single rune, ok bool) {
	switch {
	case s.rest == "", s.rest[0] == '[':
		return 0, false
	case s.rest[0] == '\\':
		return s.escape("-", "")
	case len(s.rest) > 1 && s.rest[0] == s.rest[1] && strings.IndexByte("&-~|!#$%*+,.:;<=>?@^`", s.rest[0]) >= 0:
		return 0, false
	}
	r, size := utf8.DecodeRuneInString(s.rest)
	s.rest = s.rest[size:]
	return r, true
}
