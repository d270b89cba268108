package lesson

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rote/routine"
)

// TestDeclarationsOfARequest saves a lesson that types "lamp", "2" and {{item}}, which is
// "Folding basket".
func TestDeclarationsOfARequest(t *testing.T) {
	t.Parallel()
	c := newClassroom(t, searchPage(found))
	id := c.teach(t, map[string]json.RawMessage{"item": json.RawMessage(`"Folding basket"`)}, typeLamp,
		`{"type":"input_text","selector":"#n","text":"2"}`, `{"type":"input_text","selector":"#i","text":"{{item}}"}`)
	for name, row := range map[string]struct {
		declarations []json.RawMessage
		want         string // a part of the first problem, as text
	}{
		"a value that is a placeholder": {raw(`{"name":"item","from":"Folding basket"}`), "/parameters/0/from: item is already a parameter: leave out from"},
		"a placeholder":                 {raw(`{"name":"item","from":"{{item}}"}`), "/parameters/0/from: item is already a parameter: leave out from"},
		"under another name": {raw(`{"name":"thing","from":"Folding basket"}`),
			`/parameters/0/from: "Folding basket" is already the parameter item: declare that one, without from`},
		"a text that is not there": {raw(`{"name":"q","from":"lamp"}`, `{"name":"thing","from":"chair"}`),
			`/parameters/1/from: no operation types, chooses or opens "chair"`},
		"a list in from": {raw(`{"name":"thing","from":["lamp"]}`), "/parameters/0/from: from must be the text that the parameter replaces"},
		"an unknown field": {raw(`{"name":"item"}`, `{"name":"q","from":"lamp","options":["a"]}`),
			`/parameters/1/options: a parameter has no field "options"; did you mean "enum_values"?`},
		"an unknown rule": {raw(`{"name":"item","validation":{"maximum":3}}`),
			`/parameters/0/validation/maximum: a parameter has no field "maximum"; did you mean "max_value"?`},
		"a number for a name": {raw(`{"name":5}`), "/parameters/0/name: the name of a parameter must be a string"},
		"no object":           {raw(`null`), "/parameters/0: a parameter is an object with a name"},
		"a rule that is missing": {raw(`{"name":"query","from":"lamp"}`, `{"name":"pieces","from":"2"}`, `{"name":"item","type":"enum"}`),
			"/parameters/2: an enum parameter needs enum_values"},
	} {
		_, err := c.Save(t.Context(), author, id, SaveRequest{Parameters: row.declarations})
		if routine.CodeOf(err) != routine.CodeInvalid || !strings.HasPrefix(routine.AsError(err).Problems[0].String(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, from := range []string{`2`, `"2"`} {
		saved, err := c.Save(t.Context(), author, id, SaveRequest{Parameters: raw(`{"name":"pieces","type":"integer","from":`+from+`}`, `{"name":"item","x-own":1}`)})
		if err != nil || len(saved.Replaced) != 1 || saved.Replaced[0].Pointer != "/operations/2/text" ||
			!strings.Contains(string(saved.Definition), `"name":"pieces","type":"integer"`) {
			t.Errorf("from %s: %+v, %v", from, saved, err)
		}
	}
}

func TestProblemsOfOtherParametersNameThem(t *testing.T) {
	t.Parallel()
	d := &draft{definition: routine.Definition{Parameters: []routine.Parameter{{Name: "a"}, {Name: "b"}}}, declaredAt: map[string]int{"b": 0}}
	err := d.withRequestPointers(routine.Invalid("routine", []routine.Problem{{Pointer: "/parameters/0/type", Message: "is wrong"},
		{Pointer: "/parameters/1/type", Message: "is wrong"}, {Pointer: "/operations/1", Message: "is wrong"}}))
	var got []string
	for _, p := range routine.AsError(err).Problems {
		got = append(got, p.String())
	}
	if want := []string{"(routine): parameter a: is wrong", "/parameters/0/type: is wrong", "/operations/1: is wrong"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
