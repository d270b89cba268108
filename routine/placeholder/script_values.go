package placeholder

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

var (
	jsonNumber  = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)
	wordPart    = regexp.MustCompile(`^[A-Za-z0-9_$]*$`)
	maybeDigits = regexp.MustCompile(`^[0-9]*$`)
)

// literalContext is a place where a value becomes a JavaScript literal.
type literalContext struct {
	key     bool // the literal is a property key
	touches bool // a number needs parentheses, or it would merge with its neighbor
	name    bool // an identifier would not, because the token is one itself
}

// escapeCode returns the literal of any value.
func (a literalContext) escapeCode(v any) (string, string) {
	if a.key {
		return a.escapeKey(v)
	}
	if s, ok := v.(string); ok {
		return scriptString(s), ""
	}
	return a.scalar(scriptLiteral(v)), ""
}

// escapeAfterWord is escapeCode for a token that directly follows a keyword.
func (a literalContext) escapeAfterWord(v any) (string, string) {
	text, reason := a.escapeCode(v)
	return " " + text, reason
}

// escapeQuoted is escapeCode for a token in double quotes: only numbers and
// booleans keep their types.
func (a literalContext) escapeQuoted(v any) (string, string) {
	if a.key {
		return a.escapeKey(v)
	}
	if text := Format(v); isString(v) || !jsonNumber.MatchString(text) && text != "true" && text != "false" {
		return scriptString(text), ""
	}
	return a.scalar(scriptLiteral(v)), ""
}

// escapeKey returns a string as property key. __proto__ is a normal property
// only in brackets.
func (a literalContext) escapeKey(v any) (string, string) {
	return scriptKey(Format(v)), ""
}

func (a literalContext) scalar(literal string) string {
	isNumber := '0' <= literal[0] && literal[0] <= '9'
	if a.touches && (isNumber || !a.name && literal[0] != '(') {
		return "(" + literal + ")"
	}
	return literal
}

func isString(v any) bool {
	_, ok := v.(string)
	return ok
}

// scriptLiteral returns the literal of a value, in parentheses if it starts
// with a sign or a brace.
func scriptLiteral(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return scriptString(v)
	case map[string]any:
		members := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			members = append(members, scriptKey(k)+":"+scriptLiteral(v[k]))
		}
		return "({" + strings.Join(members, ",") + "})"
	case []any:
		elements := make([]string, len(v))
		for i, e := range v {
			elements[i] = scriptLiteral(e)
		}
		return "[" + strings.Join(elements, ",") + "]"
	}
	text := Format(v)
	switch {
	case jsonNumber.MatchString(text) && text[0] == '-':
		return "(" + text + ")"
	case jsonNumber.MatchString(text), text == "true", text == "false", text == "null":
		return text
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var decoded any
	if _, isNumber := v.(json.Number); isNumber || d.Decode(&decoded) != nil {
		return scriptString(text)
	}
	return scriptLiteral(decoded)
}

func scriptKey(name string) string {
	if name == "__proto__" {
		return `["__proto__"]`
	}
	return scriptString(name)
}

func scriptString(text string) string { return `"` + scriptText(text) + `"` }

func escapeScriptText(v any) (string, string) { return scriptText(Format(v)), "" }

// scriptText escapes text for a string or template with any kind of quotes. The
// result contains nothing that HTML or JavaScript could take for a tag or
// comment.
func scriptText(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case strings.ContainsRune("\"'`\\/${", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeInLiteral is escape between slashes, where an empty pattern would start
// a comment.
func (h patternHole) escapeInLiteral(v any) (string, string) {
	text, reason := h.escape(v)
	if text == "" {
		text = "(?:)"
	}
	return text, reason
}

func escapeScriptFlags(v any) (string, string) {
	if text := Format(v); letters.MatchString(text) {
		return text, ""
	}
	return "", "a value among the flags of a regular expression may have letters only"
}

func escapeScriptDigits(v any) (string, string) {
	if text := Format(v); maybeDigits.MatchString(text) {
		return text, ""
	}
	return "", "a value glued to a number in a script must be digits"
}

func escapeScriptWord(v any) (string, string) {
	if text := Format(v); wordPart.MatchString(text) {
		return text, ""
	}
	return "", `a value that is part of a name in a script may have letters, digits, "_" and "$" only; use object[{{name}}] for other property names`
}

// escapeScriptAnywhere is for an unknown context. The literal is harmless even
// inside another literal.
func escapeScriptAnywhere(v any) (string, string) {
	text := Format(v)
	if v == nil {
		text = "null"
	}
	if !isString(v) && (jsonNumber.MatchString(text) || text == "true" || text == "false" || text == "null") {
		return scriptLiteral(v), ""
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	b.WriteByte('"')
	return b.String(), ""
}
