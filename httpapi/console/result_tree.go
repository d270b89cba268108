package console

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxTreeNodes = 2000
	maxTreeDepth = 50
	// openTreeNodes is how many children the values at the top may have to be shown open.
	openTreeNodes = 50
)

// treeNode is a value of JSON with its name in the object that contains it.
type treeNode struct {
	// Named reports whether the value is a member of an object, Name its name as JSON has it.
	Named bool
	Name  string
	// Text is the JSON of a value without children, and how many children others have.
	Text     string
	Nested   bool
	Open     bool
	Children []*treeNode
}

// readTree returns the tree of a JSON value in the order and with the digits that it has. It
// returns nil if the value is larger than the limits.
func readTree(data []byte) *treeNode {
	if len(data) > maxShownBytes {
		return nil
	}
	r := &treeReader{d: jsontext.NewDecoder(bytes.NewBuffer(data), lenientJSON...), nodes: maxTreeNodes, bytes: maxShownBytes}
	root := &treeNode{}
	if !r.read(root, 0) {
		return nil
	}
	return root
}

// treeReader reads a tree. nodes and bytes are what is left of the limits.
type treeReader struct {
	d            *jsontext.Decoder
	nodes, bytes int
}

// take counts a text against the limits.
func (r *treeReader) take(text []byte) (string, bool) {
	for _, c := range text {
		r.bytes -= htmlLength(c)
	}
	return string(text), r.bytes >= 0
}

// read reads the next value into n. It returns false at a limit, or if it is no JSON.
func (r *treeReader) read(n *treeNode, depth int) (ok bool) {
	if r.nodes--; r.nodes < 0 || depth > maxTreeDepth {
		return false
	}
	kind := r.d.PeekKind()
	if kind != '{' && kind != '[' {
		v, err := r.d.ReadValue()
		if err != nil {
			return false
		}
		n.Text, ok = r.take(v)
		return ok
	}
	if _, err := r.d.ReadToken(); err != nil {
		return false
	}
	n.Nested = true
	for next := r.d.PeekKind(); next != '}' && next != ']'; next = r.d.PeekKind() {
		child := &treeNode{Named: kind == '{'}
		if child.Named {
			name, err := r.d.ReadValue()
			if err != nil {
				return false
			}
			if child.Name, ok = r.take(name); !ok {
				return false
			}
		}
		if !r.read(child, depth+1) {
			return false
		}
		n.Children = append(n.Children, child)
	}
	n.Open = depth < 2 && len(n.Children) <= openTreeNodes
	if n.Text = fmt.Sprintf("{%d}", len(n.Children)); kind == '[' {
		n.Text = fmt.Sprintf("[%d]", len(n.Children))
	}
	_, err := r.d.ReadToken()
	return err == nil
}
