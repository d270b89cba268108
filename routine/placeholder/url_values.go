package placeholder

import (
	"regexp"
	"strings"
	"unicode"
)

const reasonScheme = "value not allowed in a URL's scheme: it must make http or https, and :// must follow"

var (
	encodedControl = regexp.MustCompile(`(?i)%(?:[01][0-9a-f]|7f)`)
	letters        = regexp.MustCompile(`^[A-Za-z]*$`)
	hostText       = regexp.MustCompile(`^[A-Za-z0-9._-]*$`)
	digits         = regexp.MustCompile(`^[0-9]+$`)
)

// The characters, in addition to letters and digits, that are not encoded in a
// path, and in a query or fragment.
const (
	pathChars  = "-._~" + "!$&'()*+,;=" + ":@"
	queryChars = "-._~" + "!$()*," + ":@/?"
)

func escapePath(v any) (string, string) { return pathText(Format(v), pathChars) }

// escapeFirstSegment is for the start of a relative URL, where a colon would
// make the text before it a scheme.
func escapeFirstSegment(v any) (string, string) {
	return pathText(Format(v), strings.ReplaceAll(pathChars, ":", ""))
}

func pathText(text, keep string) (string, string) {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "", reasonDotSegment
	}
	return percent(text, keep), ""
}

func escapeQuery(v any) (string, string) { return percent(Format(v), queryChars), "" }

// rejectInOpaqueURL is for a URL with a scheme other than those of the web,
// whose structure is unknown.
func rejectInOpaqueURL(any) (string, string) {
	return "", "a value can only stand in a URL of http or https"
}

func escapeScheme(slashes bool) escaper {
	return func(v any) (string, string) {
		if text := Format(v); slashes && letters.MatchString(text) {
			return text, ""
		}
		return "", reasonScheme
	}
}

func escapeAuthority(v any) (string, string) {
	text := Format(v)
	if !hostText.MatchString(text) {
		return "", `value not allowed in URL authority: only ASCII letters, digits, ".", "-" and "_" may stand there`
	}
	return text, ""
}

// escapeHostEnd is for a value at the end of a host that directly follows plain
// text: a dot in it would lead to another domain than the author wrote.
func escapeHostEnd(v any) (string, string) {
	text, reason := escapeAuthority(v)
	if reason == "" && strings.Contains(text, ".") {
		return "", `value not allowed in URL authority: a "." would make another host of it`
	}
	return text, reason
}

func escapePort(v any) (string, string) {
	text := Format(v)
	if !digits.MatchString(text) {
		return "", "value not allowed in URL authority: a port has digits only"
	}
	return text, ""
}

// escapeBaseURL accepts an absolute URL to which a path, a query or a fragment
// is added. It removes a trailing slash if a slash follows.
func escapeBaseURL(slashFollows bool) escaper {
	const reason = "a value at the start of a URL must be an absolute http or https URL without user, query and fragment"
	return func(v any) (string, string) {
		text := Format(v)
		m := urlBase.FindStringSubmatchIndex(text)
		if m == nil {
			return "", reason
		}
		path := ""
		if m[2] >= 0 {
			path = text[m[2]:]
		}
		encoded, reason := pathText(path, pathChars+"/")
		for _, segment := range strings.Split(path, "/") {
			if isDotSegment(segment) || encodedControl.MatchString(segment) {
				reason = reasonDotSegment
			}
		}
		if slashFollows {
			encoded = strings.TrimSuffix(encoded, "/")
		}
		return text[:len(text)-len(path)] + encoded, reason
	}
}

// isDotSegment reports whether a browser treats a segment as "." or "..".
func isDotSegment(segment string) bool {
	s := strings.ReplaceAll(strings.ToLower(segment), "%2e", ".")
	return s == "." || s == ".."
}

// percent percent-encodes every byte that is not a letter, a digit or in keep.
// Existing percent-encodings are kept.
func percent(text, keep string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case isAlphanumeric(c), strings.IndexByte(keep, c) >= 0,
			c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
