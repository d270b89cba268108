package placeholder

import (
	"fmt"
	"regexp"
	"strings"
)

// cssWord is a hole in an identifier, or in the name of a #hash, an @keyword or
// a function(.
type cssWord struct {
	empty     bool // without its holes the word is no name
	start     bool // nothing but other holes and "-" is before the hole
	attribute bool // the word is an attribute's value and has no other part
	number    bool // it is where :nth-child( takes a number
	signed    bool // and a sign may be part of it
	glued     bool // the word is a number's unit
	url       bool // a function's name that could become url
	// unicodeRange is the word's plain part where "+" follows, which makes the
	// start of a Unicode range of "u".
	unicodeRange *string
	// inRange: "u+" is before the hole, so that hexadecimal digits would be part
	// of a Unicode range.
	inRange bool
}

// longestRange is how far back that is looked for.
const longestRange = 64

var (
	signedDigits = regexp.MustCompile(`^-?[0-9]+$`)
	coefficient  = regexp.MustCompile(`^(?:[0-9]*[nN]|[0-9]+)$`)
	rangeStart   = regexp.MustCompile(`(?i)u\+[0-9a-f?]*(?:-[0-9a-f]*)?$`)
	noName       = regexp.MustCompile(`^(?:-?$|-?[0-9]|--)`)
	urlLetters   = regexp.MustCompile(`^(?i:[url])*$`)
)

func (c cssWord) put(v any) (string, string) {
	text := Format(v)
	switch {
	case c.number && (digits.MatchString(text) || c.signed && signedDigits.MatchString(text)):
		return text, ""
	case text == "" && c.attribute:
		return `""`, ""
	case text == "" && c.empty:
		return "", "an empty value leaves no name in the selector"
	case c.inRange && (text == "" || c.glued):
		return "", "value not allowed in a selector: it would be part of a Unicode range"
	case c.inRange && isHex(text[0]):
		return cssEscape(rune(text[0])) + cssIdentifier(text[1:], false), ""
	case c.glued && !coefficient.MatchString(text):
		return "", "a value glued to a number in a selector must be digits, or n"
	case c.glued:
		return text, ""
	case c.url && urlLetters.MatchString(text), c.unicodeRange != nil && strings.EqualFold(*c.unicodeRange+text, "u"):
		return "", "value not allowed in a selector: what comes out is no name"
	}
	return cssIdentifier(text, c.start), ""
}

// cssIdentifier escapes text for an identifier, at whose start no digit or
// hyphen may stand.
func cssIdentifier(text string, start bool) string {
	var b strings.Builder
	for i, r := range strings.ToValidUTF8(text, "\uFFFD") {
		atStart := start && i == 0
		switch {
		case r == 0:
			b.WriteRune('\uFFFD')
		case r <= ' ' || r == 0x7f || atStart && '0' <= r && r <= '9':
			b.WriteString(cssEscape(r))
		case r >= 0x80 || isAlphanumeric(byte(r)) || r == '_' || r == '-' && !atStart:
			b.WriteRune(r)
		default:
			b.WriteByte('\\')
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cssString escapes text for a string, whatever its quotes are.
func cssString(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case r == 0:
			b.WriteRune('\uFFFD')
		case r < ' ' || r == 0x7f:
			b.WriteString(cssEscape(r))
		case r == '"' || r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cssEscape writes a character by its number. The space ends the number.
func cssEscape(r rune) string { return fmt.Sprintf(`\%x `, r) }

// putCSSAnywhere is for a place that cannot be determined. Every character
// is written by its number.
func putCSSAnywhere(v any) (string, string) {
	if Format(v) == "" {
		return "", "an empty value cannot stand here in a selector"
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(strings.ReplaceAll(Format(v), "\x00", "\uFFFD"), "\uFFFD") {
		b.WriteString(cssEscape(r))
	}
	return b.String(), ""
}
