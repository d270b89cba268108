// Package jsontree reads the JSON of recordings, with the line of each value. It tolerates what
// tools and people leave in such files: a byte-order mark, comments and superfluous commas.
package jsontree

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// Kind is the kind of a value.
type Kind int

// The kinds. A missing value is Null too, so that a chain of Get never fails.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is one value of a text. The zero value is a missing one.
type Value struct {
	Kind Kind
	// Text is the text of a string; of a number, boolean or null it is how it is written.
	Text   string
	Items  []*Value
	Fields []Field
	// Line and Column count from 1, in characters.
	Line, Column int
}

// Field is a member of an object.
type Field struct {
	Name  string
	Value *Value
}

// missing is returned for members that there are not.
var missing = &Value{}

// Get returns a member of an object by its name, the first if there are several. It returns a
// missing value if there is none, or if v is no object.
func (v *Value) Get(name string) *Value {
	for _, f := range v.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return missing
}

// Has reports whether an object has a member that is not null.
func (v *Value) Has(name string) bool { return v.Get(name).Kind != Null }

// String returns the text of a string, and the way in which a number or boolean is written.
func (v *Value) String() string { return v.Text }

// IsTrue reports whether the value is true.
func (v *Value) IsTrue() bool { return v.Kind == Bool && v.Text == "true" }

// IsFalse reports whether the value is false.
func (v *Value) IsFalse() bool { return v.Kind == Bool && v.Text == "false" }

// Float returns a number, also one written as a string; 0 for others.
func (v *Value) Float() float64 {
	if v.Kind != Number && v.Kind != String {
		return 0
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	if err != nil || f != f {
		return 0
	}
	return f
}

// JSON returns the value as standard JSON.
func (v *Value) JSON() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v *Value) write(b *strings.Builder) {
	switch v.Kind {
	case Array:
		for i, item := range v.Items {
			b.WriteString([]string{"[", ","}[min(i, 1)])
			item.write(b)
		}
		if len(v.Items) == 0 {
			b.WriteByte('[')
		}
		b.WriteByte(']')
	case Object:
		for i, f := range v.Fields {
			b.WriteString([]string{"{", ","}[min(i, 1)])
			b.WriteString(routine.JSONText(f.Name) + ":")
			f.Value.write(b)
		}
		if len(v.Fields) == 0 {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case String:
		b.WriteString(routine.JSONText(v.Text))
	case Null:
		b.WriteString("null")
	default:
		b.WriteString(v.Text)
	}
}

// maxDepth bounds the nesting of a text.
const maxDepth = 100

// Parse reads one value. An error is a [routine.Error] with CodeInvalid and the place.
func Parse(text string) (*Value, error) {
	p := &parser{text: strings.TrimPrefix(text, "\ufeff"), line: 1}
	v := p.value(0)
	p.blank()
	if p.fault == "" && p.at < len(p.text) {
		p.fail("there is text after the end of the JSON value")
	}
	if p.fault != "" {
		problem := routine.Problem{Code: "json_syntax", Message: p.fault, Line: p.line, Column: p.column()}
		return nil, &routine.Error{Code: routine.CodeInvalid, Problems: []routine.Problem{problem},
			Message: fmt.Sprintf("line %d, column %d: %s", p.line, p.column(), p.fault)}
	}
	return v, nil
}

// parser reads a text from the beginning to the end, once.
type parser struct {
	text      string
	at        int
	line      int
	lineStart int // the offset of the line's first byte
	fault     string
}

func (p *parser) fail(format string, args ...any) {
	if p.fault == "" {
		p.fault = fmt.Sprintf(format, args...)
	}
}

// column counts from 1. The characters of a very long line are counted in bytes: files on one
// line would take quadratic time otherwise.
func (p *parser) column() int {
	if p.at-p.lineStart > 1<<10 {
		return p.at - p.lineStart + 1
	}
	return utf8.RuneCountInString(p.text[p.lineStart:p.at]) + 1
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) next() {
	if p.at >= len(p.text) {
		return
	}
	if p.peek() == '\n' {
		p.line++
		p.lineStart = p.at + 1
	}
	p.at++
}

// blank skips white space and comments.
func (p *parser) blank() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			p.next()
		case strings.HasPrefix(rest, "//"):
			for p.at < len(p.text) && p.peek() != '\n' {
				p.next()
			}
		case strings.HasPrefix(rest, "/*"):
			for p.at < len(p.text) && !strings.HasPrefix(p.text[p.at:], "*/") {
				p.next()
			}
			p.at = min(p.at+2, len(p.text))
		default:
			return
		}
	}
}

func (p *parser) value(depth int) *Value {
	p.blank()
	v := &Value{Line: p.line, Column: p.column()}
	if depth > maxDepth {
		p.fail("the JSON is nested more than %d deep", maxDepth)
		return v
	}
	switch c := p.peek(); {
	case p.at >= len(p.text):
		p.fail("the JSON ends too early")
	case c == '{':
		v.Kind = Object
		p.list('}', func() { v.Fields = append(v.Fields, p.field(depth)) })
	case c == '[':
		v.Kind = Array
		p.list(']', func() { v.Items = append(v.Items, p.value(depth+1)) })
	case c == '"':
		v.Kind, v.Text = String, p.str()
	default:
		v.Kind, v.Text = p.word()
	}
	return v
}

// list reads the elements of an array or object up to the bracket end.
func (p *parser) list(end byte, element func()) {
	p.next()
	for p.fault == "" {
		p.blank()
		switch p.peek() {
		case end:
			p.next()
			return
		case ',':
			p.next()
		default:
			element()
			if p.blank(); p.fault == "" && p.peek() != ',' && p.peek() != end {
				p.fail("a comma or %q is missing", string(end))
			}
		}
	}
}

func (p *parser) field(depth int) Field {
	if p.peek() != '"' {
		p.fail("the name of a member is missing")
		return Field{Value: missing}
	}
	name := p.str()
	p.blank()
	if p.fault == "" && p.peek() != ':' {
		p.fail("a colon is missing after %s", routine.Quote(routine.Truncate(name, 40)))
	}
	if p.fault != "" {
		return Field{Value: missing}
	}
	p.next()
	return Field{name, p.value(depth + 1)}
}

// str reads a string.
func (p *parser) str() string {
	start := p.at
	for p.next(); p.at < len(p.text) && p.peek() != '"' && p.peek() != '\n'; p.next() {
		if p.peek() == '\\' {
			p.next()
		}
	}
	if p.at >= len(p.text) || p.peek() != '"' {
		p.fail("a string has no end")
		return ""
	}
	p.next()
	var text string
	if inside := p.text[start+1 : p.at-1]; plainText(inside) {
		return inside
	}
	if err := json.Unmarshal([]byte(p.text[start:p.at]), &text); err != nil {
		p.fail("a string is not valid: %s", err)
	}
	return text
}

// plainText reports whether the inside of a string is its text: it has no escapes.
func plainText(inside string) bool {
	for i := range len(inside) {
		if c := inside[i]; c < ' ' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// word reads a number or a literal.
func (p *parser) word() (Kind, string) {
	start := p.at
	for p.at < len(p.text) && (p.peek() >= '0' && p.peek() <= '9' || p.peek() >= 'a' && p.peek() <= 'z' || strings.IndexByte("+-.E", p.peek()) >= 0) {
		p.next()
	}
	switch word := p.text[start:p.at]; {
	case word == "true", word == "false":
		return Bool, word
	case word == "null":
		return Null, word
	case routine.IsNumber(word):
		return Number, word
	}
	p.at = start
	p.fail("this is no JSON value")
	return Null, ""
}
