package placeholder

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	prefixWord    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	prefixes      = []Source{SessionStorage, LocalStorage, Cookie, Meta, WindowProperty}
	// secretPrefixes are also allowed as names of parameters.
	secretPrefixes = []Source{Secret, TOTP, SentCode}
)

// Parse parses text as a template. Invalid tokens stay plain text, as does a
// "{{" that is never closed. In a script, "{{" may also be two nested
// JavaScript blocks: text that does not look like a token is ignored there.
// Invalid UTF-8 is first replaced by U+FFFD.
func Parse(text string, place Place) (*Template, []Fault) {
	t := &Template{place: place, text: strings.ToValidUTF8(text, "\uFFFD")}
	faults := t.splitTokens()
	if place != Script {
		t.absorbQuotes(place == Selector || place == Regexp)
	}
	switch place {
	case URL:
		t.prepareURL()
	case Selector:
		t.absorbBackslashes()
		t.prepareSelector()
	case Script:
		t.absorbBackslashes()
		t.prepareScript()
	case Regexp:
		t.absorbBackslashes()
		t.prepareRegexp()
	case Header:
		t.setEscapers(escapeHeader)
	case Filename:
		t.setEscapers(escapeFilename)
		t.checkWhole = checkFilename
	default:
		t.setEscapers(func(v any) (string, string) { return Format(v), "" })
	}
	return t, faults
}

func (t *Template) setEscapers(p escaper) {
	for i := range t.holes {
		t.holes[i].escape = p
	}
}

// splitTokens splits the text at its tokens.
func (t *Template) splitTokens() []Fault {
	var faults []Fault
	plain := 0 // start of the plain text after the last token
	for at := 0; ; {
		start, end, ok := nextBraces(t.text, at)
		if !ok {
			break
		}
		at = end
		token, fault := readToken(t.text[start+2:end-2], t.place)
		if fault != nil {
			fault.Offset = start
			faults = append(faults, *fault)
		}
		if token == nil {
			continue
		}
		token.Raw, token.Offset = t.text[start:end], start
		t.texts = append(t.texts, t.text[plain:start])
		t.holes = append(t.holes, hole{Token: *token})
		plain = end
	}
	t.texts = append(t.texts, t.text[plain:])
	return faults
}

// nextBraces finds the next innermost {{...}}. Of three braces in a row the
// inner two count, so that {"a":{{{n}}}} can be written. A fallback may contain
// balanced braces, as in ||{}.
func nextBraces(text string, from int) (start, end int, ok bool) {
	i := strings.Index(text[from:], "{{")
	if i < 0 {
		return 0, 0, false
	}
	start = from + i
	n := strings.Index(text[start+2:], "}}")
	if n < 0 {
		return 0, 0, false
	}
	end = start + 2 + n
	start += strings.LastIndex(text[start:end], "{{")
	if _, fallback, ok := strings.Cut(text[start+2:end], "||"); ok {
		open := strings.Count(fallback, "{") - strings.Count(fallback, "}")
		for ; open > 0 && strings.HasPrefix(text[end+2:], "}"); open-- {
			end++
		}
	}
	return start, end + 2, true
}

// readToken parses the text between the braces. If it returns no token, the
// text stays plain, with a fault or, in a script, possibly without.
func readToken(inner string, place Place) (*Token, *Fault) {
	name := strings.TrimSpace(inner)
	raw := displayToken(inner)
	switch {
	case name == "":
		if place == Script {
			return nil, nil // nested empty blocks
		}
		return nil, &Fault{Code: CodeEmpty, Message: raw + " is empty", Hint: "write the name of a parameter between the braces"}
	case name == string(UUID), name == string(EpochMilliseconds):
		if place == Script {
			return nil, notInScriptFault(raw, Source(name))
		}
		return &Token{Source: Source(name), Key: name}, nil
	case isPrefix(name):
		return nil, missingPathFault(raw, name)
	case parameterName.MatchString(name):
		return &Token{Source: Parameter, Name: name, Key: name}, nil
	}
	prefix, path, ok := strings.Cut(name, ":")
	prefix = strings.TrimSpace(prefix)
	if !ok || !prefixWord.MatchString(prefix) {
		return nil, unknownTokenFault(raw, name, place)
	}
	if isPrefix(prefix) {
		return readPath(Source(prefix), path, raw, place)
	}
	if Source(prefix).FromSecret() {
		return readSecret(Source(prefix), path, raw, place)
	}
	near := suggestPrefix(prefix, place)
	if near == "" && place == Script {
		return nil, nil // a label in nested blocks
	}
	return nil, unknownPrefixFault(raw, prefix, near)
}

func readPath(source Source, path, raw string, place Place) (*Token, *Fault) {
	if place == Script {
		return nil, notInScriptFault(raw, source)
	}
	path, fallback, ok := strings.Cut(path, "||")
	t := &Token{Source: source, Name: strings.TrimSpace(path)}
	t.Key = string(source) + ":" + t.Name
	if t.Name == "" {
		return nil, missingPathFault(raw, string(source))
	}
	if ok {
		fallback = strings.TrimSpace(fallback)
		t.Fallback = &fallback
		t.Key += "||" + fallback
	}
	return t, nil
}

// absorbQuotes removes one pair of double quotes directly around each token: an
// older syntax for text values. A doubled pair keeps one pair. If the backslash
// is an escape character here, an escaped quote is kept.
func (t *Template) absorbQuotes(escapes bool) {
	for i := range t.holes {
		if !escapes || !endsInEscape(strings.TrimSuffix(t.texts[i], `"`)) {
			t.absorbQuotePair(i)
		}
	}
}

// absorbQuotePair removes the double quotes around hole i, if there are two.
func (t *Template) absorbQuotePair(i int) {
	left, right := t.texts[i], t.texts[i+1]
	if !strings.HasSuffix(left, `"`) || !strings.HasPrefix(right, `"`) {
		return
	}
	t.texts[i], t.texts[i+1] = left[:len(left)-1], right[1:]
	t.holes[i].before, t.holes[i].after = `"`+t.holes[i].before, `"`
}

// absorbBackslashes removes a backslash before a token. It was meant to escape
// the brace, and would escape the first character of the value.
func (t *Template) absorbBackslashes() {
	for i := range t.holes {
		if left := t.texts[i]; endsInEscape(left) {
			t.texts[i] = left[:len(left)-1]
			t.holes[i].before = `\` + t.holes[i].before
		}
	}
}

// endsInEscape reports whether text ends in a backslash that escapes the next
// character.
func endsInEscape(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

func isPrefix(word string) bool { return slices.Contains(prefixes, Source(word)) }

// displayToken returns a token for an error message, truncated.
func displayToken(inner string) string {
	const most = 60
	if r := []rune(inner); len(r) > most {
		inner = string(r[:most]) + "…"
	}
	return fmt.Sprintf("{{%s}}", inner)
}
