package routine

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// EncodeJSON encodes v like json.Marshal, but writes <, > and & as they are: a
// definition comes back as its author wrote it, and HTML does not grow.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// RawJSON is [EncodeJSON] for values that always encode, as texts and decoded
// JSON do. It returns null for any other.
func RawJSON(v any) json.RawMessage {
	text, err := EncodeJSON(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// JSONText is [RawJSON] as a string.
func JSONText(v any) string { return string(RawJSON(v)) }

// DecodeJSON decodes text like json.Unmarshal, except that numbers in a value of
// any type keep their digits, as json.Number.
func DecodeJSON(text []byte, into any) error {
	if _, open := into.(*any); !open {
		return json.Unmarshal(text, into) // half the cost
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// FirstByte returns the first byte of a JSON text that is not white space; 0 if
// there is none.
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

// EscapePointer returns a member's name as one step of a JSON pointer (RFC 6901).
func EscapePointer(name string) string { return pointerEscapes.Replace(name) }

// UnescapePointer returns the name that a step of a JSON pointer stands for.
func UnescapePointer(step string) string { return pointerUnescapes.Replace(step) }

// path is the way to the value that is looked at.
type Path []Segment

// segment is the name of a member, then index is -1, or the index of an item.
type Segment struct {
	Name  string
	Index int
}

func (p *Path) Member(name string) { *p = append(*p, Segment{name, -1}) }
func (p *Path) Item(i int)         { *p = append(*p, Segment{"", i}) }
func (p *Path) Pop()               { *p = (*p)[:len(*p)-1] }

// pointer is the path as a JSON pointer.
func (p Path) Pointer() string {
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
