package routine

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Masked replaces secret values in what is shown or stored.
const Masked = "***"

// MaxShownURL is how many characters of a URL a message shows. The operation's record
// has the whole URL.
const MaxShownURL = 200

// Truncate returns the first n characters of s, followed by an ellipsis if s is
// longer.
func Truncate(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// Shorten returns s, or as much of it as fits into n characters together with the ellipsis
// that marks the end.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return Truncate(s, max(n-1, 0))
}

// OneLine replaces each run of white space and control characters, which a terminal
// would interpret, by one space.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// Quote returns s in double quotes with unprintable characters escaped.
func Quote(s string) string { return fmt.Sprintf("%q", s) }

// Show returns a decoded JSON value as an error message quotes it: short and on one
// line.
func Show(v any) string {
	const most = 60
	large := ""
	switch x := v.(type) {
	case map[string]any:
		large = "an object"
		if len(x) > most {
			return large
		}
	case []any:
		large = "an array"
		if len(x) > most {
			return large
		}
	case string:
		v = Truncate(x[:min(len(x), 4*most)], most)
	}
	text := JSONText(v)
	if large != "" && len(text) > most {
		return large
	}
	return Truncate(text, most+2)
}
