package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rote/routine/routinetest/seeded"
)

func TestTruncateJSON(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, row := range []struct {
		name, data string
		room       int
		want, kept string
	}{
		{"what fits stays", `{"a":[1,2]}`, 64, `{"a":[1,2]}`, ""},
		{"a string ends at a character", `"` + strings.Repeat("€", 30) + `"`, 65, `"` + strings.Repeat("€", 21) + `"`, "data: the first 21 of 30 characters"},
		{"a string does not end in an escape", `"` + strings.Repeat(`\n`, 40) + `"`, 65, `"` + strings.Repeat(`\n`, 31) + `"`, "data: the first 31 of 40 characters"},
		{"a list loses whole items", `["` + long + `","b","c"]`, 108, `["` + long + `","b"]`, "data: the first 2 of 3 items"},
		{"of a long first item a part stays", `["` + long + `",2]`, 94, `["` + strings.Repeat("x", 90) + `"]`, "data: a part of the first of 2 items; data[0]: the first 90 of 100 characters"},
		{"small members stay whole", `{"long":"` + long + `","n":1}`, 84, `{"long":"` + strings.Repeat("x", 67) + `","n":1}`, "data.long: the first 67 of 100 characters"},
		{"too many members lose the last", `{"a":"` + long + `","b":"` + long + `","c":1}`, 130, `{"a":"` + long + `"}`, "data: the first 1 of 3 members"},
		{"a name that is too long", `{"` + long + `":1}`, 70, `{}`, "data: none of 1 members"},
		{"a number is not cut", `{"a":` + strings.Repeat("1", 100) + `}`, 80, `{"a":null}`, "data.a: left out, a number of 100 digits"},
		{"brackets alone do not fill the room", strings.Repeat("[", 100) + strings.Repeat("]", 100), 66, `[[]]`,
			"data: a part of the first of 1 items; data[0]: none of 1 items"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var c truncator
			got := string(c.fit(location{name: "data"}, json.RawMessage(row.data), row.room))
			kept := strings.Join(c.cuts, "; ")
			if got != row.want || kept != row.kept || len(got) > row.room {
				t.Errorf("got %s (%d bytes of %d), %q\nwant %s, %q", got, len(got), row.room, kept, row.want, row.kept)
			}
		})
	}
}

// Truncated JSON fits into its room, is valid JSON, and the loss is reported.
func TestTruncatedJSONAlwaysFits(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(anyJSON(5).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		v := cleanJSON(data)
		room := rapid.IntRange(minRoom, 600).Draw(t, "room")
		var c truncator
		got := c.fit(location{name: "data"}, v, room)
		if len(got) > room || !json.Valid(got) || (len(c.cuts) > 0) == (len(v) <= room) || got[0] != v[0] && string(got) != "null" {
			t.Errorf("%s\ncut to %d bytes is %s (%d bytes), %v", v, room, got, len(got), c.cuts)
		}
	})
}

func anyJSON(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Float64().AsAny(),
		rapid.StringN(0, 300, -1).AsAny(), rapid.Just[any](json.Number(strings.Repeat("7", 100)))}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) })
	return rapid.OneOf(append(leaves, rapid.SliceOf(inner).AsAny(), rapid.MapOf(rapid.StringN(0, 80, -1), inner).AsAny())...)
}

func TestTruncationSummaryIsBounded(t *testing.T) {
	var c truncator
	for i := range 100 {
		c.note(location{name: fmt.Sprintf("data[%d]", i)}, 1, "the first 1 of 2 characters")
	}
	kept := c.summary(120)
	if len(kept) != 4 || kept[3] != "and 97 places more" {
		t.Errorf("kept %q", kept)
	}
}
