package sanitize

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ohler55/ojg/jp"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/seeded"
)

// A filter looks at values of any kind: what it cannot compare does not match.
func TestFiltersOnAnyValue(t *testing.T) {
	for _, row := range []struct{ path, response, want string }{
		{`$[?(@.a == 1)]`, `null`, `[]`},
		{`$[?(@.a == 1)]`, `1`, `[]`},
		{`$[?(@.a == 1)]`, `"x"`, `[]`},
		{`$[?(@.a == 1)]`, `true`, `[]`},
		{`$[?(@.a == 1)]`, `[null,1,"x",[],{},{"a":1}]`, `[{"a":1}]`},
		{`$.x[?(@.a == 1)].b`, `{"x":null}`, `[]`},
		{`$.x[?(@.a == 1)].b`, `{"x":[null,{"a":1,"b":null}]}`, `[null]`},
		{`$..[?(@.a)]`, `[null,{"a":null}]`, `[{"a":null}]`},
		{`$[?(@ == null)]`, `[null,0,false,""]`, `[null]`},
		{`$[?(@.a == null)]`, `[{"a":null},{"a":0},{}]`, `[{"a":null}]`},
		{`$[?(@.a == Nothing)]`, `[{"a":null},{}]`, `[{}]`},
		{`$[?(@.a has false)]`, `[{"a":null},{}]`, `[{}]`},
		{`$[?(@.a empty true)]`, `[{"a":[]},{"a":{}},{"a":""},{"a":[0]},{"a":null}]`, `[{"a":[]},{"a":{}},{"a":""}]`},
		{`$[?(length(@.a) == 2)]`, `[{"a":"xy"},{"a":[1,2]},{"a":{"x":1,"y":2}},{"a":2}]`, `[{"a":"xy"},{"a":[1,2]},{"a":{"x":1,"y":2}}]`},
		{`$[?(count(@[*]) > 1)]`, `[[1,2],[1],null]`, `[[1,2]]`},
		{`$[?(@.a == @.b)]`, `[{"a":[1],"b":[1]},{"a":1,"b":1.0},{"a":{},"b":[]}]`, `[{"a":1,"b":1}]`},
		{`$[?(@.a in [1,'x',null])]`, `[{"a":1},{"a":"x"},{"a":null},{"a":[]},{}]`, `[{"a":1},{"a":"x"},{"a":null}]`},
		{`$[?([1] == [1])]`, `[1]`, `[]`},
		{`$[?(@.a > $[0])]`, `[12345678901234567890,{"a":12345678901234567891},{"a":12345678901234567889},{"a":1}]`, `[{"a":12345678901234567891}]`},
		{`$[?(@.a / 0 == 1)]`, `[{"a":1}]`, `[]`},
		{`$[?(@.a + 'b' == 'ab')]`, `[{"a":"a"},{"a":1}]`, `[{"a":"a"}]`},
		{`$[?(@.tags[*] == 'b')].n`, `[{"tags":["a","b"],"n":1},{"tags":["a"],"n":2},{"tags":null,"n":3}]`, `[1]`},
		{`$[?(!@.a && @.b == 1)].b`, `[{"a":1,"b":1},{"b":1},{"b":2}]`, `[1]`},
		{`$[?(!(@.a == 1 || @.a == 2))].a`, `[{"a":1},{"a":2},{"a":3}]`, `[3]`},
		{`$[?(@.a =~ /^x/)].a`, `[{"a":"xy"},{"a":"yx"},{"a":null}]`, `["xy"]`},
		{`$[?(match(@.a, 'x.'))].a`, `[{"a":"xy"},{"a":"xyz"},{"a":null}]`, `["xy"]`},
		{`$[?(search(@.a, 'y'))].a`, `[{"a":"xy"},{"a":"x"},{"a":null}]`, `["xy"]`},
		{`$[?(search(@.a, @.b))].a`, `[{"a":"xy","b":"("},{"a":"x","b":null},{"a":"x","b":"x"}]`, `["x"]`},
		{`$[?(true)]`, `[1,null]`, `[1,null]`},
		{`$[::-1]`, `[1,2,3]`, `[3,2,1]`},
		{`$[-2:]`, `[1,2,3]`, `[2,3]`},
		{`$[1:9]`, `[1,2,3]`, `[2,3]`},
		{`$[9:]`, `[1,2,3]`, `[]`},
		{`$['a','b']`, `null`, `[]`},
		{`$..*`, `null`, `[]`},
		{`$.a.b[0]`, `{"a":null}`, `null`},
	} {
		for _, sanitizer := range []string{`{"type":"json_path","path":`, `[{"type":"drop","paths":["$.nothing"]},{"type":"json_path","path":`} {
			end := map[byte]string{'{': "}", '[': "}]"}[sanitizer[0]]
			if got, err := sanitized(t, sanitizer+routine.JSONText(row.path)+end, row.response); got != row.want || err != nil {
				t.Errorf("%s on %s\n gave %s %v\n want %s", row.path, row.response, got, err, row.want)
			}
		}
		if _, err := sanitized(t, `{"type":"drop","paths":[`+routine.JSONText(row.path)+`]}`, row.response); err != nil {
			t.Errorf("drop %s on %s: %v", row.path, row.response, err)
		}
	}
}

// randomPath makes a path of parts that the library evaluates without a fault.
func randomPath(random *rand.Rand, filters bool) string {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var b strings.Builder
	b.WriteString("$")
	for i := range 1 + random.IntN(3) {
		switch part := random.IntN(7); {
		case part == 6 && filters:
			operand := func() string {
				return pick("@.a", "@[0]", "@", "$[0]", "@.a[*]", "1", "2.5", "'x'", "true", "null", "Nothing",
					"length(@.a)", "count(@.*)", "@.a + 1", "@[0] - $[0]", "[1,'x']", "'('")
			}
			test := operand() + " " + pick("==", "!=", "<", ">", "<=", ">=", "in", "=~", "has", "empty") + " " + operand()
			b.WriteString(pick("[?(", "[?(!", "[?(@.b || ") + "(" + test + "))]")
		default:
			if i == 0 || filters { // the library loses values where .. comes later
				b.WriteString(pick("", "", "..*"))
			}
			b.WriteString(pick(".a", "[0]", "[-1]", ".*", "[0:2]", "[::-1]", "['a',0]"))
		}
	}
	return b.String()
}

// randomJSON makes a value. An object has one member, so that it has one order.
func randomJSON(random *rand.Rand, depth int) any {
	switch kind := random.IntN(9); {
	case kind < 3 && depth > 0:
		list := make([]any, random.IntN(4))
		for i := range list {
			list[i] = randomJSON(random, depth-1)
		}
		return list
	case kind < 5 && depth > 0:
		return map[string]any{[]string{"a", "b"}[random.IntN(2)]: randomJSON(random, depth-1)}
	}
	return []any{nil, true, false, int64(1), int64(2), 2.5, "x", "", "12"}[random.IntN(9)]
}

// A path selects the same values as in the library. Filters are not compared,
// because the library panics on null or has unexpected results.
func TestPathsSelectWhatTheLibrarySelects(t *testing.T) {
	random := seeded.Rand(t)
	selected := 0
	for range 20_000 {
		path, value := randomPath(random, false), randomJSON(random, 4)
		x, err := jp.ParseString(path)
		if err != nil {
			t.Fatal(path, err)
		}
		var want any = x.Get(value)
		if list := want.([]any); x.Normal() && len(list) > 0 {
			want = list[0]
		} else if x.Normal() {
			want = nil
		} else if list == nil {
			want = []any{}
		}
		got, err := sanitized(t, `{"type":"json_path","path":`+routine.JSONText(path)+`}`, routine.JSONText(value))
		if got != routine.JSONText(want) || err != nil {
			t.Fatalf("%s on %s\n gave %s %v\n want %s", path, routine.JSONText(value), got, err, routine.JSONText(want))
		}
		if got != "null" && got != "[]" {
			selected++
		}
	}
	if selected < 2000 {
		t.Errorf("only %d paths selected anything", selected)
	}
}

// No path and no response gives an internal error or a panic, and json_path and
// drop agree: nothing is left of what is dropped.
func TestNoResponseBreaksAPath(t *testing.T) {
	optional.OneGoroutine(t)
	random := seeded.Rand(t)
	for range 20_000 {
		path, value := randomPath(random, true), routine.JSONText(randomJSON(random, 4))
		for _, sanitizer := range []string{`{"type":"json_path","path":%s}`, `{"type":"json_path","paths":["$",%s]}`, `{"type":"drop","paths":[%s]}`} {
			raw := json.RawMessage(fmt.Sprintf(sanitizer, routine.JSONText(path)))
			if _, problems := Parse(raw); len(problems) > 0 {
				t.Fatalf("%s: %v", path, problems)
			}
			out, err := sanitized(t, string(raw), value)
			if err != nil || !json.Valid([]byte(out)) {
				t.Fatalf("%s on %s: %s, %v", raw, value, out, err)
			}
		}
	}
}
