package requests

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"rote/routine"
)

// place is where a value of a request is.
type place int

const (
	inPath place = iota
	inQuery
	inHeader
	inJSON
	inForm // of either encoding
	inText
)

// leaf is one value of a request, decoded.
type leaf struct {
	place place
	name  string // of the header, parameter, field or nearest member
	value string
	kind  byte // of a JSON value; else '"'
}

// literal is the value as it is.
func (l leaf) literal() template { return template{{text: l.value}} }

// traceWords are words of names whose values are worth tracing even if they look like
// ordinary words.
var traceWords = []string{"id", "uid", "uuid", "cursor", "after", "before", "next", "continuation", "nonce", "state", "hash", "version"}

// worth reports whether the value looks like one that a run cannot repeat, so that it is
// worth asking where it comes from.
func (l leaf) worth() bool {
	if l.kind != '"' && l.kind != '0' || dateForm.MatchString(l.value) {
		return false
	}
	if secretValue(l.name, l.value) {
		return true
	}
	return len(l.value) >= minTraced && len(l.value) <= maxTraced && !strings.ContainsAny(l.value, "\n\r") &&
		(tokenLike(l.value) || hasWord(l.name, traceWords) && !strings.Contains(l.value, " "))
}

var pieceForm = regexp.MustCompile(`[A-Za-z0-9_+/=.~%-]{8,}`)

// pieces are the parts of the value that may be tokens themselves, as in "Bearer abc…".
func (l leaf) pieces() []string {
	if l.kind != '"' || len(l.value) > maxTraced || strings.ContainsAny(l.value, "\n\r") || l.name == "query" && strings.Contains(l.value, "{") {
		return nil
	}
	var all []string
	for _, p := range pieceForm.FindAllString(l.value, 16) {
		if p != l.value && tokenLike(p) {
			all = append(all, p)
		}
	}
	return all
}

// wantedValues are the values to look for in earlier answers.
func wantedValues(leaves []leaf, r *routine.Request) map[string]bool {
	wanted := map[string]bool{r.URL: true, pathAndQuery(r.URL): true}
	for i, l := range leaves {
		if i == maxLeaves {
			break
		}
		if l.worth() {
			wanted[l.value] = true
		}
		for _, p := range l.pieces() {
			wanted[p] = true
		}
	}
	return wanted
}

// pathAndQuery is a URL without its origin.
func pathAndQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.RequestURI()
}

// template is a text with placeholders. nil stands for nothing found.
type template []part

// part is a literal text or a placeholder with its braces.
type part struct {
	text  string
	token bool
	// number marks a placeholder that becomes the text of a number, which JSON has without
	// quotes; typed one that becomes a number or boolean by itself.
	number, typed bool
	// forced marks a placeholder in JSON quotes, which makes the value a text.
	forced bool
}

// token is a template of one placeholder.
func token(text string) template { return template{{text: text, token: true}} }

// isLiteral reports whether there is no placeholder.
func (t template) isLiteral() bool {
	for _, p := range t {
		if p.token {
			return false
		}
	}
	return true
}

// write returns the template with its literal texts encoded. Quotes directly around a
// placeholder are doubled, because one pair of them is a part of its syntax.
func (t template) write(encoded func(string) string) string {
	texts := make([]string, len(t))
	for i, p := range t {
		if texts[i] = p.text; !p.token && encoded != nil {
			texts[i] = encoded(p.text)
		}
	}
	var b strings.Builder
	for i, p := range t {
		quoted := p.token && i > 0 && i < len(t)-1 && strings.HasSuffix(texts[i-1], `"`) && strings.HasPrefix(texts[i+1], `"`)
		if quoted || p.forced {
			b.WriteString(`"` + texts[i] + `"`)
		} else {
			b.WriteString(texts[i])
		}
	}
	return b.String()
}

// hasBraces reports whether a literal text could be read as a placeholder.
func hasBraces(text string) bool { return strings.Contains(text, "{{") }

// jsonValue is the template as a JSON value in the place of a leaf.
func (t template) jsonValue(l leaf) any {
	if t.isLiteral() {
		switch l.kind {
		case '0':
			return json.Number(l.value)
		case 't', 'f':
			return l.kind == 't'
		case 'n':
			return nil
		}
	}
	return t.write(nil)
}
