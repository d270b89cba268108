package requests

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value that keeps the order of its members and the digits of its numbers.
type node struct {
	// kind is that of jsontext: one of { [ " 0 t f n.
	kind byte
	// text is the decoded string, or the JSON of a number, boolean or null.
	text    string
	members []member
	items   []*node
}

// member is one member of an object.
type member struct {
	name  string
	value *node
}

// parseJSON parses a JSON text as leniently as JSON.parse does; nil if it is none.
func parseJSON(text []byte) *node {
	d := jsontext.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	n, err := readNode(d)
	if err != nil {
		return nil
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil
	}
	return n
}

func readNode(d *jsontext.Decoder) (*node, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: byte(t.Kind())}
	switch n.kind {
	case '{':
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			m := member{name: name.String()}
			if m.value, err = readNode(d); err != nil {
				return nil, err
			}
			n.members = append(n.members, m)
		}
		_, err = d.ReadToken()
	case '[':
		for k := d.PeekKind(); k != ']' && k != 0; k = d.PeekKind() {
			item, err := readNode(d)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err = d.ReadToken()
	default:
		n.text = t.String()
	}
	return n, err
}

// member returns the value of a member; nil if there is none. Of several with the same
// name the last one counts.
func (n *node) member(name string) *node {
	if n == nil {
		return nil
	}
	var found *node
	for _, m := range n.members {
		if m.name == name {
			found = m.value
		}
	}
	return found
}

// scalar reports whether n is neither an object nor an array.
func (n *node) scalar() bool { return n.kind != '{' && n.kind != '[' }

// value returns n as decoded JSON, with each scalar replaced by what put returns. name is
// that of the nearest member around it.
func (n *node) value(name string, put func(name string, n *node) any) any {
	switch n.kind {
	case '{':
		object := make(map[string]any, len(n.members))
		for _, m := range n.members {
			object[m.name] = m.value.value(m.name, put)
		}
		return object
	case '[':
		array := make([]any, len(n.items))
		for i, item := range n.items {
			array[i] = item.value(name, put)
		}
		return array
	}
	return put(name, n)
}

// walk calls see for each scalar in n with the path to it: names of members, and indexes
// of items as decimal numbers. It stops when see returns false.
func (n *node) walk(path []step, see func(path []step, n *node) bool) bool {
	switch n.kind {
	case '{':
		for _, m := range n.members {
			if !m.value.walk(append(path, step{name: m.name}), see) {
				return false
			}
		}
	case '[':
		for i, item := range n.items {
			if !item.walk(append(path, step{index: i, isIndex: true}), see) {
				return false
			}
		}
	default:
		return see(path, n)
	}
	return true
}

// step is one step of a path: the name of a member or the index of an item.
type step struct {
	name    string
	index   int
	isIndex bool
}

// nearestName is the name of the last member on a path; empty if there is none.
func nearestName(path []step) string {
	for i := len(path) - 1; i >= 0; i-- {
		if !path[i].isIndex {
			return path[i].name
		}
	}
	return ""
}
