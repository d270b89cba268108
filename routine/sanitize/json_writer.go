package sanitize

import (
	"bytes"
	"errors"

	"rote/routine"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonWriter writes parts of a document as compact JSON.
type jsonWriter struct {
	search *pathSearch
	limit  int64 // in bytes
	out    []byte
}

// write returns what use writes. CodeResultTooLarge if that exceeds limit bytes; 0:
// maxPathText.
func (s *pathSearch) write(limit int64, use func(*jsonWriter)) (out []byte, err error) {
	if limit <= 0 {
		limit = maxPathText
	}
	w := &jsonWriter{search: s, limit: limit}
	defer func() {
		recovered := recover()
		if recovered == nil {
			return
		}
		stop, ok := recovered.(pathStop)
		if !ok {
			panic(recovered)
		}
		var known *routine.Error
		if out = nil; !errors.As(stop.err, &known) {
			known = routine.Errorf(routine.CodeResultTooLarge, "data_sanitizer: what is selected has more than %d bytes: select less", w.limit)
		}
		err = known
	}()
	use(w)
	return w.out, nil
}

// selected writes what a path has selected. If the path can select one value only,
// that is the value, or null if there is none; otherwise it is a list.
func (w *jsonWriter) selected(x *jsonPath, found []jsonNodeID) {
	switch {
	case !x.single():
		w.list(found)
	case len(found) == 0:
		w.out = append(w.out, "null"...)
	default:
		w.node(found[0])
	}
}

// list writes nodes as an array.
func (w *jsonWriter) list(nodes []jsonNodeID) {
	w.out = append(w.out, '[')
	for i, n := range nodes {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.node(n)
	}
	w.out = append(w.out, ']')
}

// node writes a node with everything inside it.
func (w *jsonWriter) node(n jsonNodeID) {
	d := w.search.doc
	w.search.step(1)
	if int64(len(w.out)) > w.limit {
		panic(pathStop{errPathSteps})
	}
	switch kind := d.kind(n); kind {
	case '{', '[':
		w.out = append(w.out, kind)
		before := len(w.out)
		for child := range d.children(n) {
			if len(w.out) > before {
				w.out = append(w.out, ',')
			}
			if kind == '{' {
				start := int(d.nodes[child].name)
				w.quoted(d.text[start:stringEnd(d.text, start)])
				w.out = append(w.out, ':')
			}
			w.node(child)
		}
		w.out = append(w.out, kind+2) // the closing one
	case '"':
		w.quoted(d.raw(n))
	case 't', 'f', 'n':
		w.out = append(w.out, d.raw(n)...)
	default:
		w.number(d.raw(n))
	}
}

// quoted writes a JSON string in its shortest spelling.
func (w *jsonWriter) quoted(raw []byte) {
	w.search.step(len(raw) / 64)
	if bytes.IndexByte(raw, '\\') < 0 {
		w.out = append(w.out, raw...)
		return
	}
	w.out, _ = jsontext.AppendQuote(w.out, unquoteJSON(raw)) // it is valid UTF-8
}

// number writes a number in its shortest form, 20.00 as 20, unless that loses digits.
func (w *jsonWriter) number(raw []byte) {
	w.search.step(len(raw) / 64)
	if !bytes.ContainsAny(raw, ".eE") && string(raw) != "-0" {
		w.out = append(w.out, raw...)
		return
	}
	w.out = append(w.out, routine.JSONText(pathNumber(string(raw)))...)
}
