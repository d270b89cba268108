package placeholder

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	prefixWord    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	prefixes      = []Source{SessionStorage, LocalStorage, Cookie, Meta, WindowProperty}
)

// Parse splits text into a template. What it faults stays plain text, as does a
// "{{" that is never closed. In a script "{{" may be JavaScript's own, two
// blocks in one another: what does not look like a token is left alone there.
// Bytes that are no UTF-8 become U+FFFD first.
func Parse(text string, place Place) (*Template, []Fault) {
	t := &Template{place: place, text: strings.ToValidUTF8(text, "\uFFFD")}
	faults := t.split()
	if place != Script {
		t.eatQuotes(place == Selector || place == Regexp)
	}
	switch place {
	case URL:
		t.placeURL()
	case Selector:
		t.eatBackslashes()
		t.placeSelector()
	case Script:
		t.eatBackslashes()
		t.placeScript()
	case Regexp:
		t.eatBackslashes()
		t.placeRegexp()
	case Header:
		t.putAll(putHeader)
	case Filename:
		t.putAll(putFilename)
		t.whole = wholeFilename
	default:
		t.putAll(func(v any) (string, string) { return Format(v), "" })
	}
	return t, faults
}

func (t *Template) putAll(p put) {
	for i := range t.holes {
		t.holes[i].put = p
	}
}

// split cuts the text at its tokens.
func (t *Template) split() []Fault {
	var faults []Fault
	plain := 0 // where the plain text since the last token starts
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
// inner two count, so that {"a":{{{n}}}} can be written; a fallback may hold
// braces that are closed in it, as ||{} does.
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

// readToken reads what stands between the braces. Without a token it is plain
// text, with a fault or, in a script, without.
func readToken(inner string, place Place) (*Token, *Fault) {
	name := strings.TrimSpace(inner)
	raw := shown(inner)
	switch {
	case name == "":
		if place == Script {
			return nil, nil // an empty block in a block
		}
		return nil, &Fault{Code: CodeEmpty, Message: raw + " is empty", Hint: "write the name of a parameter between the braces"}
	case name == string(UUID), name == string(EpochMilliseconds):
		if place == Script {
			return nil, notInScript(raw, Source(name))
		}
		return &Token{Source: Source(name), Key: name}, nil
	case isPrefix(name):
		return nil, noPath(raw, name)
	case parameterName.MatchString(name):
		return &Token{Source: Parameter, Name: name, Key: name}, nil
	}
	prefix, path, ok := strings.Cut(name, ":")
	prefix = strings.TrimSpace(prefix)
	if !ok || !prefixWord.MatchString(prefix) {
		return nil, unknown(raw, name, place)
	}
	if isPrefix(prefix) {
		return readPath(Source(prefix), path, raw, place)
	}
	near := nearestPrefix(prefix)
	if near == "" && place == Script {
		return nil, nil // a label in a block in a block
	}
	return nil, unknownPrefix(raw, prefix, near)
}

func readPath(source Source, path, raw string, place Place) (*Token, *Fault) {
	if place == Script {
		return nil, notInScript(raw, source)
	}
	path, fallback, ok := strings.Cut(path, "||")
	t := &Token{Source: source, Name: strings.TrimSpace(path)}
	t.Key = string(source) + ":" + t.Name
	if t.Name == "" {
		return nil, noPath(raw, string(source))
	}
	if ok {
		fallback = strings.TrimSpace(fallback)
		t.Fallback = &fallback
		t.Key += "||" + fallback
	}
	return t, nil
}

// eatQuotes removes one directly adjacent pair of double quotes around each
// token: the older dialect's mark of text. A doubled pair so keeps one. Where
// the backslash escapes, an escaped quote is not taken.
func (t *Template) eatQuotes(escapes bool) {
	for i := range t.holes {
		if !escapes || !dangling(strings.TrimSuffix(t.texts[i], `"`)) {
			t.eatPair(i)
		}
	}
}

// eatPair removes the quotes around hole i, if there are two.
func (t *Template) eatPair(i int) {
	left, right := t.texts[i], t.texts[i+1]
	if !strings.HasSuffix(left, `"`) || !strings.HasPrefix(right, `"`) {
		return
	}
	t.texts[i], t.texts[i+1] = left[:len(left)-1], right[1:]
	t.holes[i].before, t.holes[i].after = `"`+t.holes[i].before, `"`
}

// eatBackslashes removes a backslash that would escape the first character of a
// value instead of what its author meant, the brace.
func (t *Template) eatBackslashes() {
	for i := range t.holes {
		if left := t.texts[i]; dangling(left) {
			t.texts[i] = left[:len(left)-1]
			t.holes[i].before = `\` + t.holes[i].before
		}
	}
}

// dangling tells that text ends in a backslash which escapes what comes next.
func dangling(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

func isPrefix(word string) bool {
	for _, p := range prefixes {
		if string(p) == word {
			return true
		}
	}
	return false
}

// shown is a token for a message, shortened.
func shown(inner string) string {
	const most = 60
	if r := []rune(inner); len(r) > most {
		inner = string(r[:most]) + "…"
	}
	return fmt.Sprintf("{{%s}}", inner)
}
