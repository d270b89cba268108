package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"pgregory.net/rapid"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/routinetest/seeded"
)

// fataler is a test, of the standard library or of rapid.
type fataler interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// reader puts data together again from the pages of a walk.
type reader struct {
	root *node
	// texts are pieces of JSON text, by the path of what they are of.
	texts map[string]string
}

// node is a JSON value, taken apart as far as pages name its parts.
type node struct {
	value   json.RawMessage // of a number, true, false or null
	text    *string
	members []*node
	names   []json.RawMessage // of an object; nil in an array
	object  bool
}

func newNode(v json.RawMessage) *node {
	switch v[0] {
	case '"':
		var text string
		if err := json.Unmarshal(v, &text); err != nil {
			panic(err)
		}
		return &node{text: &text}
	case '[', '{':
		n := &node{object: v[0] == '{'}
		for _, m := range eachMember(v) {
			n.members, n.names = append(n.members, newNode(m.value)), append(n.names, m.name)
		}
		return n
	}
	return &node{value: v}
}

func (n *node) json() json.RawMessage {
	switch {
	case n.text != nil:
		return routine.RawJSON(*n.text)
	case n.value != nil:
		return n.value
	}
	var out json.RawMessage
	for i, m := range n.members {
		if n.names[i] != nil {
			out = append(append(out, n.names[i]...), ':')
		}
		out = append(append(out, m.json()...), ',')
	}
	out = bytes.TrimSuffix(out, []byte(","))
	if n.object {
		return slices.Concat([]byte("{"), out, []byte("}"))
	}
	return slices.Concat([]byte("["), out, []byte("]"))
}

// at finds the node that a pointer leads to.
func (n *node) at(t fataler, pointer string) *node {
	if pointer == "" {
		return n
	}
steps:
	for _, step := range strings.Split(pointer[1:], "/") {
		step = routine.UnescapePointer(step)
		for i, m := range n.members {
			if n.names[i] == nil && fmt.Sprint(i) == step || n.names[i] != nil && (member{name: n.names[i]}).key() == step {
				n = m
				continue steps
			}
		}
		t.Fatalf("%s leads nowhere in what has come so far", pointer)
	}
	return n
}

// put adds a page: what comes after the first offset members or characters.
func (r *reader) put(t fataler, d decoded) {
	switch p := d.Part; {
	case p == nil:
		r.root = newNode(d.Data)
	case p.TextOffset != nil:
		var piece string
		if err := json.Unmarshal(d.Data, &piece); err != nil {
			t.Fatal(err)
		}
		if _, begun := r.texts[p.Path]; !begun { // what has come already is the text up to here
			n := r.root.at(t, p.Path)
			whole := cleanJSON(n.json()) // in the spelling of the offsets
			if n.members != nil {
				whole = append(whole[:len(whole)-1], ',')
			}
			r.texts[p.Path] = string([]rune(string(whole))[:*p.TextOffset])
		}
		r.texts[p.Path] += piece
		if text := r.texts[p.Path]; json.Valid([]byte(text)) {
			*r.root.at(t, p.Path) = *newNode(json.RawMessage(text))
		}
	default:
		old, fresh := r.root.at(t, p.Path), newNode(d.Data)
		switch {
		case fresh.text != nil:
			*old.text = string([]rune(*old.text)[:p.Offset]) + *fresh.text
		case fresh.value != nil:
			*old = *fresh
		default:
			old.members, old.names = append(old.members[:p.Offset:p.Offset], fresh.members...), append(old.names[:p.Offset:p.Offset], fresh.names...)
		}
	}
}

// answerTo is the answer of get_execution to a call.
func answerTo(t fataler, e *routine.Execution, p dataRange) (d decoded) {
	result, err := (&caller{server: &Server{}}).succeeded(wire.WithPrincipal(context.Background(), ann), e, p)
	if err != nil {
		t.Fatal(err)
	}
	text := result.Content[0].(mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &d); err != nil || len(text) > maxResult {
		t.Fatalf("%v in an answer of %d bytes", err, len(text))
	}
	return d
}

// nextPart is what the call asks for that an answer names; nil: it names none.
func nextPart(t fataler, d decoded) *dataRange {
	if d.Truncated == nil {
		return nil
	}
	arguments, err := json.Marshal(d.Truncated.Next.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	var p dataRange
	if err := json.Unmarshal(arguments, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// walk reads the data of an execution as an agent does: it follows next.
func walk(t fataler, data json.RawMessage, first dataRange) json.RawMessage {
	e := &routine.Execution{ID: "e", Status: routine.ExecutionCompleted, Result: &routine.Result{Data: data}}
	r := reader{texts: map[string]string{}}
	p := &first
	for range 1000 {
		d := answerTo(t, e, *p)
		r.put(t, d)
		if p = nextPart(t, d); p == nil {
			return r.root.json()
		}
	}
	t.Fatal("the walk does not end")
	return nil
}

// A client that follows next gets every byte, no matter how the data is
// structured.
func TestPagesReturnEveryByte(t *testing.T) {
	seeded.CheckFew(t, 25, func(t *rapid.T) {
		data, err := json.Marshal(largeJSON().Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 200_000 {
			t.Skip("a walk over this takes too long")
		}
		want := cleanJSON(data)
		if got := cleanJSON(walk(t, want, dataRange{})); string(got) != string(want) { // in one spelling
			t.Fatalf("got %d bytes, want %d: %s", len(got), len(want), firstDifference(string(got), string(want)))
		}
	})
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("from byte %d on %.60q, not %.60q", i, a[i:], b[i:])
}

// largeJSON draws values whose JSON is some ten times what an answer holds.
func largeJSON() *rapid.Generator[any] {
	text := rapid.Custom(func(t *rapid.T) any {
		return strings.Repeat(rapid.StringN(1, 20, -1).Draw(t, "text"), rapid.SampledFrom([]int{1, 10, 500, 5000}).Draw(t, "times"))
	})
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.StringN(1, 8, -1).Draw(t, "name"), rapid.SampledFrom([]int{1, 1, 1, 20, 60, 9000}).Draw(t, "times"))
	})
	number := rapid.Custom(func(t *rapid.T) any {
		return json.Number(strings.Repeat("7", rapid.SampledFrom([]int{1, 10, 100, 40_000}).Draw(t, "digits")))
	})
	value := rapid.OneOf(text, number, rapid.Just[any](nil), rapid.Bool().AsAny())
	for range 2 {
		inner := value
		list := rapid.Custom(func(t *rapid.T) any {
			some := rapid.SliceOfN(inner, 0, 6).Draw(t, "items")
			var all []any
			for range rapid.SampledFrom([]int{1, 1, 20, 300}).Draw(t, "times") {
				all = append(all, some...)
			}
			return all[:min(len(all), 400)]
		})
		deep := rapid.Custom(func(t *rapid.T) any {
			v := inner.Draw(t, "inside")
			for range rapid.SampledFrom([]int{1, 30, 300}).Draw(t, "depth") {
				v = []any{v, 1}
			}
			return v
		})
		value = rapid.OneOf(inner, list, deep, rapid.MapOfN(name, inner, 0, 8).AsAny())
	}
	return value
}

// TestPagesOfUnusualData walks over what random shapes rarely have.
func TestPagesOfUnusualData(t *testing.T) {
	long := strings.Repeat("x", 40_000)
	for name, text := range map[string]string{
		"a text of pairs of surrogates": `"` + strings.Repeat(`\ud83d\ude00`, 20_000) + `"`,
		"a text of quotes":              `"` + strings.Repeat(`\"`, 40_000) + `"`,
		"doubled names":                 `{"a":"` + long + `","a":"` + long + `1","b":2}`,
		"a long name":                   `{"first":1,"` + long + `":{"a":["` + long + `"]},"last":2}`,
		"a long number":                 strings.Repeat("7", 70_000),
		"a long number in an object":    `{"a":` + strings.Repeat("7", 70_000) + `,"b":[1]}`,
		"names with slashes":            `{"/~":{"~1":"` + long + `"},"z":"` + long + `"}`,
		"an empty name":                 `{"":"` + long + `","z":1}`,
		"many long members":             `{"a":"` + long + `","b":["` + long + `",3],"c":{"d":"` + long + `"},"e":5}`,
		"deep lists":                    strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
		"many small numbers":            "[" + strings.Repeat("1,", 30_000) + "2]",
	} {
		t.Run(name, func(t *testing.T) {
			want := cleanJSON(json.RawMessage(text))
			if got := walk(t, want, dataRange{}); string(got) != string(want) {
				t.Fatalf("got %d bytes, want %d: %s", len(got), len(want), firstDifference(string(got), string(want)))
			}
		})
	}
}

// Pages of a part end with the part. Pages of a limited part return the rest of
// it.
func TestPagesOfAPartOfTheData(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	data := json.RawMessage(`{"a":["0` + long + `","1` + long + `","2` + long + `","3` + long + `"],"b":"` + long + `"}`)
	for want, first := range map[string]dataRange{
		`["0` + long + `","1` + long + `","2` + long + `","3` + long + `"]`: {Path: "/a"},
		`["1` + long + `","2` + long + `"]`:                                 {Path: "/a", Offset: 1, Limit: 2},
		`"` + long + `"`:                                                    {Path: "/b"},
	} {
		e := &routine.Execution{ID: "e", Status: routine.ExecutionCompleted, Result: &routine.Result{Data: data}}
		var got strings.Builder // all letters, in order
		for p := &first; p != nil; {
			d := answerTo(t, e, *p)
			got.WriteString(strings.Trim(string(d.Data), `[]"`))
			p = nextPart(t, d)
		}
		letters := strings.NewReplacer(`"`, "", `[`, "", `]`, "", `,`, "")
		if letters.Replace(got.String()) != letters.Replace(want) {
			t.Errorf("%+v: %d letters, want %d", first, got.Len(), len(want))
		}
	}
}
