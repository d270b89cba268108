package pattern

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// maxPortableLength bounds a pattern in a published schema, in bytes.
const maxPortableLength = 500

// Portable reports whether expr may be published in a JSON Schema: whether it
// compiles, and means the same, in JavaScript with the u flag (which the validator ajv
// uses), in Python's re, in Go's RE2 and in Rust's regex crate. These agree on less
// than ECMAScript: JavaScript with the u flag refuses needless escapes and unpaired
// brackets, Python has no \p and no \cX, RE2 and Rust have no lookaround and no back
// references, and Rust nests character classes.
func Portable(expr string) bool {
	if len(expr) > maxPortableLength {
		return false
	}
	if _, i := routine.FirstInvisible(expr); i >= 0 {
		return false
	}
	if _, err := regexp.Compile(expr); err != nil {
		return false
	}
	s := portableScanner{rest: expr}
	for s.rest != "" {
		if !s.next() {
			return false
		}
	}
	return true
}

// portableScanner reads an expression from left to right. RE2 has accepted the
// expression before.
type portableScanner struct {
	rest string
	// repeatable reports whether a quantifier may follow what was read last.
	repeatable bool
}

const (
	// syntaxCharacters may be escaped anywhere in all dialects.
	syntaxCharacters = `^$\.*+?()[]{}|/`
	// classEscapes each match one of many characters, controlEscapes exactly one
	// character.
	classEscapes   = "dDwWsS"
	controlEscapes = "fnrtv"
)

// next reads one element of the expression: a character, an escape, a class, a bracket
// or a quantifier. It reports whether the element is portable.
func (s *portableScanner) next() bool {
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

// quantified consumes the question mark that may follow a quantifier. It reports
// whether the element before the quantifier can be repeated.
func (s *portableScanner) quantified() bool {
	ok := s.repeatable
	s.repeatable = false
	s.rest = strings.TrimPrefix(s.rest, "?")
	return ok
}

var countQuantifier = regexp.MustCompile(`^\{([0-9]{1,4})(,[0-9]{0,4})?\}`)

// count reads a quantifier in braces: {n}, {n,} or {n,m}. It reports whether there is
// one.
func (s *portableScanner) count() bool {
	m := countQuantifier.FindString(s.rest)
	s.rest = s.rest[len(m):]
	return m != ""
}

// escape reads a backslash and the escaped character: a syntax character or one of
// more, a class escape such as \d, a control escape such as \n, \xHH, or one of
// assertions. single is the character that the escape matches, or -1 if it does not
// match exactly one.
func (s *portableScanner) escape(more, assertions string) (single rune, ok bool) {
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

// class reads a character class in brackets and reports whether it is portable.
func (s *portableScanner) class() bool {
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

// classMember reads one member of a class: a character or an escape. It refuses an
// opening bracket, which nests a class in Rust, and two equal punctuation marks in a
// row, which are reserved for set operators such as &&.
func (s *portableScanner) classMember() (single rune, ok bool) {
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
