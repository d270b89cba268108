package engine

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text in another form, for example unescaped. It maps each of its bytes to
// its origin in the original text.
type view struct {
	text  []byte
	spans []viewSpan // in order, without gaps
}

// viewSpan maps the bytes of a view from at to the next span's at. If they are as many
// as the original bytes between from and to, they map one to one; otherwise all to the
// whole part.
type viewSpan struct{ at, from, to int }

// viewOf returns a view of the unchanged text.
func viewOf(text string) *view {
	return &view{[]byte(text), []viewSpan{{0, 0, len(text)}}}
}

// add appends bytes that come from a part of the original.
func (v *view) add(text []byte, from, to int) {
	if last := len(v.spans) - 1; last >= 0 && len(text) == to-from {
		if s := &v.spans[last]; s.to == from && len(v.text)-s.at == s.to-s.from {
			s.to = to
			v.text = append(v.text, text...)
			return
		}
	}
	v.spans = append(v.spans, viewSpan{len(v.text), from, to})
	v.text = append(v.text, text...)
}

// origins maps positions of a view to the original. Positions must not decrease from
// call to call.
type origins struct {
	v *view
	n int // the viewSpan of the last position
}

// of returns the part of the original from which the bytes i to j come.
func (o *origins) of(i, j int) (from, to int) {
	spans := o.v.spans
	for o.n+1 < len(spans) && spans[o.n+1].at <= i {
		o.n++
	}
	from, _ = o.v.within(o.n, i, i+1)
	last := o.n
	for last+1 < len(spans) && spans[last+1].at < j {
		last++
	}
	_, to = o.v.within(last, j-1, j)
	return from, to
}

// within returns the part of the original from which the bytes i to j of one span
// come.
func (v *view) within(n, i, j int) (from, to int) {
	s := v.spans[n]
	if v.end(n)-s.at != s.to-s.from {
		return s.from, s.to
	}
	return s.from + i - s.at, s.from + j - s.at
}

// end returns the end of a span in the view.
func (v *view) end(n int) int {
	if n+1 < len(v.spans) {
		return v.spans[n+1].at
	}
	return len(v.text)
}

// alike returns how many bytes from i, at least one, map one to one and are of a kind.
func (o *origins) alike(i int, kind *[256]bool) int {
	from, to := o.of(i, i+1)
	text := o.v.text[i:o.v.end(o.n)]
	if to-from != 1 { // of an escape
		return 1
	}
	n := 1
	for n < len(text) && kind[text[n]] {
		n++
	}
	return n
}

// keptASCII are the ASCII characters that fold keeps.
var keptASCII = func() (kept [256]bool) {
	for c := range utf8.RuneSelf {
		kept[c] = !dropped(rune(c))
	}
	return kept
}()

// folded returns v as it is compared: in lower case, and without characters that are
// lost or added when a text is shown on one line, put into a URL, or typed.
func (v *view) folded() *view {
	f := &view{text: make([]byte, 0, len(v.text))}
	at := origins{v: v}
	for i := 0; i < len(v.text); {
		if keptASCII[v.text[i]] {
			n := at.alike(i, &keptASCII)
			from, to := at.of(i, i+n)
			f.add(v.text[i:i+n], from, to)
			for j, c := range f.text[len(f.text)-n:] {
				if c >= 'A' && c <= 'Z' {
					f.text[len(f.text)-n+j] = c + 'a' - 'A'
				}
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRune(v.text[i:])
		if n == 1 && r == utf8.RuneError { // no UTF-8
			from, to := at.of(i, i+1)
			f.add(v.text[i:i+1], from, to)
		} else if !dropped(r) {
			from, to := at.of(i, i+n)
			f.add(utf8.AppendRune(nil, unicode.ToLower(r)), from, to)
		}
		i += n
	}
	return f
}

// dropped reports whether r is ignored in comparisons: white space, invisible
// characters, and the plus sign, which encodes a space in forms.
func dropped(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == '+' || r == 0x7f
	}
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf)
}

// fold returns a text as it is compared: "First\nSecond" becomes "firstsecond".
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if dropped(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// literal are the bytes that do not begin an escape.
var literal = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = c != '%' && c != '\\' && c != '&'
	}
	return plain
}()

// unescaped returns v with the escapes of URLs, of JSON and program strings, and of
// HTML decoded once: "a%26amp;b" becomes "a&amp;b". It returns nil if there are none.
func (v *view) unescaped() *view {
	if !bytes.ContainsAny(v.text, `%\&`) {
		return nil
	}
	u := &view{text: make([]byte, 0, len(v.text))}
	at := origins{v: v}
	found := false
	for i := 0; i < len(v.text); {
		text, n := decodeEscape(v.text[i:])
		found = found || n > 0
		if n == 0 {
			n = at.alike(i, &literal)
			text = v.text[i : i+n]
		}
		from, to := at.of(i, i+n)
		u.add(text, from, to)
		i += n
	}
	if !found {
		return nil
	}
	return u
}

// maxEntity bounds the length of an HTML character reference in bytes.
const maxEntity = 33

// decodeEscape decodes the escape at the start of text and returns its length; 0 if
// there is none.
func decodeEscape(text []byte) (decoded []byte, length int) {
	switch text[0] {
	case '%':
		if r, ok := hexadecimal(text, 1, 2); ok {
			return []byte{byte(r)}, 3
		}
	case '&':
		end := bytes.IndexByte(text[:min(len(text), maxEntity)], ';')
		if end < 0 {
			return nil, 0
		}
		reference := string(text[:end+1])
		if plain := html.UnescapeString(reference); plain != reference {
			return []byte(plain), len(reference)
		}
	case '\\':
		return decodeBackslash(text)
	}
	return nil, 0
}

func decodeBackslash(text []byte) (decoded []byte, length int) {
	if len(text) < 2 {
		return nil, 0
	}
	switch text[1] {
	case 'n', 'r', 't', 'b', 'f', 'v':
		return []byte(" "), 2
	case 'x':
		if r, ok := hexadecimal(text, 2, 2); ok {
			return utf8.AppendRune(nil, r), 4
		}
	case 'U':
		if r, ok := hexadecimal(text, 2, 8); ok {
			return utf8.AppendRune(nil, r), 10
		}
	case 'u':
		if end := bytes.IndexByte(text[:min(len(text), 11)], '}'); end > 3 && text[2] == '{' {
			if r, ok := hexadecimal(text, 3, end-3); ok {
				return utf8.AppendRune(nil, r), end + 1
			}
		}
		r, ok := hexadecimal(text, 2, 4)
		if !ok {
			break
		}
		if utf16.IsSurrogate(r) && len(text) > 7 && text[6] == '\\' && text[7] == 'u' {
			if low, ok := hexadecimal(text, 8, 4); ok {
				return utf8.AppendRune(nil, utf16.DecodeRune(r, low)), 12
			}
		}
		return utf8.AppendRune(nil, r), 6
	}
	_, n := utf8.DecodeRune(text[1:])
	return text[1 : 1+n], 1 + n
}

// hexadecimal reads a number of hexadecimal digits of text at an offset.
func hexadecimal(text []byte, at, digits int) (rune, bool) {
	if len(text) < at+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[at:at+digits]), 16, 32)
	return rune(n), err == nil && n <= unicode.MaxRune
}
