package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

//go:embed page_values.js
var pageValuesScript string

// Limits of what PageValues returns: in bytes all together, of one value and of the
// properties of window, and in the number of entries of one kind.
const (
	maxPageValues   = 256 << 10
	maxPageValue    = 16 << 10
	maxWindowBytes  = 64 << 10
	maxPageEntries  = 200
	maxWindowValues = 2000
)

func (t *tabs) PageValues(ctx context.Context) (routine.PageValues, error) {
	return onCurrent(ctx, t, func(p *page) (routine.PageValues, error) { return p.PageValues(ctx) })
}

// PageValues returns the values that the page holds. What does not fit is left out, and so
// are the properties of window if the page is too busy to give them.
func (p *page) PageValues(ctx context.Context) (routine.PageValues, error) {
	cookies, err := p.Cookies(ctx)
	if err != nil {
		return routine.PageValues{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, p.b.lookTime)
	defer cancel()
	v := routine.PageValues{URL: p.now().url}
	room := maxPageValues - maxWindowBytes
	for _, c := range cookies {
		if size := len(c.Name) + len(c.Value) + len(c.Domain) + len(c.Path); size <= room/2 && len(v.Cookies) < maxPageEntries {
			room -= size
			v.Cookies = append(v.Cookies, c)
		}
	}
	held, err := inHelper[struct {
		Metas          map[string]string `json:"metas"`
		HiddenFields   map[string]string `json:"hidden_fields"`
		SessionStorage map[string]string `json:"session_storage"`
		LocalStorage   map[string]string `json:"local_storage"`
	}](bounded, p, pageValuesScript, map[string]int{"room": room, "longest": maxPageValue, "most": maxPageEntries})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return v, routine.Errorf(routine.CodeTimeout, "the page is busy and did not answer within %v; ask again later", p.b.lookTime)
	}
	if err != nil {
		return v, p.failure(ctx, err)
	}
	for _, kind := range []struct{ from, to *map[string]string }{
		{&held.Metas, &v.Metas}, {&held.HiddenFields, &v.HiddenFields}, {&held.SessionStorage, &v.SessionStorage}, {&held.LocalStorage, &v.LocalStorage},
	} {
		*kind.to = fitting(*kind.from, &room)
	}
	w := windowReader{p: p, left: maxWindowReads, values: map[string]string{}}
	w.read(bounded, [][]string{{}}, windowDepth)
	v.Window = fitting(w.values, new(maxWindowBytes))
	return v, nil
}

// fitting returns the entries that fit into room bytes, and takes their size from it. The
// page counts characters, which may have several bytes.
func fitting(from map[string]string, room *int) map[string]string {
	to := map[string]string{}
	for name, value := range from {
		if size := len(name) + len(value); size <= *room {
			*room -= size
			to[name] = value
		}
	}
	return to
}

const (
	// windowDepth is the number of names in the longest path.
	windowDepth = 4
	// maxWindowReads bounds the scripts that read properties.
	maxWindowReads = 60
)

// readWindow collects the texts and numbers in own data properties below paths from window.
// It calls no code of the page: it reads no getter, and V8 stops the script when a proxy or
// a replaced built-in function would have a side effect (throwOnSideEffect). With shallow
// it returns the paths of the properties of the first path instead.
const readWindow = `((paths, depth, room, most, shallow) => {
  const held = (o, k) => { const d = Object.getOwnPropertyDescriptor(o, k); return d && 'value' in d ? d.value : undefined; };
  const values = [], deeper = [];
  let n = 0, visits = 5000;
  const plain = v => {
    if (typeof v !== 'object' || v === null) return false;
    const up = Object.getPrototypeOf(v);
    return v === window || Array.isArray(v) || up === null || up === Object.prototype || Object.getPrototypeOf(up) === Object.prototype;
  };
  const visit = (v, path) => {
    if (visits-- <= 0 || n >= most) return;
    if (typeof v === 'string' || typeof v === 'number') {
      const name = path.join('.'), text = String(v);
      if (!text || text.length > 4096 || name.length > 200 || room < name.length + text.length) return;
      room -= name.length + text.length;
      values[n++] = [name, text];
      return;
    }
    if (!plain(v) || v === window && path.length || path.length >= depth) return;
    const keys = Object.keys(v), length = Math.min(keys.length, v === window ? 2000 : Array.isArray(v) ? 20 : 200);
    for (let i = 0; i < length; i++) {
      if (keys[i].includes('.')) continue;
      const path2 = [...path, keys[i]];
      if (shallow) deeper[deeper.length] = path2; else visit(held(v, keys[i]), path2);
    }
  };
  for (let i = 0; i < paths.length; i++) {
    let v = window;
    for (let k = 0; k < paths[i].length && v !== undefined && v !== null; k++) v = held(v, paths[i][k]);
    visit(v, paths[i]);
  }
  return { values, deeper };
})(`

// windowReader reads properties of window.
type windowReader struct {
	p      *page
	left   int // scripts that may still be run
	values map[string]string
}

// read reads the properties below the paths. If that would call code of the page, it
// divides the paths until only those properties are left out that do.
func (w *windowReader) read(ctx context.Context, paths [][]string, depth int) {
	found, err := w.evaluate(ctx, paths, depth, false)
	var refused *cdp.ExceptionError
	switch {
	case err == nil:
		for _, v := range found.Values {
			w.values[v[0]] = v[1]
		}
	case !errors.As(err, &refused): // the page is busy, or gone
		w.left = 0
	case len(paths) > 1:
		w.read(ctx, paths[:len(paths)/2], depth)
		w.read(ctx, paths[len(paths)/2:], depth)
	case len(paths[0]) < depth:
		if found, err := w.evaluate(ctx, paths, depth, true); err == nil && len(found.Deeper) > 0 {
			w.read(ctx, found.Deeper, depth)
		}
	}
}

type windowValues struct {
	Values [][2]string `json:"values"`
	Deeper [][]string  `json:"deeper"`
}

var errNoReadsLeft = errors.New("enough properties were read")

func (w *windowReader) evaluate(ctx context.Context, paths [][]string, depth int, shallow bool) (windowValues, error) {
	if w.left--; w.left < 0 {
		return windowValues{}, errNoReadsLeft
	}
	var args []string
	for _, arg := range []any{paths, depth, maxWindowBytes, maxWindowValues, shallow} {
		args = append(args, routine.JSONText(arg))
	}
	v, err := cdp.Evaluate(ctx, w.p, proto.RuntimeEvaluate{Expression: readWindow + strings.Join(args, ",") + ")", ReturnByValue: true,
		ThrowOnSideEffect: true, Timeout: proto.RuntimeTimeDelta((w.p.b.lookTime * 4 / 10).Milliseconds())})
	if err != nil {
		return windowValues{}, err
	}
	var found windowValues
	return found, json.Unmarshal(v.Value, &found)
}
