package routine

import (
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"rote/routine/placeholder"
)

// site is one templated string of an operation: where it stands and what kind
// of place that is.
type site struct {
	pointer string // relative to the operation
	text    string
	place   placeholder.Place
}

// places are the values of the `fill` tag that operation structs carry on each
// field that may hold placeholders.
var places = map[string]placeholder.Place{
	"text": placeholder.Text, "url": placeholder.URL, "selector": placeholder.Selector, "script": placeholder.Script,
	"regexp": placeholder.Regexp, "header": placeholder.Header, "filename": placeholder.Filename, "value": placeholder.Value,
}

// eachTemplate shows every templated string of op, in the order of the fields.
func eachTemplate(op operation, show func(site)) {
	_ = replaceTemplates(op, func(s site) (any, error) { show(s); return s.text, nil })
}

// replaceTemplates puts what put returns in the place of every templated string
// of op. The first error ends it.
func replaceTemplates(op operation, put func(site) (any, error)) error {
	return replaceFields(reflect.ValueOf(op).Elem(), "", put)
}

func replaceFields(v reflect.Value, pointer string, put func(site) (any, error)) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := pointer + "/" + name
		tag, tagged := f.Tag.Lookup("fill")
		if !tagged {
			if f.Type.Kind() == reflect.Struct {
				if err := replaceFields(v.Field(i), at, put); err != nil {
					return err
				}
			}
			continue
		}
		filled, err := replaceTree(v.Field(i).Interface(), at, places[tag], put)
		if err != nil {
			return err
		}
		if filled == nil {
			v.Field(i).SetZero()
			continue
		}
		v.Field(i).Set(reflect.ValueOf(filled))
	}
	return nil
}

// replaceTree replaces the strings of a decoded JSON value, the keys of objects
// among them. It makes a new tree.
func replaceTree(x any, pointer string, place placeholder.Place, put func(site) (any, error)) (any, error) {
	switch x := x.(type) {
	case string:
		return put(site{pointer, x, place})
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
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		out := make(map[string]any, len(x))
		for _, k := range keys {
			at := pointer + "/" + escapePointer(k)
			name := any(k)
			if place == placeholder.Value { // a header's name is fixed, a body's key is not
				var err error
				if name, err = put(site{at, k, placeholder.Text}); err != nil {
					return nil, err
				}
			}
			value, err := replaceTree(x[k], at, place, put)
			if err != nil {
				return nil, err
			}
			if _, taken := out[name.(string)]; taken {
				return nil, Errorf(CodeInvalid, "two keys of the body at %s became %q", at, name)
			}
			out[name.(string)] = value
		}
		return out, nil
	}
	return x, nil
}

// asInvalidValue finds a value that its place does not allow.
func asInvalidValue(err error) (*placeholder.InvalidValueError, bool) {
	var bad *placeholder.InvalidValueError
	return bad, errors.As(err, &bad)
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
