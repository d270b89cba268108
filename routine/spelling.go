package routine

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// minEncoded is the shortest text that is looked for in base64 and hexadecimal,
// where a shorter one would be found by chance.
const minEncoded = 6

// spellings are the ways in which URLs, forms, JSON, HTML, headers and scripts
// write a text, as it is first.
func spellings(text string) []string {
	all := append(quotings(text), html.EscapeString(text))
	for _, percent := range []string{url.PathEscape(text), url.QueryEscape(text), escapeComponent(text), (&url.URL{Path: text}).EscapedPath(), queryOf(text)} {
		all = append(all, percent, percentLower(percent))
	}
	if len(text) >= minEncoded {
		all = append(all, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))))
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for before := range 3 {
				all = append(all, inBase64(alphabet, text, before))
			}
		}
	}
	return all
}

// quotings are text and how it stands between the quotes of JSON and of Go.
func quotings(text string) []string {
	all := []string{text}
	inScript, _ := json.Marshal(text) // with < as \u003c
	for _, quoted := range []string{compact(text), string(inScript), strconv.Quote(text)} {
		all = append(all, quoted[1:len(quoted)-1])
	}
	return all
}

// inBase64 is what base64 makes of text with so many bytes before it, without
// the characters that other bytes have a part in.
func inBase64(alphabet *base64.Encoding, text string, before int) string {
	encoded := alphabet.EncodeToString(append(make([]byte, before), text...))
	return encoded[(before*8+5)/6 : (before+len(text))*8/6]
}

// escapeComponent is encodeURIComponent, which leaves some marks that Go
// escapes and escapes some that Go leaves.
func escapeComponent(text string) string {
	t := strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	return strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(t)
}

// queryOf is text as a browser puts it into the query of a URL: only what could
// not stand there is escaped.
func queryOf(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"#<>'`, c) >= 0 {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var percentEscape = regexp.MustCompile(`%[0-9A-F]{2}`)

// percentLower is an escaped text with small hexadecimal digits.
func percentLower(text string) string {
	return percentEscape.ReplaceAllStringFunc(text, strings.ToLower)
}
