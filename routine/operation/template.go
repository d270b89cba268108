package operation

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rote/routine"
	"rote/routine/placeholder"
)

// Site is one string of an operation that may have placeholders, with its position and
// the kind of its place.
type Site struct {
	Pointer string // relative to the operation
	Key     bool   // it is the key that the pointer names, not the value
	Text    string
	Place   placeholder.Place
}

// places are the values of the `fill` struct tag, which marks the fields of operations
// that may have placeholders.
var places = map[string]placeholder.Place{
	"text": placeholder.Text, "url": placeholder.URL, "selector": placeholder.Selector, "script": placeholder.Script,
	"regexp": placeholder.Regexp, "header": placeholder.Header, "filename": placeholder.Filename, "value": placeholder.Value,
}

// templated is a field with a `fill` tag, or a struct that contains such fields.
type templated struct {
	index   int
	pointer string
	place   placeholder.Place
	inner   []templated
}

// templatedFields returns the templated fields of each kind's struct.
var templatedFields = sync.OnceValue(func() map[reflect.Type][]templated {
	all := map[reflect.Type][]templated{}
	for _, k := range kinds {
		t := reflect.TypeOf(k.new()).Elem()
		all[t] = fieldsOf(t, "")
	}
	return all
})

func fieldsOf(t reflect.Type, pointer string) []templated {
	var fields []templated
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := templated{index: i, pointer: pointer + "/" + name}
		if tag, ok := f.Tag.Lookup("fill"); ok {
			at.place = places[tag]
			fields = append(fields, at)
		} else if f.Type.Kind() == reflect.Struct {
			if at.inner = fieldsOf(f.Type, at.pointer); at.inner != nil {
				fields = append(fields, at)
			}
		}
	}
	return fields
}

// EachTemplate calls show for each string of op that may have placeholders, in the
// order of the fields. It leaves out strings without tokens of a body, which can be
// large.
func EachTemplate(op Action, show func(Site)) {
	v := reflect.ValueOf(op).Elem()
	eachField(v, templatedFields()[v.Type()], show)
}

func eachField(v reflect.Value, fields []templated, show func(Site)) {
	for _, f := range fields {
		switch field := v.Field(f.index); {
		case f.inner != nil:
			eachField(field, f.inner, show)
		case field.Kind() == reflect.String:
			show(Site{f.pointer, false, field.String(), f.place})
		default:
			eachInTree(field.Interface(), f, &routine.Pointer{}, show)
		}
	}
}

// eachInTree calls show for the strings of a decoded JSON value, and for the keys of
// its objects where these may have placeholders.
func eachInTree(x any, f templated, at *routine.Pointer, show func(Site)) {
	shown := func(text string, key bool) {
		if !fillsKeys(f.place) || strings.Contains(text, "{{") {
			show(Site{f.pointer + at.String(), key, text, f.place})
		}
	}
	switch x := x.(type) {
	case string:
		shown(x, false)
	case []string:
		for i, e := range x {
			at.Item(i)
			shown(e, false)
			at.Pop()
		}
	case []any:
		for i, e := range x {
			at.Item(i)
			eachInTree(e, f, at, show)
			at.Pop()
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			at.Member(k)
			if fillsKeys(f.place) {
				shown(k, true)
			}
			eachInTree(x[k], f, at, show)
			at.Pop()
		}
	}
}

// fillsKeys reports whether placeholders in the keys of an object are filled: those of
// a body are, the names of headers are not.
func fillsKeys(place placeholder.Place) bool { return place == placeholder.Value }

// ReplaceTemplates replaces each string of op that may have placeholders by what put
// returns. It stops at the first error.
func ReplaceTemplates(op Action, put func(Site) (any, error)) error {
	v := reflect.ValueOf(op).Elem()
	return replaceFields(v, templatedFields()[v.Type()], put)
}

func replaceFields(v reflect.Value, fields []templated, put func(Site) (any, error)) error {
	for _, f := range fields {
		field := v.Field(f.index)
		if f.inner != nil {
			if err := replaceFields(field, f.inner, put); err != nil {
				return err
			}
			continue
		}
		filled, err := replaceTree(field.Interface(), f.pointer, f.place, put)
		if err != nil {
			return err
		}
		if filled == nil {
			field.SetZero()
			continue
		}
		field.Set(reflect.ValueOf(filled))
	}
	return nil
}

// replaceTree returns a copy of a decoded JSON value with its strings replaced,
// including the keys of objects where these may have placeholders.
func replaceTree(x any, pointer string, place placeholder.Place, put func(Site) (any, error)) (any, error) {
	switch x := x.(type) {
	case string:
		return put(Site{pointer, false, x, place})
	case []string:
		out := make([]string, len(x))
		for i, e := range x {
			filled, err := put(Site{pointer + "/" + strconv.Itoa(i), false, e, place})
			if err != nil {
				return nil, err
			}
			out[i] = filled.(string) // what a place of text gives
		}
		return out, nil
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			var err error
			if out[i], err = replaceTree(e, pointer+"/"+strconv.Itoa(i), place, put); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return replaceObject(x, pointer, place, put)
	}
	return x, nil
}

func replaceObject(x map[string]any, pointer string, place placeholder.Place, put func(Site) (any, error)) (any, error) {
	out := make(map[string]any, len(x))
	written := map[string]string{} // what was written for a key of out
	for _, k := range slices.Sorted(maps.Keys(x)) {
		at := pointer + "/" + routine.EscapePointer(k)
		name := k
		if fillsKeys(place) {
			filled, err := put(Site{at, true, k, placeholder.Text})
			if err != nil {
				return nil, err
			}
			name = filled.(string) // what a text becomes
		}
		value, err := replaceTree(x[k], at, place, put)
		if err != nil {
			return nil, err
		}
		if _, taken := out[name]; taken {
			return nil, &KeyClash{at, written[name] + k}
		}
		out[name], written[name] = value, k
	}
	return out, nil
}

// KeyClash is the error if two keys of an object become equal when their placeholders
// are filled.
type KeyClash struct {
	Pointer string // of the second
	Keys    string // both, as written
}

func (e *KeyClash) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error with which a run ends.
func (e *KeyClash) Unwrap() error {
	return routine.Errorf(routine.CodeInvalid, "two keys of the object at %s become the same", e.Pointer[:strings.LastIndexByte(e.Pointer, '/')])
}
