package sanitize

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

// sanitized runs a data_sanitizer on a response.
func sanitized(t *testing.T, sanitizer, response string) (string, error) {
	t.Helper()
	steps, problems := Parse(json.RawMessage(sanitizer))
	if len(problems) > 0 {
		t.Fatalf("%s: %v", sanitizer, problems)
	}
	text := []byte(response)
	for _, s := range steps {
		var err error
		if text, err = s.Apply(t.Context(), text, 0, func(string) {}); err != nil {
			return "", err
		}
	}
	return string(text), nil
}

const catalogue = `{"total": 2, "items": [
	{"name": "Lämp", "price": 9.5, "sku": 12345678901234567890.10, "thumbnail": "aaaa", "tags": ["a", "b"]},
	{"name": "Mill", "price": 20.00, "thumbnail": "bbbb", "more": {"thumbnail": "cc", "name": "Inner"}}],
	"a.b": {"c d": null}, "z": 1, "a": "<&>"}`

func TestJSONPath(t *testing.T) {
	const items = `[{"name":"Lämp","price":9.5,"sku":12345678901234567890.10,"thumbnail":"aaaa","tags":["a","b"]},` +
		`{"name":"Mill","price":20,"thumbnail":"bbbb","more":{"thumbnail":"cc","name":"Inner"}}]`
	for path, want := range map[string]string{
		// One place: the bare value.
		`$.total`:             `2`,
		`$`:                   `{"total":2,"items":` + items + `,"a.b":{"c d":null},"z":1,"a":"<&>"}`,
		`$.items[0].sku`:      `12345678901234567890.10`,
		`$.items[-1].name`:    `"Mill"`,
		`$['items'][0].tags`:  `["a","b"]`,
		`$['a.b']['c d']`:     `null`,
		`$.nothing`:           `null`,
		`$.items[9].name`:     `null`,
		`$.total.more`:        `null`,
		`$.items[1].more`:     `{"thumbnail":"cc","name":"Inner"}`,
		`$.items[0]["name"]`:  `"Lämp"`,
		`$.a`:                 `"<&>"`,
		`$.items[0].tags[1]`:  `"b"`,
		`$.items[ 1 ].name`:   `"Mill"`,
		`$.items[0].price`:    `9.5`,
		`$.items[0].tags[-9]`: `null`,
		// Any other: a list, in the order of the response.
		`$.items[*].name`:                      `["Lämp","Mill"]`,
		`$..name`:                              `["Lämp","Inner","Mill"]`, // what is inside comes first
		`$.items[0:1].name`:                    `["Lämp"]`,
		`$.items[1,0].name`:                    `["Mill","Lämp"]`,
		`$.*`:                                  `[2,` + items + `,{"c d":null},1,"<&>"]`,
		`$.items[*].nothing`:                   `[]`,
		`$.items[?(@.price > 9.5)].name`:       `["Mill"]`,
		`$.items[?(@.price <= 9.5)].name`:      `["Lämp"]`,
		`$.items[?(@.price == 20)].name`:       `["Mill"]`,
		`$.items[?@.name == 'Mill'].price`:     `[20]`,
		`$.items[?(@.more.name)].name`:         `["Mill"]`,
		`$.items[?(@.name =~ /^L/)].price`:     `[9.5]`,
		`$.items[*]['name','price']`:           `["Lämp",9.5,"Mill",20]`,
		`$.items[?(@.price > $.total)].name`:   `["Lämp","Mill"]`,
		`$.items[?(@.thumbnail)].thumbnail`:    `["aaaa","bbbb"]`,
		`$.items[*].tags[*]`:                   `["a","b"]`,
		`$..thumbnail`:                         `["aaaa","cc","bbbb"]`,
		`$.items[?(@.price > 5 && @.sku)].sku`: `[12345678901234567890.10]`,
	} {
		sanitizer, _ := json.Marshal(map[string]string{"type": "json_path", "path": path})
		for range 5 { // maps have no order, the answer has
			if got, err := sanitized(t, string(sanitizer), catalogue); got != want || err != nil {
				t.Errorf("%s\n gave %s %v\n want %s", path, got, err, want)
				break
			}
		}
	}
}

func TestSanitizerSteps(t *testing.T) {
	for _, row := range []struct{ name, sanitizer, response, want string }{
		{"none", `null`, "as it is", "as it is"},
		{"empty list", `[]`, "as it is", "as it is"},
		{"paths make an object", `{"type": "json_path", "paths": ["$.total", "$..name", "$.nothing"]}`, catalogue, `{"$.total":2,"$..name":["Lämp","Inner","Mill"],"$.nothing":null}`},
		{"one of paths is an object too", `{"type": "json_path", "paths": ["$.z"]}`, catalogue, `{"$.z":1}`},
		{"a bare value", `{"type": "json_path", "path": "$"}`, ` "x" `, `"x"`},
		{"drop a field", `{"type": "drop", "paths": ["$.items", "$.a"]}`, catalogue, `{"total":2,"a.b":{"c d":null},"z":1}`},
		{"drop wherever it is", `{"type": "drop", "paths": ["$..thumbnail", "$..sku"]}`, `[{"thumbnail": 1, "a": [{"thumbnail": {"thumbnail": 2}, "b": 1.10}]}, 3]`, `[{"a":[{"b":1.1}]},3]`},
		{"drop at the top too", `{"type": "drop", "paths": ["$..a"]}`, `{"a": 1, "b": {"a": 2, "c": {"a": 3}}}`, `{"b":{"c":{}}}`},
		{"drop items", `{"type": "drop", "paths": ["$[1:3]", "$[0]"]}`, `[0, 1, 2, 3, 4]`, `[3,4]`},
		{"drop the last item", `{"type": "drop", "paths": ["$[-1]"]}`, `[0, 1]`, `[0]`},
		{"drop all items", `{"type": "drop", "paths": ["$.a[*]"]}`, `{"a": [1, 2], "b": 1}`, `{"a":[],"b":1}`},
		{"drop by a filter", `{"type": "drop", "paths": ["$.a[?(@.n > 1)]"]}`, `{"a": [{"n": 1}, {"n": 2}, {"n": 1.5}, {"n": 0}]}`, `{"a":[{"n":1},{"n":0}]}`},
		{"drop several", `{"type": "drop", "paths": ["$['a','c']"]}`, `{"a": 1, "b": 2, "c": 3}`, `{"b":2}`},
		{"drop nothing", `{"type": "drop", "paths": ["$.x.y", "$..z"]}`, `{"a":{"b":[]}}`, `{"a":{"b":[]}}`},
		{"keys keep their order, the last of two counts", `{"type": "drop", "paths": ["$.x"]}`, `{"b":1,"a":2,"x":3,"b":4}`, `{"b":4,"a":2}`},
		{"truncate", `{"type": "truncate", "max_chars": 3}`, "é😀\nxy", "é😀\n"},
		{"truncate what is short", `{"type": "truncate", "max_chars": 3}`, "é😀x", "é😀x"},
		{"in order", `[{"type": "json_path", "path": "$.html"}, {"type": "html_to_text"}, {"type": "truncate", "max_chars": 6}]`, `{"html": "<p>Hello, \"you\""}`, `Hello,`},
		{"text", `{"type": "html_to_text"}`,
			"<!doctype html><title>T</title><style>a{}</style><body><h1>One</h1><p>Two <b>bold</b> &amp;\n three</p>" +
				"<script>x()</script><table><tr><td>a</td><td>b</td></tr></table><ul><li>x<li>y</ul><template>no</template>",
			"One\nTwo bold & three\na b\nx\ny"},
		{"text of no HTML", `{"type": "html_to_text"}`, "a < b\n c", "a < b c"},
		{"markdown", `{"type": "html_to_markdown"}`, `<h1>One</h1><p>Two <b>bold</b> <a href="/x">link</a></p><ul><li>x<li>y</ul><script>x()</script>`, "# One\n\nTwo **bold** [link](/x)\n\n- x\n- y"},
		{"markdown table", `{"type": "html_to_markdown"}`,
			`<table><tr><th>Product<th>Price<th>Qty<tr><td>Lamp<td>12<td>5<tr><td>Chair<td>99<td>1</table>`,
			"| Product | Price | Qty |\n|---|---|---|\n| Lamp | 12 | 5 |\n| Chair | 99 | 1 |"},
		{"markdown table without a header", `{"type": "html_to_markdown"}`, `<p>x<table><tr><td>1<td>2</table>`, "x\n\n|  |  |\n|---|---|\n| 1 | 2 |"},
		{"markdown of pipes and lines in cells", `{"type": "html_to_markdown"}`,
			`<table><tr><th>a|b<th><code>c|d</code><tr><td><div>1</div><div>2</div><td>3<br>4</table>`,
			"| a\\|b | `c\\|d` |\n|---|---|\n| 1<br>2 | 3<br>4 |"},
		{"markdown of wide and high cells", `{"type": "html_to_markdown"}`,
			`<table><tr><th colspan=2>a<th>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>`,
			"| a |  | b |\n|---|---|---|\n| 1 | 2 | 3 |\n|  | 4 | 5 |"},
		{"markdown of a table in a table", `{"type": "html_to_markdown"}`,
			`<table><tr><td>12<td>5<tr><td><table><tr><th>a<th>b<tr><td>1<td>2</table><td>9</table>`,
			"12\n\n5\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n9"},
		{"markdown of a list in a cell", `{"type": "html_to_markdown"}`, `<table><tr><td>12<td><ul><li>5</ul><td>6</table>`, "12\n\n- 5\n\n6"},
		{"markdown of a cell over later rows", `{"type": "html_to_markdown"}`,
			`<table><tr><th>a<th>b<th rowspan=3>c<tr><td>1<td>2<tr><td>3<td>4<tr><td>5<td>6<td>7</table>`,
			"| a | b | c |\n|---|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 | 7 |"},
		{"markdown of a caption and row headers", `{"type": "html_to_markdown"}`, `<table><caption>C</caption><tr><th>a<td>1<tr><th>b<td>2</table>`, "C\n\n|  |  |\n|---|---|\n| a | 1 |\n| b | 2 |"},
		{"markdown of a table in a link", `{"type": "html_to_markdown"}`, `<a href=/x><table><tr><td>12<td>5</table></a>`, "[12](/x)\n\n[5](/x)"},
		{"markdown of an empty table", `{"type": "html_to_markdown"}`, `<p>x<table></table><p>y`, "x\n\ny"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, err := sanitized(t, row.sanitizer, row.response); got != row.want || err != nil {
				t.Errorf("gave %q, %v\nwant %q", got, err, row.want)
			}
		})
	}
}

func TestSanitizerErrors(t *testing.T) {
	optional.OneGoroutine(t)
	deep := strings.Repeat(`{"a":[`, 240) + strings.Repeat(`]}`, 240)
	for _, row := range []struct {
		name, sanitizer, response string
		code                      routine.Code
		says                      string
	}{
		{"no JSON", `{"type": "json_path", "path": "$.a"}`, "<html>not found", routine.CodeValueMissing, `needs a JSON response`},
		{"nothing", `{"type": "json_path", "path": "$.a"}`, "", routine.CodeValueMissing, `this one begins ""`},
		{"JSON and more", `{"type": "drop", "paths": ["$.a"]}`, `{"a": 1} x`, routine.CodeValueMissing, "text follows"},
		{"text of the step before", `[{"type": "truncate", "max_chars": 5}, {"type": "json_path", "path": "$.a"}]`, `{"a": 1}`, routine.CodeValueMissing, "json_path needs"},
		{"too deep", `{"type": "json_path", "path": "$.a"}`, strings.Repeat("[", 501) + strings.Repeat("]", 501), routine.CodeValueMissing, "nests more than 500"},
		{"deeper than any JSON", `{"type": "json_path", "path": "$.a"}`, strings.Repeat("[", 1<<20), routine.CodeValueMissing, "nests more than 500"},
		{"values without end", `{"type": "json_path", "path": "$..a..a..a..a"}`, deep, routine.CodeResultTooLarge, ""},
		{"removals without end", `{"type": "drop", "paths": ["$..a..a..a..b"]}`, deep, routine.CodeResultTooLarge, ""},
		{"text without end", `{"type": "json_path", "path": "$..a"}`, strings.Repeat(`{"t":"`+strings.Repeat("x", 3000)+`","a":`, 240) + "1" +
			strings.Repeat("}", 240), routine.CodeResultTooLarge, "select less"},
		{"too much HTML", `{"type": "html_to_text"}`, strings.Repeat("x", maxHTML+1), routine.CodeResultTooLarge, "truncate"},
		{"more Markdown than a page can be", `{"type": "html_to_markdown"}`, strings.Repeat("<ul><li>x<br>y", maxHTML/14), routine.CodeResultTooLarge, "html_to_text"},
		{"more values than can be looked into", `{"type": "json_path", "path": "$[0]"}`, "[" + strings.Repeat("{},", maxJSONValues) + "1]", routine.CodeResultTooLarge, "4000000 JSON values"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var err error
			took := stopwatch.Time(func() { _, err = sanitized(t, row.sanitizer, row.response) })
			if routine.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.says) || len(err.Error()) > 400 {
				t.Errorf("%v: %v", routine.CodeOf(err), err)
			}
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Removing much costs no more than removing little.
func TestDropIsLinear(t *testing.T) {
	items := strings.TrimSuffix(strings.Repeat(`{"n": 1, "a": 2},`, 100_000), ",")
	var got string
	var err error
	took := stopwatch.Time(func() { got, err = sanitized(t, `{"type": "drop", "paths": ["$[?(@.n == 1)]"]}`, "["+items+"]") })
	if got != "[]" || err != nil {
		t.Errorf("%.40s, %v", got, err)
	}
	if took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// A page cannot make much Markdown of a few bytes of table.
func TestTablesStayInProportion(t *testing.T) {
	optional.OneGoroutine(t)
	for name, page := range map[string]string{
		"a wide cell":    `<table><tr><td colspan=999999999>12<td>5</table>`,
		"a high cell":    `<table><tr><td rowspan=99999999999999999999>12<td>5</table>`,
		"many wide":      `<table><tr>` + strings.Repeat(`<td colspan=1000>12<td>5`, 10_000) + `</table>`,
		"a long row":     `<table><tr>` + strings.Repeat(`<td>12<td>5`, 50_000) + strings.Repeat(`<tr><td>1`, 50_000) + `</table>`,
		"a long cell":    `<table><tr><td>12<td>5` + strings.Repeat("x", 1<<20) + strings.Repeat(`<tr><td>1<td>2`, 10_000) + `</table>`,
		"tables in rows": strings.Repeat(`<table><tr><td>12<td>5<tr><td>`, 100),
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			var err error
			took := stopwatch.Time(func() { got, err = sanitized(t, `{"type": "html_to_markdown"}`, page) })
			if err != nil || len(got) > 4<<20 || !strings.Contains(got, "12") || strings.Contains(got, "125") {
				t.Errorf("%d bytes, %v: %.100q", len(got), err, got)
			}
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
