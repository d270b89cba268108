package placeholder

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Lookup finds the text at a path. The whole path is a key first, whose text
// comes out as it is, or as the string that it is the JSON of, which is how
// js_evaluate and json_path store a text. Else its first part is the key, the text there is JSON, and each
// further part indexes an object or an array ("length" counts one); a string
// met on the way is taken for JSON text. What is found comes out as text: a
// string as it is, an object or array as compact JSON with the digits of its
// numbers kept. False when there is nothing, or null.
//
// The text is read once from its beginning to its end, whatever the path. The
// errors are those of read, and the context's cause when ctx ends meanwhile.
func Lookup(ctx context.Context, path string, read func(key string) (string, bool, error)) (string, bool, error) {
	text, ok, err := read(path)
	if err != nil || ok {
		return stringIn(text), ok, err
	}
	steps := strings.Split(path, ".")
	if len(steps) == 1 {
		return "", false, nil
	}
	text, ok, err = read(steps[0])
	if err != nil || !ok {
		return "", false, err
	}
	v, ok := lookIn(ctx, text, steps[1:])
	switch {
	case ctx.Err() != nil:
		return "", false, context.Cause(ctx)
	case !ok || v.Kind() == 'n':
		return "", false, nil
	case v.Kind() == '"':
		return unquote(v), true, nil
	}
	return string(v), true, nil
}

// stringIn is the string that text is the JSON of; of any other text it is the
// text itself.
func stringIn(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), `"`) {
		return text
	}
	d := jsontext.NewDecoder(strings.NewReader(text), lenient...)
	v, err := d.ReadValue()
	if err != nil {
		return text
	}
	found := unquote(v) // before the next token takes its place
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return text
	}
	return found
}

// lenient reads what JSON.parse reads.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// contextReader ends when its context does.
type contextReader struct {
	ctx  context.Context
	from io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.from.Read(p)
}

// lookIn takes the steps into a JSON text.
func lookIn(ctx context.Context, text string, steps []string) (jsontext.Value, bool) {
	d := jsontext.NewDecoder(contextReader{ctx, strings.NewReader(text)}, lenient...)
	v, ok, err := take(ctx, d, steps)
	if err != nil {
		return nil, false
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, false // text follows
	}
	return v, ok
}

// take reads one value and takes the steps into it. The error is that of faulty
// JSON.
func take(ctx context.Context, d *jsontext.Decoder, steps []string) (jsontext.Value, bool, error) {
	if len(steps) == 0 {
		v, err := d.ReadValue()
		if err != nil {
			return nil, false, err
		}
		v = v.Clone()
		return v, true, v.Format(lenient...)
	}
	switch d.PeekKind() {
	case '{':
		return member(ctx, d, steps)
	case '[':
		return element(ctx, d, steps)
	case '"':
		text, err := d.ReadToken()
		if err != nil {
			return nil, false, err
		}
		v, ok := lookIn(ctx, text.String(), steps)
		return v, ok, nil
	}
	return nil, false, d.SkipValue()
}

// member takes the steps into a member of an object: the last of that name, as
// JSON.parse does.
func member(ctx context.Context, d *jsontext.Decoder, steps []string) (found jsontext.Value, ok bool, _ error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, false, err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false, err
		}
		if name.String() == steps[0] {
			found, ok, err = take(ctx, d, steps[1:])
		} else {
			err = d.SkipValue()
		}
		if err != nil {
			return nil, false, err
		}
	}
	_, err := d.ReadToken()
	return found, ok, err
}

// element takes the steps into an item of an array, or counts the items.
func element(ctx context.Context, d *jsontext.Decoder, steps []string) (found jsontext.Value, ok bool, _ error) {
	wanted, err := strconv.Atoi(steps[0])
	if err != nil || strconv.Itoa(wanted) != steps[0] {
		wanted = -1
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, false, err
	}
	n := 0
	for ; d.PeekKind() != ']'; n++ {
		if n == wanted {
			found, ok, err = take(ctx, d, steps[1:])
		} else {
			err = d.SkipValue()
		}
		if err != nil {
			return nil, false, err
		}
	}
	if steps[0] == "length" && len(steps) == 1 {
		found, ok = jsontext.Value(strconv.Itoa(n)), true
	}
	_, err = d.ReadToken()
	return found, ok, err
}

func unquote(v jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, v) // lone surrogates become U+FFFD
	return string(text)
}
