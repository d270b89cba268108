package placeholder

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Lookup returns the text at a path. First the whole path is used as a key. The
// text of that key is returned unchanged or, if it is a JSON string, decoded:
// js_evaluate and json_path store text that way. Otherwise the first part of
// the path is the key of a JSON text, and each further part is a member name or
// an array index ("length" is the number of items). A JSON string on the way is
// parsed as JSON text itself. A string is returned as it is, other values as
// compact JSON with their digits kept. It returns false if nothing is found, or
// null.
//
// The text is read only once, whatever the path. Errors are those of read, and
// the cause of ctx if it ends.
func Lookup(ctx context.Context, path string, read func(key string) (string, bool, error)) (string, bool, error) {
	text, ok, err := read(path)
	if err != nil || ok {
		return decodeString(text), ok, err
	}
	steps := strings.Split(path, ".")
	if len(steps) == 1 {
		return "", false, nil
	}
	text, ok, err = read(steps[0])
	if err != nil || !ok {
		return "", false, err
	}
	v, ok := lookupJSON(ctx, text, steps[1:])
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

// decodeString decodes text if it is a JSON string, and otherwise returns it
// unchanged.
func decodeString(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), `"`) {
		return text
	}
	d := jsontext.NewDecoder(strings.NewReader(text), lenient...)
	v, err := d.ReadValue()
	if err != nil {
		return text
	}
	found := unquote(v) // before the decoder reuses its buffer
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return text
	}
	return found
}

// lenient accepts what JSON.parse accepts.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// contextReader fails when its context ends.
type contextReader struct {
	ctx    context.Context
	source io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.source.Read(p)
}

// lookupJSON returns the value at a path in a JSON text.
func lookupJSON(ctx context.Context, text string, steps []string) (jsontext.Value, bool) {
	d := jsontext.NewDecoder(contextReader{ctx, strings.NewReader(text)}, lenient...)
	v, ok, err := lookupValue(ctx, d, steps)
	if err != nil {
		return nil, false
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, false // text after the value
	}
	return v, ok
}

// lookupValue reads one value and returns what is at the path in it. Invalid
// JSON is an error.
func lookupValue(ctx context.Context, d *jsontext.Decoder, steps []string) (jsontext.Value, bool, error) {
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
		return lookupMember(ctx, d, steps)
	case '[':
		return lookupElement(ctx, d, steps)
	case '"':
		text, err := d.ReadToken()
		if err != nil {
			return nil, false, err
		}
		v, ok := lookupJSON(ctx, text.String(), steps)
		return v, ok, nil
	}
	return nil, false, d.SkipValue()
}

// lookupMember follows the path into a member of an object. Of duplicate names
// the last one counts, as in JSON.parse.
func lookupMember(ctx context.Context, d *jsontext.Decoder, steps []string) (found jsontext.Value, ok bool, _ error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, false, err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false, err
		}
		if name.String() == steps[0] {
			found, ok, err = lookupValue(ctx, d, steps[1:])
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

// lookupElement follows the path into an element of an array, or counts the
// elements.
func lookupElement(ctx context.Context, d *jsontext.Decoder, steps []string) (found jsontext.Value, ok bool, _ error) {
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
			found, ok, err = lookupValue(ctx, d, steps[1:])
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
