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
	"rote/routine"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxJSONValues bounds the values of a response that is looked into. Each
	// takes 12 bytes beside the text.
	maxJSONValues = 4_000_000
	// maxPathDepth bounds the nesting of a response that is looked into.
	maxPathDepth = 500
	// maxPathText bounds the bytes that come out, where the run sets no limit.
	maxPathText = 64 << 20
)

// jsonDocument is an index of a JSON text: where each value begins, and which
// values are inside which. The values themselves stay in the text, so that a
// document of many small values takes little more memory than its text.
type jsonDocument struct {
	text  []byte
	nodes []jsonNode
	// replaced has, for a member whose name comes again in its object, the member
	// whose value counts. The later one is removed.
	replaced map[jsonNodeID]jsonNodeID
	removed  []uint64 // a bit for each node; nil: none is removed
}

// jsonNode is one value.
type jsonNode struct {
	name  uint32 // offset of the quote that begins the member's name; noName for no member
	start uint32 // offset of the value
	end   uint32 // the node after this one and all that is inside it
}

// jsonNodeID is the index of a node. The nodes inside another follow it.
type jsonNodeID uint32

const (
	rootNode jsonNodeID = 0
	noName              = math.MaxUint32
)

// readJSON indexes a JSON text. Duplicate names and invalid UTF-8 are accepted,
// as a browser does. Each pass over the text takes time linear in its size.
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

// countJSON counts the values of a JSON text, and refuses too many of them and
// those that nest too deep.
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

// errManyValues refuses what would take too much memory to look into.
var errManyValues = routine.Errorf(routine.CodeResultTooLarge,
	"the response has more than %d JSON values, which is the limit of json_path and drop: ask the site for fewer, or pick the values in the page with js_evaluate",
	maxJSONValues)

// skipSpace gives the offset of the first byte from i on that is no white space.
func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// stringEnd gives the offset behind the JSON string that begins at i.
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

// scalarEnd gives the offset behind the number, true, false or null at i.
func scalarEnd(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
	}
	return i
}

// jsonIndexer fills in the nodes of a document from valid JSON.
type jsonIndexer struct {
	doc  *jsonDocument
	seed maphash.Seed
}

// value adds the value at offset i and gives the offset behind it.
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

// inside adds what is inside the object or array at offset i and gives the
// offset behind it.
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

// replaceNames sees to names that come twice in an object: the place of the
// first and the value of the last count.
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

// value gives the node whose value counts for n.
func (d *jsonDocument) value(n jsonNodeID) jsonNodeID {
	if d.replaced != nil {
		if last, ok := d.replaced[n]; ok {
			return last
		}
	}
	return n
}

// children are the members or items of a node that were not removed.
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

// remove takes a node away. The root stays.
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

// kind is the first byte of a node's value: one of {["tfn-0123456789.
func (d *jsonDocument) kind(n jsonNodeID) byte { return d.text[d.nodes[d.value(n)].start] }

// raw is a scalar as the text spells it.
func (d *jsonDocument) raw(n jsonNodeID) []byte {
	start := int(d.nodes[d.value(n)].start)
	if d.text[start] == '"' {
		return d.text[start:stringEnd(d.text, start)]
	}
	return d.text[start:scalarEnd(d.text, start)]
}

// name is a member's name.
func (d *jsonDocument) name(n jsonNodeID) []byte {
	start := int(d.nodes[n].name)
	return unquoteJSON(d.text[start:stringEnd(d.text, start)])
}

// named reports whether a member has the name.
func (d *jsonDocument) named(n jsonNodeID, name string) bool {
	text := d.text[d.nodes[n].name+1:]
	if len(text) > len(name) && text[len(name)] == '"' && string(text[:len(name)]) == name {
		return true
	}
	return string(d.name(n)) == name
}

// unquoteJSON gives the text of a JSON string.
func unquoteJSON(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // lone surrogates become U+FFFD
	return text
}

// scalar is the value of a node that is no object and no array: nil, a bool, an
// int64, a float64, a string, or a json.Number where the others would lose digits.
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

// pathNumber is a number that filters can compare, where that loses no digits.
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
