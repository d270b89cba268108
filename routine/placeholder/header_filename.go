package placeholder

import (
	"strings"
	"unicode"
)

// FitsHeader tells whether a browser can send text in a header: a character of
// it is a byte.
func FitsHeader(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > 0xff })
}

// putHeader refuses what would end a header's line, or never be sent.
func putHeader(v any) (string, string) {
	text := Format(v)
	if !FitsHeader(text) {
		return "", "a header's value cannot hold characters beyond U+00FF: encode them"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		return "", "a header's value cannot hold line breaks or other control characters"
	}
	return text, ""
}

// putFilename takes the base name of a value, without control characters.
func putFilename(v any) (string, string) { return baseName(Format(v)), "" }

// wholeFilename takes the base name of the whole and refuses what names no
// file. The last token is to blame.
func wholeFilename(text string, parts []string) (string, []blame) {
	switch name := baseName(text); name {
	case "", ".", "..":
		return "", []blame{{len(parts) - 1, "what comes out is no file name"}}
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
