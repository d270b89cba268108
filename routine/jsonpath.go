package routine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ohler55/ojg/jp"
)

const (
	// maxPathSteps bounds the values that one data_sanitizer step looks at: with
	// .. twice in a path they are many more than the response has.
	maxPathSteps = 10_000_000
	// maxPathDepth bounds the nesting of a response that is looked into.
	maxPathDepth = 500
	// maxPathText bounds what comes out, before the run's own limit is asked.
	maxPathText = 64 << 20
	// maxJSONPath bounds one expression.
	maxJSONPath = 1000
)

var (
	errAll       = errors.New("it removes the whole response")
	errAfterJSON = errors.New("text follows the JSON")
	errPathSteps = errors.New("it goes through too many values")
)

// compileJSONPath reads an expression. The hint says how what was probably
// meant is written.
func compileJSONPath(text string) (x jp.Expr, hint string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("it cannot be read")
		}
	}()
	if len(text) > maxJSONPath {
		return nil, "", fmt.Errorf("it has more than %d characters", maxJSONPath)
	}
	if !strings.HasPrefix(text, "$") {
		return nil, fmt.Sprintf("did you mean %q?", "$."+strings.TrimLeft(clip(text, 60), ".@")), errors.New("it does not begin with $")
	}
	if x, err = jp.ParseString(text); err != nil {
		if strings.Contains(text, "[(") {
			hint = "the last item is [-1]"
		}
		return nil, hint, errors.New(strings.TrimSuffix(err.Error(), " in "+text))
	}
	if _, open := x[len(x)-1].(jp.Descent); open {
		return nil, "write $..* for everything, or $..name", errors.New("a name must follow the two dots at its end")
	}
	return x, "", nil
}

// pathDocument is a JSON response whose objects keep the order of their keys.
type pathDocument struct {
	root    any
	steps   int // how many are left
	touched []*pathArray
}

func (d *pathDocument) step(n int) {
	if d.steps -= n + 1; d.steps < 0 {
		panic(errPathSteps)
	}
}

// readPathDocument decodes a response. Duplicate keys and what is no UTF-8 are
// the site's own business.
func readPathDocument(text string) (*pathDocument, error) {
	doc := &pathDocument{steps: maxPathSteps}
	d := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root, err := doc.read(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errAfterJSON
	}
	doc.root = root
	return doc, nil
}

func (d *pathDocument) read(from *jsontext.Decoder) (any, error) {
	tok, err := from.ReadToken()
	if err != nil {
		return nil, errors.New("it is none")
	}
	if from.StackDepth() > maxPathDepth {
		return nil, fmt.Errorf("it nests more than %d deep", maxPathDepth)
	}
	switch tok.Kind() {
	case '{':
		object := &pathObject{doc: d, values: map[string]any{}}
		for from.PeekKind() != '}' {
			name, err := from.ReadToken()
			if err != nil {
				return nil, errors.New("it is none")
			}
			key := name.String()
			v, err := d.read(from)
			if err != nil {
				return nil, err
			}
			object.set(key, v)
		}
		_, err = from.ReadToken()
		return object, err
	case '[':
		array := &pathArray{doc: d}
		for from.PeekKind() != ']' {
			v, err := d.read(from)
			if err != nil {
				return nil, err
			}
			array.items = append(array.items, v)
		}
		_, err = from.ReadToken()
		return array, err
	case '"':
		return tok.String(), nil
	case '0':
		return pathNumber(tok.String()), nil
	case 't', 'f':
		return tok.Bool(), nil
	}
	return nil, nil
}

// pathNumber is a number that filters can compare, where that loses nothing.
func pathNumber(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
		return i
	}
	exactly, ok := exact(json.Number(text))
	if !ok {
		return json.Number(text)
	}
	f, _ := exactly.Float64()
	if math.IsInf(f, 0) {
		return json.Number(text)
	}
	if short, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64)); ok && short.Cmp(exactly) == 0 {
		return f
	}
	return json.Number(text)
}

// selected is the value of a path that names one place, null when it is not
// there; else the list of what the path selects. It warns of a path that selects
// nothing.
func (d *pathDocument) selected(x jp.Expr, warn func(string)) (any, error) {
	values, err := d.get(x)
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		if why := d.missed(x); why != "" {
			warn(why)
		}
	}
	if !x.Normal() {
		return values, nil
	}
	if len(values) == 0 {
		return nil, nil
	}
	return values[0], nil
}

func (d *pathDocument) get(x jp.Expr) (values []any, err error) {
	defer func() { err = pathFault(x, recover()) }()
	values = x.Get(d.root)
	if values == nil {
		values = []any{}
	}
	return values, nil
}

// remove takes away what a path selects: from each object or array that the
// path without its last part leads to.
func (d *pathDocument) remove(x jp.Expr) (err error) {
	last := len(x) - 1
	parents, err := d.get(x[:last])
	if err != nil {
		return err
	}
	if _, all := x[last-1].(jp.Descent); all {
		above, err := d.get(x[:last-1])
		if err != nil {
			return err
		}
		parents = append(parents, above...)
	}
	defer func() {
		err = pathFault(x, recover())
		for _, a := range d.touched {
			a.close()
		}
		d.touched = nil
	}()
	for _, p := range parents {
		switch p.(type) {
		case *pathObject, *pathArray:
			d.step(0)
			x[last:].MustRemove(p)
		}
	}
	return nil
}

// pathFault is the error for what stopped the evaluation of a path.
func pathFault(x jp.Expr, recovered any) error {
	switch recovered {
	case nil:
		return nil
	case any(errPathSteps):
		return Errorf(CodeResultTooLarge, "data_sanitizer: the path %s: %w", clip(x.String(), 60), errPathSteps)
	}
	return Errorf(CodeInternal, "data_sanitizer: the path %s: %v", clip(x.String(), 60), recovered)
}

// pathObject is an object of a response; it implements jp.Keyed.
type pathObject struct {
	doc    *pathDocument
	order  []string // may name keys that were removed
	values map[string]any
}

func (o *pathObject) set(key string, v any) {
	if _, ok := o.values[key]; !ok {
		o.order = append(o.order, key)
	}
	o.values[key] = v
}

// ValueForKey gives the value of a key.
func (o *pathObject) ValueForKey(key string) (any, bool) {
	o.doc.step(0)
	v, ok := o.values[key]
	return v, ok
}

// SetValueForKey is asked for when something inside changes; nothing is
// replaced, since objects and arrays are changed in place.
func (o *pathObject) SetValueForKey(string, any) {}

// RemoveValueForKey removes a key.
func (o *pathObject) RemoveValueForKey(key string) { delete(o.values, key) }

// Keys are the keys in the order of the response.
func (o *pathObject) Keys() []string {
	o.doc.step(len(o.order))
	if len(o.order) > len(o.values) {
		kept := make([]string, 0, len(o.values))
		for _, k := range o.order {
			if _, ok := o.values[k]; ok {
				kept = append(kept, k)
			}
		}
		o.order = kept
	}
	return o.order
}

// pathArray is an array of a response; it implements jp.RemovableIndexed. What
// is removed stays in its place until close, so that removing much costs no
// more than removing little.
type pathArray struct {
	doc   *pathDocument
	items []any
	gone  map[int]bool
}

// ValueAtIndex gives an item.
func (a *pathArray) ValueAtIndex(i int) any {
	a.doc.step(0)
	return a.items[i]
}

// SetValueAtIndex changes nothing, as in pathObject.
func (a *pathArray) SetValueAtIndex(int, any) {}

// Size is the number of items.
func (a *pathArray) Size() int {
	a.doc.step(0)
	return len(a.items)
}

// RemoveValueAtIndex removes an item.
func (a *pathArray) RemoveValueAtIndex(i int) {
	if a.gone == nil {
		a.gone = map[int]bool{}
		a.doc.touched = append(a.doc.touched, a)
	}
	a.gone[i] = true
}

func (a *pathArray) close() {
	kept := a.items[:0]
	for i, v := range a.items {
		if !a.gone[i] {
			kept = append(kept, v)
		}
	}
	a.items, a.gone = kept, nil
}

// text is the JSON of a value of the document, or of a list of such.
func (d *pathDocument) text(v any) (out string, err error) {
	defer func() {
		if recover() != nil {
			err = Errorf(CodeResultTooLarge, "data_sanitizer: what is selected has more than %d bytes: select less", maxPathText)
		}
	}()
	return string(d.appendText(nil, v)), nil
}

func (d *pathDocument) appendText(out []byte, v any) []byte {
	d.step(0)
	if len(out) > maxPathText {
		panic(errPathSteps)
	}
	switch v := v.(type) {
	case *pathObject:
		out = append(out, '{')
		for i, k := range v.Keys() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, compact(k)...), ':')
			out = d.appendText(out, v.values[k])
		}
		return append(out, '}')
	case *pathArray:
		return append(d.appendList(append(out, '['), v.items), ']')
	case []any:
		return append(d.appendList(append(out, '['), v), ']')
	}
	return append(out, compact(v)...)
}

func (d *pathDocument) appendList(out []byte, items []any) []byte {
	for i, v := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = d.appendText(out, v)
	}
	return out
}
