package lesson

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// A call that is refused because of its values or its operations leaves the values of the
// lesson as they were: the next call works.
func TestRefusedValuesAreNotKept(t *testing.T) {
	tab := `{"type":"press","key":"Tab"}`
	typing := func(name string) string { return `{"type":"input_text","selector":"#a","text":"{{` + name + `}}"}` }
	many := map[string]json.RawMessage{}
	for i := range maxValues {
		many[fmt.Sprintf("v%d", i)] = routine.RawJSON(i)
	}
	long := routine.RawJSON(strings.Repeat("x", maxValueBytes))
	for _, row := range []struct {
		name      string
		operation string
		values    map[string]json.RawMessage
		pointer   string
		says      string
	}{
		{"a name with a dash", tab, map[string]json.RawMessage{"customer-number": json.RawMessage(`"1"`)}, "/values/customer-number",
			`"customer-number" cannot be the name of a value: write it as customer_number`},
		{"a word of placeholders", tab, map[string]json.RawMessage{"cookie": json.RawMessage(`"1"`)}, "/values/cookie", "write it as value_cookie"},
		{"no name", tab, map[string]json.RawMessage{"": json.RawMessage(`"1"`)}, "/values/", "write it as value"},
		{"a long name", tab, map[string]json.RawMessage{strings.Repeat("n", 65): json.RawMessage(`"1"`)}, "/values/" + routine.Truncate(strings.Repeat("n", 65), 60),
			"cannot be the name of a value"},
		{"one good and one bad value", typing("good"), map[string]json.RawMessage{"good": json.RawMessage(`"1"`), "z": json.RawMessage("null")},
			"/values/z", "null is none"},
		{"a wrong operation", `{"type":"click"}`, map[string]json.RawMessage{"good": json.RawMessage(`"1"`)}, "/operations/0", `needs the field "selector"`},
		{"another value is missing", typing("other"), map[string]json.RawMessage{"good": json.RawMessage(`"1"`)}, "/operations/0/text", "{{other}} has no value"},
		{"too many values", tab, many, "", "a lesson has at most 100 values, and this one would have 101"},
		{"a long value", tab, map[string]json.RawMessage{"good": long}, "", "8388608 bytes together"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClassroom(t, routinetest.Page{})
			id := c.start(t)
			c.tried(t, id, TryRequest{Operations: raw(typing("city")), Values: map[string]json.RawMessage{"city": json.RawMessage(`"Oslo"`)}})
			_, err := c.Try(t.Context(), author, id, TryRequest{Operations: raw(row.operation), Values: row.values})
			if routine.CodeOf(err) != routine.CodeInvalid {
				t.Fatal(err)
			}
			text, pointer := err.Error(), ""
			if ps := routine.AsError(err).Problems; len(ps) > 0 {
				text, pointer = ps[0].Message, ps[0].Pointer
			}
			if pointer != row.pointer || !strings.Contains(text, row.says) {
				t.Errorf("%s: %s; want %s: %s", pointer, text, row.pointer, row.says)
			}
			if answer := c.tried(t, id, TryRequest{Operations: raw(typing("city"))}); !answer.OK {
				t.Error(answer.Text())
			}
			_, err = c.Try(t.Context(), author, id, TryRequest{Operations: raw(typing("good"))})
			if routine.CodeOf(err) != routine.CodeInvalid {
				t.Errorf("a value of a refused call is used: %v", err)
			}
		})
	}
}

// Operations are checked with the declarations that they use: a value that makes a definition
// too large, or a declaration that is wrong, is in the way of no other operation.
func TestOperationsAreCheckedWithTheirOwnParameters(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	id := c.start(t)
	c.tried(t, id, TryRequest{Operations: raw(`{"type":"input_text","selector":"#a","text":"{{note}}"}`),
		Values: map[string]json.RawMessage{"note": routine.RawJSON(strings.Repeat("x", routine.MaxDefinitionBytes))}})
	for _, operation := range []string{`{"type":"press","key":"Tab"}`, `{"type":"input_text","selector":"#a","text":"{{\u006eote}}"}`} {
		if answer := c.tried(t, id, TryRequest{Operations: raw(operation)}); !answer.OK {
			t.Error(answer.Text())
		}
	}
	ctx, l, release, err := c.acquire(t.Context(), author, id, "a test")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	l.parameters = append(l.parameters, routine.Parameter{Name: "wrong", Type: "no-type"})
	if _, err := l.check(ctx, author, raw(`{"type":"press","key":"Tab"}`)); err != nil {
		t.Error(err, routine.AsError(err).Problems)
	}
}
