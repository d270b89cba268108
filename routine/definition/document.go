package definition

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"rote/routine"

	"github.com/go-json-experiment/json/jsontext"
)

// document is a JSON text as a tree of nodes that know their positions.
type document struct {
	src    string
	start  int // behind a byte-order mark
	root   node
	found  report // what is wrong with the text as JSON
	broken bool   // it is no JSON at all: root is not to be used
	taken  bool   // a key was taken for another name
	// own is how many bytes of src the caller wrote if src is a patch merged into a
	// definition (see mergedInto); 0: all of it; negative: none.
	own int
}

// node is one value of a document.
type node struct {
	kind jsontext.Kind // as in jsontext: { [ " 0 t f n
	// bad: a problem has been reported for this value, and what follows from
	// it is not worth another.
	bad bool
	// taken reports whether a misspelt value was replaced by the one probably meant.
	taken      bool
	start, end int32
	text       string // the value of a string, or the spelling of a number
	kids       *kids  // of an object or array; otherwise nil
}

// kids are the values in an array, or those in an object with their keys.
type kids struct {
	keys  []key
	nodes []node
}

// key is the name of an object's member. as is the field for which it is taken: its
// name, or the field that a misspelt name probably means.
type key struct {
	name, as   string
	start, end int32
	bad        bool
}

// items returns the values in an array or object.
func (n *node) items() []node {
	if n.kids == nil {
		return nil
	}
	return n.kids.nodes
}

// keys returns the keys of an object.
func (n *node) keys() []key {
	if n.kids == nil {
		return nil
	}
	return n.kids.keys
}

// member returns the value of a field of an object, or nil.
func (n *node) member(name string) *node {
	if n == nil {
		return nil
	}
	for i, k := range n.keys() {
		if k.as == name {
			return &n.kids.nodes[i]
		}
	}
	return nil
}

// keyOf returns the key under which member finds a value.
func (n *node) keyOf(name string) *key {
	return &n.kids.keys[slices.IndexFunc(n.keys(), func(k key) bool { return k.as == name })]
}

// value returns the node as encoding/json would decode it, with numbers as
// json.Number.
func (n *node) value() any {
	switch n.kind {
	case '{':
		object := make(map[string]any, len(n.items()))
		for i, k := range n.keys() {
			if !k.bad {
				object[k.name] = n.kids.nodes[i].value()
			}
		}
		return object
	case '[':
		list := make([]any, len(n.items()))
		for i := range list {
			list[i] = n.kids.nodes[i].value()
		}
		return list
	case '"':
		return n.text
	case '0':
		return json.Number(n.text)
	case 't':
		return true
	case 'f':
		return false
	}
	return nil
}

// raw returns the node's text.
func (d *document) raw(n *node) []byte { return []byte(d.src[n.start:n.end]) }

// sound returns the node's text without its bad parts: bad fields of an object are
// left out, so that they take their defaults, and bad items of a list are replaced, so
// that it keeps its length.
func (d *document) sound(n *node) []byte { return d.appendSound(nil, n) }

func (d *document) appendSound(out []byte, n *node) []byte {
	switch {
	case n.bad:
		return append(out, "null"...)
	case n.kind == '[':
		out = append(out, '[')
		for i := range n.items() {
			if i > 0 {
				out = append(out, ',')
			}
			out = d.appendSound(out, &n.kids.nodes[i])
		}
		return append(out, ']')
	case n.taken:
		return strconv.AppendQuote(out, n.text) // a plain word
	case n.kind != '{':
		return append(out, d.src[n.start:n.end]...)
	}
	out = append(out, '{')
	first := true
	for i, k := range n.keys() {
		if k.bad || n.kids.nodes[i].bad {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		if k.as == k.name {
			out = append(append(out, d.src[k.start:k.end]...), ':')
		} else {
			out = append(strconv.AppendQuote(out, k.as), ':') // a plain field's name
		}
		out = d.appendSound(out, &n.kids.nodes[i])
	}
	return append(out, '}')
}

// find follows a JSON pointer from n as far as it leads. It returns the value and, if
// that is in an object, its key. Misspelt fields are found under their intended names.
// rest is the part of the pointer that leads nowhere.
func (n *node) find(pointer string) (at *node, under *key, rest string) {
	for rest = pointer; rest != ""; {
		part := rest[1:]
		if end := strings.IndexByte(part, '/'); end >= 0 {
			part = part[:end]
		}
		i := n.index(routine.UnescapePointer(part))
		if i < 0 {
			break
		}
		under = nil
		if n.kind == '{' {
			under = &n.kids.keys[i]
		}
		n, rest = &n.kids.nodes[i], rest[1+len(part):]
	}
	return n, under, rest
}

// written returns a JSON pointer with the field names that the author wrote.
func (n *node) written(pointer string) string {
	var b strings.Builder
	for pointer != "" {
		end := 1 + len(pointer[1:])
		if i := strings.IndexByte(pointer[1:], '/'); i >= 0 {
			end = 1 + i
		}
		next, under, rest := n.find(pointer[:end])
		if rest != "" {
			break
		}
		if under != nil {
			b.WriteString("/" + routine.EscapePointer(under.name))
		} else {
			b.WriteString(pointer[:end])
		}
		n, pointer = next, pointer[end:]
	}
	return b.String() + pointer
}

// index returns the index among the items of n to which a step of a pointer leads, or
// -1.
func (n *node) index(part string) int {
	if n.kind == '{' {
		return slices.IndexFunc(n.keys(), func(k key) bool { return k.as == part })
	}
	if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(n.items()) {
		return i
	}
	return -1
}

// hasBad reports whether a field of n is bad.
func (n *node) hasBad() bool {
	return slices.ContainsFunc(n.keys(), func(k key) bool { return k.bad }) ||
		slices.ContainsFunc(n.items(), func(n node) bool { return n.bad })
}

// stringOffset maps byte offsets in a string's value to offsets in its raw text. In
// "a\nb" the value's offset 2, of b, is the raw offset 4, counting the quote. It
// continues where it stopped, so that any number of increasing offsets costs one pass.
type stringOffset struct {
	raw     string // with its quotes
	at      int    // in raw
	decoded int    // how many bytes of the value raw[:at] stands for
}

func (s *stringOffset) of(offset int) int {
	if s.at == 0 || offset < s.decoded {
		s.at, s.decoded = 1, 0
	}
	for s.at < len(s.raw)-1 && s.decoded < offset {
		size, length := unescape(s.raw[s.at:])
		s.at, s.decoded = s.at+length, s.decoded+size
	}
	return s.at
}

// unescape looks at the character at the start of a string's raw text. It returns the
// bytes that it takes in the value and those that it takes in the raw text: 1 and 2
// for \n. What is not valid Unicode counts as the replacement character.
func unescape(raw string) (size, length int) {
	if raw[0] != '\\' {
		c, n := utf8.DecodeRuneInString(raw)
		return utf8.RuneLen(c), n
	}
	first, ok := unicodeEscape(raw)
	if !ok {
		return 1, 2
	}
	if second, ok := unicodeEscape(raw[6:]); ok && utf16.DecodeRune(first, second) != utf8.RuneError {
		return 4, 12
	}
	if utf16.IsSurrogate(first) {
		first = utf8.RuneError
	}
	return utf8.RuneLen(first), 6
}

// unicodeEscape reads a \uXXXX escape at the start of raw.
func unicodeEscape(raw string) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	c, err := strconv.ParseUint(raw[2:6], 16, 32)
	return rune(c), err == nil
}
