package placeholder

import (
	"fmt"
	"regexp"
	"strings"
)

// cssWord is the context of a hole in an identifier, or in the name of a #hash,
// an @keyword or a function.
type cssWord struct {
	emptyName   bool // without its holes the word is not a name
	atStart     bool // only other holes and "-" precede the hole
	attribute   bool // the hole is the whole value of an attribute
	isNthNumber bool // :nth-child( takes a number here
	mayBeSigned bool // the number may have a sign
	isUnit      bool // the word is the unit of a number
	url         bool // the name of a function that could become url
	// unicodeRange is the word's plain part if "+" follows. With a value of "u" the
	// two would start a Unicode range.
	unicodeRange *string
	// inRange is true if "u+" precedes the hole, so that hexadecimal digits would
	// be part of a Unicode range.
	inRange bool
}

// maxRangeLookback is how many bytes before a hole are searched for "u+".
const maxRangeLookback = 64

var (
	signedDigits = regexp.MustCompile(`^-?[0-9]+$`)
	coefficient  = regexp.MustCompile(`^(?:[0-9]*[nN]|[0-9]+)$`)
	rangeStart   = regexp.MustCompile(`(?i)u\+[0-9a-f?]*(?:-[0-9a-f]*)?$`)
	noName       = regexp.MustCompile(`^(?:-?$|-?[0-9]|--)`)
	urlLetters   = regexp.MustCompile(`^(?i:[url])*$`)
)

func (c cssWord) escape(v any) (string, string) {
	text := Format(v)
	switch {
	case c.isNthNumber && (digits.MatchString(text) || c.mayBeSigned && signedDigits.MatchString(text)):
		return text, ""
	case text == "" && c.attribute:
		return `""`, ""
	case text == "" && c.emptyName:
		return "", "an empty value leaves no name in the selector"
	case c.inRange && (text == "" || c.isUnit):
		return "", "value not allowed in a selector: it would be part of a Unicode range"
	case c.inRange && isHex(text[0]):
		return cssEscape(rune(text[0])) + cssIdentifier(text[1:], false), ""
	case c.isUnit && !coefficient.MatchString(text):
		return "", "a value glued to a number in a selector must be digits, or n"
	case c.isUnit:
		return text, ""
	case c.url && urlLetters.MatchString(text), c.unicodeRange != nil && strings.EqualFold(*c.unicodeRange+text, "u"):
		return "", "value not allowed in a selector: what comes out is no name"
	}
	return cssIdentifier(text, c.atStart), ""
}

// cssIdentifier escapes text for an identifier. At the start of one, a digit or
// hyphen is escaped.
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

// cssString escapes text for a string with either kind of quotes.
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

// cssEscape returns the numeric escape of a character. The space ends the
// number.
func cssEscape(r rune) string { return fmt.Sprintf(`\%x `, r) }

// escapeCSSAnywhere escapes a value for an unknown context: every character is
// written as a numeric escape.
func escapeCSSAnywhere(v any) (string, string) {
	if Format(v) == "" {
		return "", "an empty value cannot stand here in a selector"
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(strings.ReplaceAll(Format(v), "\x00", "\uFFFD"), "\uFFFD") {
		b.WriteString(cssEscape(r))
	}
	return b.String(), ""
}
