package placeholder

import (
	"strings"
	"unicode"
)

// FitsHeader reports whether a browser can send text in a header, where each
// character is one byte.
func FitsHeader(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > 0xff })
}

// escapeHeader rejects values that would end the header line or cannot be sent.
func escapeHeader(v any) (string, string) {
	text := Format(v)
	if !FitsHeader(text) {
		return "", "a header's value cannot hold characters beyond U+00FF: encode them"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		return "", "a header's value cannot hold line breaks or other control characters"
	}
	return text, ""
}

// escapeFilename reduces a value to its base name without control characters.
func escapeFilename(v any) (string, string) { return baseName(Format(v)), "" }

// checkFilename reduces the whole text to its base name and rejects one that is
// not a file name. It blames the last token.
func checkFilename(text string, parts []string) (string, []rejection) {
	switch name := baseName(text); name {
	case "", ".", "..":
		return "", []rejection{{len(parts) - 1, "what comes out is no file name"}}
	default:
		return name, nil
	}
}

func baseName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, name)
}
