package requests

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/placeholder"
)

// resolve returns the value of a leaf as an operation has it: with placeholders if it can
// be traced, as it is if it seems to be constant. found are the places of values in earlier
// answers.
func (t *tracer) resolve(r *routine.Request, l leaf, found map[string][]source, depth int) template {
	if typed, note := t.typed(l); typed != nil {
		if note != "" {
			t.note(typed.name(), note)
		}
		return typed
	}
	if l.kind != '"' && l.kind != '0' || l.value == "" {
		return l.literal()
	}
	secret := t.mask.text(l.value) != l.value || secretValue(l.name, l.value)
	if isPersistedHash(l) {
		t.warn("sha256Hash is that of the site's own query text and stays as it is: it changes when the site is updated")
		return l.literal()
	}
	if secret || l.worth() {
		if traced := t.tracedValue(r, l, found, depth); traced != nil {
			return traced
		}
	}
	switch {
	case hasBraces(l.value):
		return t.parameter(l, false)
	case secret:
		return t.parameter(l, true)
	case !l.worth():
	case t.sameElsewhere(r, l):
		t.note(l.name, "the same in other requests, so it stays as it is")
	case t.encodedTyped(l) != "":
		t.note(l.name, t.encodedTyped(l))
	default:
		t.note(l.name, "not found: likely computed by a script; a click path is steadier")
	}
	return l.literal()
}

// name is what a note about a template begins with.
func (t template) name() string {
	for _, p := range t {
		if p.token {
			return p.text
		}
	}
	return ""
}

func (t *tracer) warn(text string) {
	if !slices.Contains(t.out.Warnings, text) {
		t.out.Warnings = append(t.out.Warnings, text)
	}
}

func isPersistedHash(l leaf) bool {
	return l.name == "sha256Hash" && len(l.value) == 64 && hashForm.MatchString(l.value)
}

// minTypedPart is the length of the shortest typed text that is found within a longer value,
// minTypedWhole of one that is found as a whole value with another name.
const (
	minTypedPart  = 4
	minTypedWhole = 3
)

// typed returns the placeholder of the parameter whose value a leaf has, with a note. For a
// text that was typed without being a parameter it returns the literal.
func (t *tracer) typed(l leaf) (template, string) {
	var best *Typed
	for i := range t.from.Typed {
		typed := &t.from.Typed[i]
		text := placeholder.Format(typed.Value)
		if text == "" || text != l.value {
			continue
		}
		if len([]rune(text)) < minTypedWhole && !resembles(l.name, typed.Name) {
			if typed.Name != "" && t.mask.text(text) == text {
				t.note(l.name, fmt.Sprintf("stays %s, which is also the value of {{%s}}: write that if it is meant", quoteName(text), typed.Name))
			}
			continue
		}
		if best == nil || best.Name == "" && typed.Name != "" || resembles(l.name, typed.Name) && !resembles(l.name, best.Name) {
			best = typed
		}
	}
	if best != nil && (best.Name != "" || t.mask.text(l.value) == l.value && !hasBraces(l.value)) {
		return t.wholeTyped(l, best)
	}
	if l.kind != '"' {
		return nil, ""
	}
	for i := range t.from.Typed {
		typed := &t.from.Typed[i]
		if text := placeholder.Format(typed.Value); typed.Name != "" && len(text) >= minTypedPart {
			if within := replaceWord(l.value, text, "{{"+typed.Name+"}}"); within != nil && !t.secretRest(within) {
				return within, typedNote(typed)
			}
		}
	}
	return nil, ""
}

// typedQuietly is typed without any note.
func (t *tracer) typedQuietly(l leaf) template {
	notes := t.out.Notes
	found, _ := t.typed(l)
	t.out.Notes = notes
	return found
}

// wholeTyped is the template of a leaf whose whole value was typed.
func (t *tracer) wholeTyped(l leaf, typed *Typed) (template, string) {
	if typed.Name == "" {
		name := parameterName(l.name)
		t.note(l.name, fmt.Sprintf("%s, which was typed in operation %d: write {{%s}} instead to make it a parameter",
			quoteName(l.value), typed.Operation, name))
		return l.literal(), ""
	}
	token := part{text: "{{" + typed.Name + "}}", token: true}
	if l.place == inJSON {
		_, isText := typed.Value.(string)
		switch {
		case l.kind == '"' && !isText:
			token.forced = true
		case l.kind != '"' && isText:
			return template{token}, typedNote(typed) + ". The page sends it as a number or boolean: declare the parameter so"
		default:
			token.typed = !isText
		}
	}
	return template{token}, typedNote(typed)
}

func typedNote(typed *Typed) string {
	if typed.Operation == 0 {
		return "the value of the parameter"
	}
	return fmt.Sprintf("typed in operation %d", typed.Operation)
}

// resembles reports whether the name of a field or header has a word in common with that of
// a parameter, or contains it.
func resembles(name, parameter string) bool {
	a, b := strings.Join(words(name), ""), strings.Join(words(parameter), "")
	return b != "" && (strings.Contains(a, b) || len(a) > 0 && strings.Contains(b, a) ||
		slices.ContainsFunc(words(name), func(w string) bool { return len(w) > 2 && slices.Contains(words(parameter), w) }))
}

// replaceWord replaces a text within a longer one where no letter or digit adjoins it; nil
// if it is nowhere.
func replaceWord(text, word, by string) template {
	var all template
	rest, replaced := text, false
	for from := 0; ; {
		i := strings.Index(rest[from:], word)
		if i < 0 {
			break
		}
		i += from
		end := i + len(word)
		if i > 0 && isWordByte(rest[i-1]) || end < len(rest) && isWordByte(rest[end]) {
			from = i + 1
			continue
		}
		if i > 0 {
			all = append(all, part{text: rest[:i]})
		}
		all = append(all, part{text: by, token: true})
		rest, from, replaced = rest[end:], 0, true
	}
	if !replaced {
		return nil
	}
	if rest != "" {
		all = append(all, part{text: rest})
	}
	return all
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// secretRest reports whether the literal texts of a template must not be in an operation.
func (t *tracer) secretRest(value template) bool {
	return slices.ContainsFunc(value, func(p part) bool {
		return !p.token && (t.mask.holds(p.text) || t.mask.text(p.text) != p.text || hasBraces(p.text))
	})
}

// tracedValue traces a value, or the parts of it that look like tokens, to an earlier
// answer, the page, or the clock; nil if nothing has it.
func (t *tracer) tracedValue(r *routine.Request, l leaf, found map[string][]source, depth int) template {
	if text, note := t.sourceOf(r, l.value, l.name, found, depth); text != "" {
		t.note(l.name, note)
		if l.kind == '0' {
			return template{{text: text, token: true, number: true}}
		}
		return token(text)
	}
	if text, note := t.generated(r, l); text != "" {
		t.note(l.name, note)
		return token(text)
	}
	rest, all, traced := l.value, template(nil), false
	for _, piece := range l.pieces() {
		text, note := t.sourceOf(r, piece, l.name, found, depth)
		i := strings.Index(rest, piece)
		if text == "" || i < 0 {
			continue
		}
		t.note(l.name, note)
		if i > 0 {
			all = append(all, part{text: rest[:i]})
		}
		all, rest, traced = append(all, part{text: text, token: true}), rest[i+len(piece):], true
	}
	if rest != "" {
		all = append(all, part{text: rest})
	}
	if !traced || t.secretRest(all) {
		return nil
	}
	return all
}

// sourceOf returns the placeholder of a value that an earlier answer or the page has. An
// answer that only a request such as a log-in brings is the last choice: that request would
// be sent once more in each run.
func (t *tracer) sourceOf(r *routine.Request, value, name string, found map[string][]source, depth int) (token, note string) {
	all := found[value]
	acting := slices.IndexFunc(all, func(s source) bool { return !Safe(s.request) })
	if acting < 0 {
		acting = len(all)
	}
	if token, note = t.answerToken(all[:acting], depth); token != "" {
		return token, note
	}
	if token, note = t.pageToken(r, value, name); token != "" {
		return token, note
	}
	return t.answerToken(all[acting:], depth)
}

// clockSkew is how far a time of the page may be from that of the request.
const clockSkew = time.Minute

// freshWords are words of names whose uuids are made for each request.
var freshWords = []string{"request", "req", "trace", "correlation", "transaction", "idempotency", "nonce", "mutation", "message", "event", "span"}

// generated returns the placeholder of a value that the page makes anew each time: the time
// or a random uuid.
func (t *tracer) generated(r *routine.Request, l leaf) (token, note string) {
	if len(l.value) == 13 && intForm.MatchString(l.value) {
		ms, err := strconv.ParseInt(l.value, 10, 64)
		if err == nil && time.UnixMilli(ms).Sub(r.SentAt).Abs() <= clockSkew {
			return "{{epoch_milliseconds}}", "the time in milliseconds"
		}
	}
	isUUID := uuidForm.MatchString(l.value) && l.place != inPath && l.value == strings.ToLower(l.value)
	if isUUID && (hasWord(l.name, freshWords) || t.differsElsewhere(r, l) && !t.sameElsewhere(r, l)) {
		return "{{uuid}}", "a new uuid each time"
	}
	return "", ""
}

// sameElsewhere reports whether another request has the same value.
func (t *tracer) sameElsewhere(r *routine.Request, l leaf) bool {
	for i := range t.log {
		o := &t.log[i]
		if o.Number == r.Number {
			continue
		}
		if l.place == inHeader {
			if header(o, l.name) == l.value {
				return true
			}
			continue
		}
		if strings.Contains(o.URL, l.value) || strings.Contains(o.URL, url.QueryEscape(l.value)) || strings.Contains(o.Body, l.value) {
			return true
		}
	}
	return false
}

// differsElsewhere reports whether another request has another uuid under the same name.
func (t *tracer) differsElsewhere(r *routine.Request, l leaf) bool {
	for i := range t.log {
		o := &t.log[i]
		if o.Number == r.Number {
			continue
		}
		differs := func(value string) bool { return value != l.value && uuidForm.MatchString(value) }
		if l.place == inHeader && differs(header(o, l.name)) {
			return true
		}
		if u, err := url.Parse(o.URL); err == nil && l.place == inQuery && differs(u.Query().Get(l.name)) {
			return true
		}
		if l.place != inJSON {
			continue
		}
		if tree := bodyTree(o); tree != nil && !tree.walk(nil, func(path []step, n *node) bool {
			return nearestName(path) != l.name || !differs(n.text)
		}) {
			return true
		}
	}
	return false
}

// encodedTyped says that a value is the base64 or URL-encoded form of a typed one, which a
// placeholder cannot make; empty if it is not.
func (t *tracer) encodedTyped(l leaf) string {
	for _, typed := range t.from.Typed {
		text := placeholder.Format(typed.Value)
		if len(text) < minTypedPart || typed.Name == "" {
			continue
		}
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if plain, err := e.DecodeString(l.value); err == nil && strings.Contains(string(plain), text) {
				return fmt.Sprintf("base64 of a text with {{%s}}, which no placeholder can make: a js_evaluate with btoa can", typed.Name)
			}
		}
		if plain := unescapeQuery(l.value); plain != l.value && strings.Contains(plain, text) {
			return fmt.Sprintf("URL-encoded text with {{%s}}, which no placeholder can make: a js_evaluate with encodeURIComponent can", typed.Name)
		}
	}
	return ""
}
