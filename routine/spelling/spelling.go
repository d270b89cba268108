// Package spelling returns how a text can be written in the places where runs put it: in
// URLs, forms, JSON, HTML, headers and scripts. A secret is searched in all its spellings.
package spelling

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
)

// minEncoded is the length of the shortest text that is searched in base64 and
// hexadecimal. A shorter one would be found by chance.
const minEncoded = 6

// Max is the length in bytes up to which a text is searched in other spellings. Each spelling
// takes as much memory again.
const Max = 64 << 10

// All returns text itself, first, and its encodings in URLs, forms, JSON, HTML,
// headers and scripts.
func All(text string) []string {
	if len(text) > Max {
		return []string{text}
	}
	all := append(Quoted(text), html.EscapeString(text))
	all = append(all, url.PathEscape(text), url.QueryEscape(text), escapeComponent(text), (&url.URL{Path: text}).EscapedPath(), queryOf(text))
	all = append(all, addresses(text)...)
	if f, err := strconv.ParseFloat(text, 64); err == nil && len(Magnitudes(text)) > 0 && math.Abs(f) < 1e21 {
		all = append(all, strconv.FormatFloat(f, 'f', -1, 64)) // as scripts write it
	}
	if len(text) >= minEncoded {
		all = append(all, hex.EncodeToString([]byte(text)))
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for before := range 3 {
				all = append(all, inBase64(alphabet, text, before))
			}
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// minCookie is the length in bytes of the shortest value of a cookie that is a secret. Shorter ones,
// as "1" and "light", would be found by chance.
const minCookie = 8

// Cookie returns the spellings of the value of a cookie, as it is and decoded; none if it is too
// short to be a secret.
func Cookie(value string) []string {
	if len(value) < minCookie {
		return nil
	}
	all := All(value)
	if plain, err := url.PathUnescape(value); err == nil && plain != value {
		all = append(all, All(plain)...)
	}
	return all
}

// maxHostName is how long the name of a host can be, in bytes.
const maxHostName = 255

// addresses returns how browsers write a text that is a host name or a URL.
func addresses(text string) []string {
	var all []string
	if len(text) <= maxHostName {
		for _, write := range []func(string) (string, error){routine.HostNames.ToASCII, routine.HostNames.ToUnicode} {
			if name, err := write(text); err == nil {
				all = append(all, strings.TrimRight(name, "."))
			}
		}
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" {
		return all
	}
	if (u.Scheme == "http" && u.Port() == "80") || (u.Scheme == "https" && u.Port() == "443") {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	if name, err := routine.HostNames.ToASCII(u.Hostname()); err == nil && !strings.Contains(u.Host, ":") {
		u.Host = name
	}
	u = u.JoinPath() // without dots
	all = append(all, u.String())
	u.User = nil
	all = append(all, u.String())
	u.Fragment, u.RawFragment = "", ""
	return append(all, u.String())
}

// Quoted returns text and its form between the quotes of JSON and Go strings.
func Quoted(text string) []string {
	all := []string{text}
	inScript, _ := json.Marshal(text) // with < as \u003c
	for _, quoted := range []string{routine.JSONText(text), string(inScript), strconv.Quote(text)} {
		all = append(all, quoted[1:len(quoted)-1])
	}
	return all
}

// inBase64 returns the base64 of text when before bytes precede it, without the
// characters that depend on neighbouring bytes.
func inBase64(alphabet *base64.Encoding, text string, before int) string {
	encoded := alphabet.EncodeToString(append(make([]byte, before), text...))
	return encoded[(before*8+5)/6 : (before+len(text))*8/6]
}

// escapeComponent escapes text like encodeURIComponent in JavaScript.
func escapeComponent(text string) string {
	t := strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	return strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(t)
}

// queryOf escapes text like a browser in the query of a URL.
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

var wholeNumber = regexp.MustCompile(`^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$`)

// Magnitudes returns the canonical values of a text as a number without its sign: the
// exact one, and the one rounded to a float64 as scripts do. It returns none if text
// is no number.
func Magnitudes(text string) []string {
	if len(text) > routine.MaxNumberText || !wholeNumber.MatchString(text) {
		return nil
	}
	n := strings.Trim(text, "+- \t\r\n\f\v")
	if !routine.FitsNumber(n) {
		return nil
	}
	values := []string{routine.CanonicalNumber(n)}
	if f, err := strconv.ParseFloat(n, 64); err == nil {
		values = append(values, routine.CanonicalNumber(strconv.FormatFloat(f, 'g', -1, 64)))
	}
	return values
}
