package playwright

import (
	"regexp"
	"strings"
	"unicode"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

var globSpecial = regexp.MustCompile(`\*\*/?|\*|\?|\{[^{}]*\}|[^*?{}]+|[{}]`)

// urlPattern returns the pattern of a URL that a script waits for; false if it is computed.
func (r *reader) urlPattern(v *chain.Value) (string, bool) {
	switch {
	case v == nil:
		return "", false
	case v.Kind == chain.Function:
		return condition(v)
	case v.Kind == chain.Template || v.Kind == chain.Sum:
		if end := v.Parts[len(v.Parts)-1]; !r.plain(v) && end.Kind == chain.Text && strings.HasPrefix(end.Text, "/") && !strings.Contains(end.Text, "*") {
			return regexp.QuoteMeta(end.Text) + "$", true // what is before it is not known
		}
	}
	if v.Kind == chain.Pattern {
		if strings.Contains(v.Text, "{{") {
			return "", false
		}
		if strings.Contains(v.Flags, "i") {
			return anyCase(v.Text)
		}
		return v.Text, v.Text != ""
	}
	s, literal := r.text(v)
	if !literal || s == "" {
		return "", false
	}
	if strings.Contains(s, "*") {
		return "^" + globSpecial.ReplaceAllStringFunc(s, func(part string) string {
			switch {
			case part == "**/":
				return "(.*/)?"
			case part == "**":
				return ".*"
			case part == "*":
				return "[^/]*"
			case part[0] == '{' && len(part) > 1:
				return "(" + strings.ReplaceAll(regexp.QuoteMeta(part[1:len(part)-1]), ",", "|") + ")"
			}
			return regexp.QuoteMeta(part)
		}) + "$", true
	}
	if !strings.Contains(s, ":") {
		return regexp.QuoteMeta(s) + "$", true
	}
	return draft.URLRegex(s)
}

// condition returns the pattern of the URLs for which a function is true that asks for a part of them.
func condition(v *chain.Value) (string, bool) {
	asked := result(v)
	if asked.Kind != chain.Calls {
		return "", false
	}
	last := asked.Calls.Last()
	part := argument(last, 0)
	if part == nil || part.Kind != chain.Text || part.Text == "" || len(last.Args) != 1 {
		return "", false
	}
	switch last.Name {
	case "includes", "contains":
		return regexp.QuoteMeta(part.Text), true
	case "endsWith":
		return regexp.QuoteMeta(part.Text) + "$", true
	}
	return "", false
}

// escapesWithLetters matches escapes that mean a character by letters or digits, and names of groups.
var escapesWithLetters = regexp.MustCompile(`\\[uxckpP]|\(\?<[^=!]`)

// anyCase returns a pattern that matches letters of either case, as a url_regex has no flags. It
// returns false if the pattern has parts in which letters are not what they match.
func anyCase(pattern string) (string, bool) {
	if escapesWithLetters.MatchString(pattern) {
		return "", false
	}
	var b strings.Builder
	runes := []rune(pattern)
	class := false
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		other := unicode.ToUpper(c)
		if other == c {
			other = unicode.ToLower(c)
		}
		switch {
		case c == '\\' && i+1 < len(runes):
			b.WriteString(string(runes[i : i+2]))
			i++
		case class && i+2 < len(runes) && runes[i+1] == '-' && unicode.IsLetter(c) && unicode.IsLetter(runes[i+2]):
			b.WriteString(string(runes[i:i+3]) + string(other) + "-")
			if c == unicode.ToLower(c) {
				b.WriteRune(unicode.ToUpper(runes[i+2]))
			} else {
				b.WriteRune(unicode.ToLower(runes[i+2]))
			}
			i += 2
		case class && other != c:
			b.WriteString(string(c) + string(other))
		case other != c:
			b.WriteString("[" + string(c) + string(other) + "]")
		default:
			class = c == '[' || class && c != ']'
			b.WriteRune(c)
		}
	}
	return b.String(), pattern != ""
}
