//go:build unix && !race

package definition

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

const mib = 1 << 20

// fillMiB repeats what unit gives for 0, 1, 2... up to a mebibyte.
func fillMiB(unit func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < mib; i++ {
		b.WriteString(unit(i))
	}
	return b.String()
}

func same(unit string) string { return fillMiB(func(int) string { return unit }) }

// list is JSON items, each with its number in the place of %d.
func list(item string) string {
	return strings.TrimSuffix(fillMiB(func(i int) string { return strings.ReplaceAll(item, "%d", fmt.Sprint(i)) + "," }), ",")
}

// hostileTexts have a mebibyte of one thing each.
func hostileTexts() map[string]string {
	op := func(fields string) string { return around(`{` + fields + `}`) }
	fetch := func(fields string) string {
		return op(`"type": "fetch", "endpoint": {"url": "/", "method": "POST", ` + fields + `}`)
	}
	sanitizer := func(s string) string {
		return op(`"type": "fetch", "endpoint": {"url": "/"}, "data_sanitizer": ` + s)
	}
	parameter := func(fields string) string { return declaring(`{"name": "p", ` + fields + `}`) }
	texts := map[string]string{
		"[":                      same("["),
		`{"a":`:                  same(`{"a":`),
		"[]":                     `[` + list("[]") + `]`,
		"digits":                 same("7"),
		"one string":             `"` + same("x") + `"`,
		"escapes":                op(`"type": "press", "key": "` + same(`\u00e9`) + `"`),
		"escaped quotes":         op(`"type": "press", "key": "` + same(`\\\"`) + `"`),
		"blank lines":            same("\n") + "{",
		"line breaks":            around(strings.ReplaceAll(list(`{"type":"x%d"}`), ",", "\n,")),
		"commas":                 "[" + same(","),
		"comments":               "{" + same("/**/"),
		"zero bytes":             same("\x00"),
		"no UTF-8":               op(`"type": "press", "key": "` + same("\xff") + `"`),
		"many that are no UTF-8": around(list("{\"type\": \"\xff\"}")),
		"half characters":        around(list(`{"type":"\ud800"}`)),
		"same keys":              "{" + list(`"a":1`) + "}",
		"unknown fields":         op(`"type": "press", "key": "a", ` + list(`"f%d":1`)),
		"x- fields":              op(`"type": "press", "key": "a", ` + list(`"x-%d":1`)),
		"unknown fields on top":  `{"name": "n", ` + list(`"f%d":1`) + `}`,
		"unknown types":          around(list(`{"type":"x"}`)),
		"misspelt types":         around(list(`{"type":"clik"}`)),
		"no operations":          around(list(`5`)),
		"operations":             around(list(`{"type":"press","key":"a"}`)),
		"sleeps":                 around(list(`{"type":"sleep","timeout_seconds":1.5}`)),
		"returns":                around(list(`{"type":"return","session_storage_key":"k%d"}`)),
		"stores":                 around(list(`{"type":"get_cookies","session_storage_key":"k%d"},{"type":"return","session_storage_key":"k"}`)),
		"clicks":                 around(list(`{"type":"click","selector":"#a%d > .b"}`)),
		"faulty clicks":          around(list(`{"type":"click","selector":"a>>b"}`)),
		"misspelt fields":        around(list(`{"type":"click","css":"a"}`)),
		"tags":                   `{"tags": [` + list(`1`) + `]}`,
		"name":                   `{"name": "` + same("{{a}}") + `", "description": "` + strings.Repeat("{{a}}", 1000) + `"}`,
		"headers":                fetch(`"headers": {` + list(`"h%d":"v"`) + `}`),
		"bad headers":            fetch(`"headers": {` + list(`" %d":[]`) + `}`),
		"body":                   fetch(`"body": [` + list(`{"a":1}`) + `]`),
		"body's keys":            fetch(`"body": {` + list(`"k%d":"v"`) + `}`),
		"URLs":                   around(list(`{"type":"navigate","url":"https://a.example/%d?b=c"}`)),
		"relative URLs":          around(list(`{"type":"navigate","url":"a/%d"}`)),
		"steps":                  sanitizer(`[` + list(`{"type":"html_to_text"}`) + `]`),
		"faulty steps":           sanitizer(`[` + list(`{"type":"drop"}`) + `]`),
		"paths":                  sanitizer(`{"type": "drop", "paths": [` + list(`"$.a%d"`) + `]}`),
		"faulty paths":           sanitizer(`{"type": "drop", "paths": [` + list(`"$.a["`) + `]}`),
		"a long path":            sanitizer(`{"type": "json_path", "path": "$` + same(".a") + `"}`),
		"a long script":          op(`"type": "js_evaluate", "js": "` + same("a;") + `"`),
		"long scripts":           around(strings.TrimSuffix(strings.Repeat(`{"type":"js_evaluate","js":"(()=>{`+strings.Repeat("a.b(c);", 35000)+`})()"},`, 4), ",")),
		"short scripts":          around(list(`{"type":"js_evaluate","js":"(()=>%d)()"}`)),
		"a long expression":      op(`"type": "wait_for_url", "url_regex": "` + same("(") + `"`),
		"expressions":            around(list(`{"type":"wait_for_url","url_regex":"^/a%d(/|$)"}`)),
		"long expressions":       around(list(`{"type":"wait_for_url","url_regex":"` + strings.Repeat("(a*b|[^c]+)?", 300) + `"}`)),
		"a long selector":        op(`"type": "click", "selector": "` + same(":not(") + `"`),
		"a list of selectors":    op(`"type": "click", "selector": "` + same("a>b,") + `"`),
		"parameters":             `{"parameters": [` + list(`{"name":"p%d"}`) + `], "name": "n", "description": "d", "operations": [{"type": "return_html"}]}`,
		"same parameters":        `{"parameters": [` + list(`{"name":"p"}`) + `], "name": "n", "description": "d", "operations": [{"type": "return_html"}]}`,
		"faulty parameters":      `{"parameters": [` + list(`{"name":"%d-"}`) + `]}`,
		"patterns":               `{"parameters": [` + list(`{"name":"p%d","pattern":"^a%d$"}`) + `]}`,
		"choices":                parameter(`"type": "enum", "enum_values": [` + list(`"v%d"`) + `]`),
		"numeric choices":        parameter(`"type": "enum", "enum_values": [` + list(`%d.5`) + `]`),
		"examples":               parameter(`"examples": [` + list(`"e%d"`) + `]`),
		"faulty examples":        parameter(`"examples": [` + list(`%d`) + `]`),
		"matched examples":       parameter(`"pattern": "a.*b.*c.*d$", "examples": [` + list(`"aaabbbccc%d"`) + `]`),
		"a catastrophic default": parameter(`"pattern": "^(a+)+$", "examples": ["` + strings.Repeat("a", 100) + `!", ` + list(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"`) + `]`),
		"declared and used":      `{"parameters": [` + list(`{"name":"p%d"}`)[:mib/2] + `"}], "operations": [{"type": "press", "key": "` + strings.Repeat("{{q}}", 1<<15) + `"}]}`,
	}
	for name, around := range map[string]string{
		"text": `"type": "press", "key": "%s"`, "URL": `"type": "navigate", "url": "%s"`, "selector": `"type": "click", "selector": "%s"`, "expression": `"type": "wait_for_url", "url_regex": "%s"`,
		"script": `"type": "js_evaluate", "js": "%s"`, "header": `"type": "fetch", "endpoint": {"url": "/", "headers": {"a": "%s"}}`,
		"body":      `"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": "%s"}`,
		"key":       `"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": {"%s": 1}}`,
		"file name": `"type": "download", "endpoint": {"url": "/"}, "filename": "%s"`,
	} {
		texts["50,000 placeholders in a "+name] = op(strings.Replace(around, "%s", strings.Repeat("{{abcdefghijklmno}} ", 50_000), 1))
		texts["30,000 placeholders in a "+name] = op(strings.Replace(around, "%s", strings.Repeat("{{abcdefghijklmno}} ", 30_000), 1))
		texts["faulty placeholders in a "+name] = op(strings.Replace(around, "%s", strings.Repeat("{{window:abcdefgh}} ", 30_000), 1))
		texts["braces in a "+name] = op(strings.Replace(around, "%s", same("{{"), 1))
	}
	return texts
}

// plainTime is what the standard library takes to read a mebibyte of small
// objects here and now.
func plainTime(text string) time.Duration {
	best := time.Hour
	for range 5 {
		start := stopwatch.ProcessorTime()
		var v any
		_ = json.Unmarshal([]byte(text), &v)
		best = min(best, stopwatch.ProcessorTime()-start)
	}
	return best
}

// allowed is how long the answer to a mebibyte may take: 100 ms, or on a slow
// machine ten times what plain reading takes.
func allowed(plain time.Duration) time.Duration {
	if plain <= 15*time.Millisecond {
		return 100 * time.Millisecond
	}
	return 10 * plain
}

// A mebibyte of anything is answered within 100 ms.
func TestSpeedOfAnswers(t *testing.T) {
	optional.Speed(t)
	loadShapes()
	texts := hostileTexts()
	most := allowed(plainTime(texts["operations"]))
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			most, best := most, time.Hour
			for range 10 {
				var err error
				best = min(best, stopwatch.Time(func() { _, _, err = ParseBody([]byte(text)) }))
				if err != nil && len(routine.AsError(err).Problems) > maxProblems+1 {
					t.Fatalf("%d problems", len(routine.AsError(err).Problems))
				}
				if best < most {
					break
				}
				most = max(most, allowed(plainTime(texts["operations"]))) // the machine may have become slow meanwhile
			}
			t.Log(best)
			if best > most {
				t.Errorf("%d bytes took %v", len(text), best)
			}
		})
	}
}

// routineOf is a routine of n operations as authors write them.
func routineOf(n int) []byte {
	operations := []string{
		`{"type": "navigate", "url": "https://shop.example/search?q={{query}}&page={{page}}"}`,
		`{"type": "input_text", "selector": "input[name='q']", "text": "{{query}}", "clear": true}`,
		`{"type": "click", "selector": "button[type='submit']", "timeout_ms": 5000}`,
		`{"type": "wait_for_url", "url_regex": "/search\\?q=", "timeout_ms": 10000}`,
		`{"type": "fetch", "endpoint": {"url": "/api/orders?page={{page}}", "method": "POST", "headers": {"authorization": "Bearer {{sessionStorage:login.token}}"},
			"body": {"item": "{{query}}", "quantity": "{{page}}"}}, "session_storage_key": "orders"}`,
		`{"type": "press", "key": "Enter"}`,
		`{"type": "scroll", "delta_y": 800}`,
		`{"type": "sleep", "timeout_seconds": 0.1}`,
		`{"type": "js_evaluate", "js": "(() => { return [...document.querySelectorAll('#results h3')].slice(0, {{page}}).map(e => e.textContent.trim()); })()", "session_storage_key": "names"}`,
		`{"type": "return", "session_storage_key": "names"}`,
	}
	var b strings.Builder
	for i := range n {
		b.WriteString(operations[i%len(operations)] + ",\n\t\t")
	}
	return []byte(`{
	"name": "search_shop_items",
	"description": "Searches shop.example for a text and returns the names of the items found.",
	"parameters": [
		{"name": "query", "description": "What to search for", "validation": {"min_length": 1, "max_length": 200}},
		{"name": "page", "type": "integer", "required": false, "default": 1, "description": "Which page to read", "validation": {"min_value": 1, "max_value": 100}}
	],
	"operations": [
		` + strings.TrimSuffix(b.String(), ",\n\t\t") + `
	]
}`)
}

// BenchmarkParse reads routines of 20 and 1,000 operations, beside the standard
// library's plain reading of the same bytes.
func BenchmarkParse(b *testing.B) {
	for _, n := range []int{20, 1000} {
		text := routineOf(n)
		if _, warnings, err := Parse(text); err != nil || len(warnings) > 0 {
			b.Fatal(err, warnings)
		}
		b.Run(fmt.Sprintf("operations=%d", n), func(b *testing.B) {
			var ours, plain time.Duration
			for b.Loop() {
				start := time.Now()
				if _, _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(start)
				b.StopTimer()
				start = time.Now()
				var v any
				if err := json.Unmarshal(text, &v); err != nil {
					b.Fatal(err)
				}
				plain += time.Since(start)
				b.StartTimer()
			}
			b.ReportMetric(float64(ours)/float64(plain), "×json.Unmarshal")
		})
	}
}

// A definition of 1,000 operations validates in milliseconds.
// On a slow machine, it takes at most 20 times what the standard library takes to
// read it.
func TestSpeedOfLongRoutines(t *testing.T) {
	optional.Speed(t)
	for n, most := range map[int]time.Duration{20: 500 * time.Microsecond, 1000: 20 * time.Millisecond} {
		text := routineOf(n)
		best, plain := time.Hour, time.Hour
		for range 30 {
			var err error
			best = min(best, stopwatch.Time(func() { _, _, err = Parse(text) }))
			if err != nil {
				t.Fatal(err)
			}
			plain = min(plain, stopwatch.Time(func() {
				var v any
				_ = json.Unmarshal(text, &v)
			}))
		}
		t.Logf("%d operations: %v, plain reading %v, ratio %.1f", n, best, plain, float64(best)/float64(plain))
		if best > max(most, 20*plain) {
			t.Errorf("%d operations took %v", n, best)
		}
	}
}
