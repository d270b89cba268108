package routine

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// EncodeJSON encodes v like json.Marshal but does not escape <, > and &: authors get
// their definitions back as they wrote them, and HTML does not grow.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// RawJSON is like [EncodeJSON], for values that cannot fail to encode, such as texts
// and decoded JSON. It returns null if v does fail.
func RawJSON(v any) json.RawMessage {
	text, err := EncodeJSON(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// JSONText is [RawJSON] as a string.
func JSONText(v any) string { return string(RawJSON(v)) }

// DecodeJSON decodes text like json.Unmarshal, but decodes numbers of unknown type as
// json.Number, which keeps their digits, if into is a *any.
func DecodeJSON(text []byte, into any) error {
	if _, open := into.(*any); !open {
		return json.Unmarshal(text, into) // half the cost
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// DecodeStored decodes a stored JSON object into a struct. newer reports whether the object has
// fields that the struct does not have, because a newer version of rote has stored it. Types with
// an UnmarshalJSON of their own decide about fields of theirs.
func DecodeStored[T any](stored []byte, into *T) (newer bool, err error) {
	d := json.NewDecoder(bytes.NewReader(stored))
	d.DisallowUnknownFields()
	if d.Decode(into) == nil {
		return false, nil
	}
	*into = *new(T)
	err = json.Unmarshal(stored, into)
	return err == nil, err
}

// FirstByte returns the first byte of a JSON text after white space, or 0 if there is
// none.
func FirstByte(text []byte) byte {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

var (
	pointerEscapes   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// EscapePointer escapes a member's name as one step of a JSON pointer (RFC 6901):
// "a/b" becomes "a~1b".
func EscapePointer(name string) string { return pointerEscapes.Replace(name) }

// UnescapePointer reverses [EscapePointer].
func UnescapePointer(step string) string { return pointerUnescapes.Replace(step) }

// Pointer is the position of a value in a JSON text. A reader that walks through the
// text appends a step for each member or item that it enters and removes it
// afterwards.
type Pointer []PointerStep

// PointerStep is one step of a [Pointer]: a member of an object, with Index -1, or an
// item of an array, without Name.
type PointerStep struct {
	Name  string
	Index int
}

// Member appends the step into the member with a name.
func (p *Pointer) Member(name string) { *p = append(*p, PointerStep{name, -1}) }

// Item appends the step into the item with an index.
func (p *Pointer) Item(i int) { *p = append(*p, PointerStep{"", i}) }

// Pop removes the last step.
func (p *Pointer) Pop() { *p = (*p)[:len(*p)-1] }

// String returns the position as a JSON pointer (RFC 6901), as in "/operations/0/url".
func (p Pointer) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteByte('/')
		if s.Index < 0 {
			b.WriteString(EscapePointer(s.Name))
		} else {
			b.WriteString(strconv.Itoa(s.Index))
		}
	}
	return b.String()
}
