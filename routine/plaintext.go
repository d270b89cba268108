package routine

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// PlainText returns s without the characters that people cannot see but
// terminals and language models may act on: control characters (other than
// line breaks and tabs), bidirectional controls, byte-order marks, tag
// characters and other invisible code points. Invalid UTF-8 becomes U+FFFD.
// Front ends use it for names, descriptions and messages; values are kept as
// they are, see [EscapeInvisible].
func PlainText(s string) string {
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// EscapeInvisible replaces the invisible characters of a JSON text, which can only be
// inside its strings, by \u escapes. The JSON value stays the same.
func EscapeInvisible(json string) string {
	if strings.IndexFunc(json, isInvisible) < 0 {
		return json
	}
	var b strings.Builder
	for _, r := range json {
		switch {
		case !isInvisible(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isInvisible reports whether r has no visible form and no purpose in running text.
// The joiners U+200C and U+200D and the variation selectors U+FE0E and U+FE0F are not
// counted: scripts and emoji need them.
func isInvisible(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f, r == '\n', r == '\r', r == '\t', r == 0xfe0e, r == 0xfe0f:
		return false
	case r < 0xa0:
		return true
	case unicode.In(r, unicode.Join_Control, unicode.Prepended_Concatenation_Mark):
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// FirstInvisible returns the first invisible character of s and its byte offset, or -1
// if there is none.
func FirstInvisible(s string) (rune, int) {
	i := strings.IndexFunc(s, isInvisible)
	if i < 0 {
		return 0, -1
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r, i
}
