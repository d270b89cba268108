package definition

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// dateTokens are the parts of a date format, each with its number of digits.
var dateTokens = []struct {
	token  string
	digits int
}{{"YYYY", 4}, {"MM", 2}, {"DD", 2}, {"HH", 2}, {"mm", 2}, {"ss", 2}}

// matchDate reports whether s is an existing date or time, written exactly as format
// says. Characters of format that are not part of a token must occur in s unchanged.
func matchDate(format, s string) bool {
	part := map[string]int{"YYYY": 2000, "MM": 1, "DD": 1} // 2000: a leap year, for formats without year
	for format != "" {
		token, digits := nextDateToken(format)
		if digits == 0 {
			if !strings.HasPrefix(s, token) {
				return false
			}
			format, s = format[len(token):], s[len(token):]
			continue
		}
		if len(s) < digits {
			return false
		}
		n := 0
		for _, c := range []byte(s[:digits]) {
			if c < '0' || c > '9' {
				return false
			}
			n = n*10 + int(c-'0')
		}
		part[token] = n
		format, s = format[len(token):], s[digits:]
	}
	if s != "" {
		return false
	}
	t := time.Date(part["YYYY"], time.Month(part["MM"]), part["DD"], part["HH"], part["mm"], part["ss"], 0, time.UTC)
	return t.Year() == part["YYYY"] && int(t.Month()) == part["MM"] && t.Day() == part["DD"] &&
		t.Hour() == part["HH"] && t.Minute() == part["mm"] && t.Second() == part["ss"]
}

// nextDateToken returns the token at the start of format with its number of digits, or
// one literal character with 0.
func nextDateToken(format string) (string, int) {
	for _, t := range dateTokens {
		if strings.HasPrefix(format, t.token) {
			return t.token, t.digits
		}
	}
	for i := range format {
		if i > 0 {
			return format[:i], 0
		}
	}
	return format, 0
}

// validDateFormat reports whether format has a token and otherwise only characters
// that may separate tokens. Other letters than the T and Z of ISO 8601, and digits,
// are refused: they are probably misspelt tokens.
func validDateFormat(format string) bool {
	found := false
	for format != "" {
		token, digits := nextDateToken(format)
		format = format[len(token):]
		found = found || digits > 0
		r, _ := utf8.DecodeRuneInString(token)
		if digits == 0 && token != "T" && token != "Z" && (r == '%' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return false
		}
	}
	return found
}
