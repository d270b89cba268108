package sanitize

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"math"
	"strconv"

	"rote/routine"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxJSONValues bounds the values of a response that is searched. Each takes 12
	// bytes besides the text.
	maxJSONValues = 4_000_000
	// maxPathDepth bounds the nesting of a response that is searched.
	maxPathDepth = 500
	// maxPathText bounds the output in bytes if the run sets no limit.
	maxPathText = 64 << 20
)

// jsonDocument is an index of a JSON text: it has the offset of each value and which
// values are inside which. The values themselves stay in the text, so a document of
// many small values takes little more memory than its text.
type jsonDocument struct {
	text  []byte
	nodes []jsonNode
	// replaced maps a member whose name occurs again in its object to the last member
	// of that name, whose value counts. The later members are removed.
	replaced map[jsonNodeID]jsonNodeID
	removed  []uint64 // a bit for each node; nil: none is removed
}

// jsonNode is one value. In {"a":[1]} the nodes are the object, the array and 1; the
// array has name 1, start 5 and end 3, because no node follows it.
type jsonNode struct {
	name  uint32 // offset of the quote that begins the member's name; noName for no member
	start uint32 // offset of the value
	end   uint32 // the node after this one and all that is inside it
}

// jsonNodeID is the index of a node. The nodes inside a node follow it.
type jsonNodeID uint32

const (
	rootNode jsonNodeID = 0
	noName              = math.MaxUint32
)

// readJSON indexes a JSON text. Like a browser it accepts duplicate names and invalid
// UTF-8. Its time is linear in the size of the text.
func readJSON(ctx context.Context, text []byte) (*jsonDocument, error) {
	if len(text) >= noName {
		return nil, fmt.Errorf("it has more than %d bytes", uint32(noName))
	}
	values, err := countJSON(text)
	if err != nil {
		return nil, err
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := d.SkipValue(); err != nil {
		return nil, errors.New("it is none")
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows the JSON")
	}
	if ctx.Err() != nil {
		return nil, routine.CauseOf(ctx)
	}
	b := &jsonIndexer{doc: &jsonDocument{text: text, nodes: make([]jsonNode, 0, values)}, seed: maphash.MakeSeed()}
	b.value(skipSpace(text, 0), noName)
	return b.doc, nil
}

// countJSON counts the values of a JSON text. It returns an error if there are too
// many or if they are nested too deeply.
func countJSON(text []byte) (int, error) {
	values, depth := 1, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			if depth++; depth > maxPathDepth {
				return 0, fmt.Errorf("it nests more than %d deep", maxPathDepth)
			}
			if i = skipSpace(text, i+1) - 1; i+1 < len(text) && text[i+1] != '}' && text[i+1] != ']' {
				values++
			}
		case '}', ']':
			depth--
		case ',':
			values++
		}
	}
	if values > maxJSONValues {
		return 0, errManyValues
	}
	return values, nil
}

// errManyValues refuses a response whose index would take too much memory.
var errManyValues = routine.Errorf(routine.CodeResultTooLarge,
	"the response has more than %d JSON values, which is the limit of json_path and drop: ask the site for fewer, or pick the values in the page with js_evaluate",
	maxJSONValues)

// skipSpace returns the offset of the first byte from i that is not white space.
func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the offset after the JSON string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(text)
}

// scalarEnd returns the offset after the number, true, false or null at i.
func scalarEnd(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
	}
	return i
}

// jsonIndexer adds the nodes of valid JSON to a document.
type jsonIndexer struct {
	doc  *jsonDocument
	seed maphash.Seed
}

// value adds the value at offset i and returns the offset after it.
func (b *jsonIndexer) value(i int, name uint32) int {
	d := b.doc
	id := len(d.nodes)
	d.nodes = append(d.nodes, jsonNode{name: name, start: uint32(i)})
	switch d.text[i] {
	case '{', '[':
		i = b.inside(i, d.text[i] == '{')
		if d.text[d.nodes[id].start] == '{' {
			defer b.replaceNames(jsonNodeID(id))
		}
	case '"':
		i = stringEnd(d.text, i)
	default:
		i = scalarEnd(d.text, i)
	}
	d.nodes[id].end = uint32(len(d.nodes))
	return i
}

// inside adds the values inside the object or array at offset i and returns the offset
// after it.
func (b *jsonIndexer) inside(i int, object bool) int {
	text := b.doc.text
	for i = skipSpace(text, i+1); text[i] != '}' && text[i] != ']'; {
		name := uint32(noName)
		if object {
			name = uint32(i)
			i = skipSpace(text, stringEnd(text, i))
			i = skipSpace(text, i+1) // the colon
		}
		i = skipSpace(text, b.value(i, name))
		if text[i] == ',' {
			i = skipSpace(text, i+1)
		}
	}
	return i + 1
}

// replaceNames handles names that occur twice in an object: the member keeps its first
// position and takes the last value. {"a":1,"b":2,"a":3} is read as {"a":3,"b":2}. The
// first 8 names are compared directly, more of them by a hash.
func (b *jsonIndexer) replaceNames(object jsonNodeID) {
	d := b.doc
	var few [8]jsonNodeID
	var many map[uint64]jsonNodeID
	count := 0
	for member := range d.children(object) {
		var before jsonNodeID // 0, the root, is a member of nothing
		switch {
		case count < len(few):
			for _, m := range few[:count] {
				if bytes.Equal(d.name(m), d.name(member)) {
					before = m
				}
			}
			few[count] = member
		default:
			if many == nil {
				many = make(map[uint64]jsonNodeID)
				for _, m := range few {
					many[maphash.Bytes(b.seed, d.name(m))] = m
				}
			}
			hash := maphash.Bytes(b.seed, d.name(member))
			if m, ok := many[hash]; ok {
				before = m
			} else {
				many[hash] = member
			}
		}
		count++
		if before == 0 {
			continue
		}
		if d.replaced == nil {
			d.replaced = map[jsonNodeID]jsonNodeID{}
		}
		d.replaced[before] = member
		d.remove(member)
		if count <= len(few) {
			count--
		}
	}
}

// value returns the node whose value counts for n; see replaced.
func (d *jsonDocument) value(n jsonNodeID) jsonNodeID {
	if d.replaced != nil {
		if last, ok := d.replaced[n]; ok {
			return last
		}
	}
	return n
}

// children iterates over the members or items of a node that were not removed.
func (d *jsonDocument) children(n jsonNodeID) iter.Seq[jsonNodeID] {
	return func(yield func(jsonNodeID) bool) {
		n = d.value(n)
		for child := n + 1; child < jsonNodeID(d.nodes[n].end); child = jsonNodeID(d.nodes[child].end) {
			if !d.isRemoved(child) && !yield(child) {
				return
			}
		}
	}
}

// remove removes a node. It ignores the root.
func (d *jsonDocument) remove(n jsonNodeID) {
	if n == rootNode {
		return
	}
	if d.removed == nil {
		d.removed = make([]uint64, len(d.nodes)/64+1)
	}
	for len(d.removed) <= int(n/64) {
		d.removed = append(d.removed, 0)
	}
	d.removed[n/64] |= 1 << (n % 64)
}

func (d *jsonDocument) isRemoved(n jsonNodeID) bool {
	return int(n/64) < len(d.removed) && d.removed[n/64]&(1<<(n%64)) != 0
}

// kind returns the first byte of a node's value: one of {["tfn-0123456789.
func (d *jsonDocument) kind(n jsonNodeID) byte { return d.text[d.nodes[d.value(n)].start] }

// raw returns the text of a scalar.
func (d *jsonDocument) raw(n jsonNodeID) []byte {
	start := int(d.nodes[d.value(n)].start)
	if d.text[start] == '"' {
		return d.text[start:stringEnd(d.text, start)]
	}
	return d.text[start:scalarEnd(d.text, start)]
}

// name returns a member's name.
func (d *jsonDocument) name(n jsonNodeID) []byte {
	start := int(d.nodes[n].name)
	return unquoteJSON(d.text[start:stringEnd(d.text, start)])
}

// named reports whether a member has a name.
func (d *jsonDocument) named(n jsonNodeID, name string) bool {
	text := d.text[d.nodes[n].name+1:]
	if len(text) > len(name) && text[len(name)] == '"' && string(text[:len(name)]) == name {
		return true
	}
	return string(d.name(n)) == name
}

// unquoteJSON returns the value of a JSON string.
func unquoteJSON(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // lone surrogates become U+FFFD
	return text
}

// scalar returns the value of a node that is neither object nor array: nil, a bool, an
// int64, a float64, a string, or a json.Number if the other number types would lose
// digits.
func (d *jsonDocument) scalar(n jsonNodeID) any {
	raw := d.raw(n)
	switch raw[0] {
	case '"':
		return string(unquoteJSON(raw))
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	}
	return pathNumber(string(raw))
}

// pathNumber returns a number as an int64 or float64, which filters compare, or as a
// json.Number if these would lose digits.
func pathNumber(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
		return i
	}
	if !routine.FitsNumber(text) {
		return json.Number(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || routine.CanonicalNumber(strconv.FormatFloat(f, 'g', -1, 64)) != routine.CanonicalNumber(text) {
		return json.Number(text)
	}
	return f
}
