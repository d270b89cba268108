package placeholder

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Lookup finds the text at a path. The whole path is a key first, whose text
// comes out as it is. Else its first part is the key, the text there is JSON, and each
// further part indexes an object or an array ("length" counts one); a string
// met on the way is taken for JSON text. What is found comes out as text: a
// string as it is, an object or array as compact JSON with the digits of its
// numbers kept. False when there is nothing, or null. The only error is read's.
func Lookup(path string, read func(key string) (string, bool, error)) (string, bool, error) {
	text, ok, err := read(path)
	if err != nil || ok {
		return text, ok, err
	}
	steps := strings.Split(path, ".")
	if len(steps) == 1 {
		return "", false, nil
	}
	text, ok, err = read(steps[0])
	if err != nil || !ok {
		return "", false, err
	}
	v, ok := parseJSON(text)
	for _, step := range steps[1:] {
		if !ok {
			return "", false, nil
		}
		v, ok = index(v, step)
	}
	if !ok || v.Kind() == 'n' {
		return "", false, nil
	}
	if v.Kind() == '"' {
		return unquote(v), true, nil
	}
	return string(v), true, nil
}

// lenient reads what JSON.parse reads.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func parseJSON(text string) (jsontext.Value, bool) {
	v := jsontext.Value(text)
	err := v.Format(lenient...)
	return v, err == nil
}

// index takes one step into v, which it opens first when it is JSON in a string.
func index(v jsontext.Value, step string) (jsontext.Value, bool) {
	for v.Kind() == '"' {
		inner, ok := parseJSON(unquote(v))
		if !ok {
			return nil, false
		}
		v = inner
	}
	d := jsontext.NewDecoder(bytes.NewReader(v), lenient...)
	switch v.Kind() {
	case '{':
		return member(d, step)
	case '[':
		return element(d, step)
	}
	return nil, false
}

// member finds a member of an object: the last of that name, as JSON.parse does.
func member(d *jsontext.Decoder, name string) (found jsontext.Value, ok bool) {
	_, _ = d.ReadToken() // v was read before, so nothing fails here
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		same := key.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		if same {
			found, ok = v.Clone(), true
		}
	}
	return found, ok
}

func element(d *jsontext.Decoder, step string) (jsontext.Value, bool) {
	wanted, err := strconv.Atoi(step)
	if step != "length" && (err != nil || strconv.Itoa(wanted) != step) {
		return nil, false
	}
	_, _ = d.ReadToken()
	n := 0
	for ; d.PeekKind() != ']'; n++ {
		v, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		if step != "length" && n == wanted {
			return v.Clone(), true
		}
	}
	if step == "length" {
		return jsontext.Value(strconv.Itoa(n)), true
	}
	return nil, false
}

func unquote(v jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, v) // lone surrogates become U+FFFD
	return string(text)
}
