package parameters

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine/javascript"
	"rote/routine/placeholder"
)

// ReplaceValues returns a JSON text with the values that replace returns instead of its texts
// and numbers; nil keeps one. The rest of the text stays as it is, byte by byte. Pointers are
// relative to the text.
func ReplaceValues(text json.RawMessage, replace func(pointer string, value json.RawMessage) json.RawMessage) json.RawMessage {
	var out []byte
	kept := int64(0) // the end of what is in out
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		switch d.PeekKind() {
		case '"', '0':
		default:
			if _, err := d.ReadToken(); err != nil { // the end: an operation is well-formed
				return append(out, text[kept:]...)
			}
			continue
		}
		in, index := d.StackIndex(d.StackDepth())
		value, err := d.ReadValue()
		if err != nil {
			return append(out, text[kept:]...)
		}
		if in == '{' && index%2 == 0 {
			continue // the name of a member
		}
		if put := replace(string(d.StackPointer()), json.RawMessage(bytes.Clone(value))); put != nil {
			end := d.InputOffset()
			out = append(append(out, text[kept:end-int64(len(value))]...), put...)
			kept = end
		}
	}
}

// InURL replaces the path segments and query values of a URL that are the text.
func InURL(u, text, token string) string {
	rest, fragment, hasFragment := strings.Cut(u, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	origin := ""
	if i := strings.Index(path, "://"); i >= 0 {
		host, _, _ := strings.Cut(path[i+3:], "/")
		origin, path = path[:i+3+len(host)], path[i+3+len(host):]
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if decoded, err := url.PathUnescape(s); err == nil && decoded == text {
			segments[i] = token
		}
	}
	u = origin + strings.Join(segments, "/")
	if hasQuery {
		pairs := strings.Split(query, "&")
		for i, p := range pairs {
			key, value, _ := strings.Cut(p, "=")
			if decoded, err := url.QueryUnescape(value); err == nil && decoded == text {
				pairs[i] = key + "=" + token
			}
		}
		u += "?" + strings.Join(pairs, "&")
	}
	if hasFragment {
		u += "#" + fragment
	}
	return u
}

// inRegexp replaces the text where it stands in a regular expression as whole words, outside
// of character classes.
func inRegexp(expression, text, token string) string {
	return replaceWords(expression, regexp.QuoteMeta(text), token, func(before, after string) bool {
		inClass := strings.LastIndexByte(before, '[') > strings.LastIndexByte(before, ']')
		return !inClass && !strings.HasSuffix(before, `\`) && (after == "" || !strings.ContainsRune("*+?{", rune(after[0])))
	})
}

// inSelector replaces the text where it stands as whole words in the value of an attribute.
func inSelector(selector, text, token string) string {
	return replaceWords(selector, text, token, func(before, after string) bool {
		quotes := regexp.MustCompile(`\\.`).ReplaceAllString(before, "")
		for _, q := range []string{`"`, `'`} {
			if strings.Count(quotes, q)%2 == 1 && strings.Contains(after, q) {
				return true
			}
		}
		return strings.HasSuffix(before, "=") && strings.HasPrefix(after, "]")
	})
}

// replaceWords replaces each occurrence of text that is no part of a longer word and whose
// surroundings fit.
func replaceWords(in, text, token string, fits func(before, after string) bool) string {
	var b strings.Builder
	at := 0
	for {
		i := strings.Index(in[at:], text)
		if i < 0 || text == "" {
			b.WriteString(in[at:])
			return b.String()
		}
		before, after := in[:at+i], in[at+i+len(text):]
		left, _ := utf8.DecodeLastRuneInString(before)
		right, _ := utf8.DecodeRuneInString(after)
		b.WriteString(in[at : at+i])
		if !isWord(left) && !isWord(right) && fits(before, after) {
			b.WriteString(token)
		} else {
			b.WriteString(text)
		}
		at += i + len(text)
	}
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// stringsOf returns the values of the string literals of a script, in order.
func stringsOf(script string) []string {
	var values []string
	for _, s := range placeholder.ScriptStrings(script) {
		values = append(values, javascript.Unescape([]byte(script[s.Start+1:s.End-1])))
	}
	return values
}

// inScript replaces the string literals of a script that are the text. In single quotes a
// placeholder always becomes a text.
func inScript(script, text, token string) string {
	spans := placeholder.ScriptStrings(script)
	for _, s := range slices.Backward(spans) {
		if javascript.Unescape([]byte(script[s.Start+1:s.End-1])) == text {
			script = script[:s.Start] + "'" + token + "'" + script[s.End:]
		}
	}
	return script
}
