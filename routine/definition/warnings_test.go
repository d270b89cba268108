package definition

import "testing"

// Definitions that are valid but certainly not intended get a warning.
func TestWarningsOfDefinitions(t *testing.T) {
	const open = `{"type": "navigate", "url": "https://a.example/"}, `
	const end = `, {"type": "return_html"}`
	for _, row := range []marked{
		{"scroll of nothing", open + `▹{"type": "scroll"}` + end, []string{"/operations/1 no_effect"}},
		{"position of an element", open + `{"type": "scroll", "selector": "a", "y": ▹5}, {"type": "scroll", "selector": "a", "x": ▹5, "y": 5}` +
			end, []string{"/operations/1/y ignored_field", "/operations/2/x ignored_field"}},
		{"scrolls that do something", open + `{"type": "scroll", "x": 0}, {"type": "scroll", "selector": "a", "delta_y": 5}` + end, []string{}},
		{"selector without its scope", open + `{"type": "return_html", "selector": ▹"a"}, {"type": "return_html", "scope": "element", "selector": "a"}`, []string{"/operations/1/selector ignored_field"}},
		{"pseudo-element", open + `{"type": "click", "selector": "a ▹::before"}, {"type": "click", "selector": "[a='::b']:hover"}` + end, []string{"/operations/1/selector selector"}},
		{"placeholder that is never closed", `{"type": "navigate", "url": "https://a.example/{{uuid}}/▹{{q}"}` + end, []string{"/operations/0/url open_placeholder"}},
		{"blocks of a script", open + `{"type": "js_evaluate", "js": "(() => {{ return 1 } })()"}` + end, []string{}},
		{"requests to no web address", `{"type": "fetch", "endpoint": {"url": ▹"ftp://a/"}},
			{"type": "download", "filename": "a", "endpoint": {"url": ▹"www.a.example/x"}},
			{"type": "fetch", "endpoint": {"url": ▹"example.com/x"}}` + end,
			[]string{"/operations/0/endpoint/url url", "/operations/1/endpoint/url url", "/operations/2/endpoint/url url"}},
		{"requests to paths", `{"type": "fetch", "endpoint": {"url": "data.json"}}, {"type": "fetch", "endpoint": {"url": "/a.com/x"}},
			{"type": "fetch", "endpoint": {"url": "v1.0/x"}}, {"type": "fetch", "endpoint": {"url": "{{meta:a}}/x"}}` + end, []string{}},
		{"header beyond Latin-1", `{"type": "fetch", "endpoint": {"url": "/", "headers": {"X-A": ▹"Ω", "X-B": "é", "X-C": 5}}}` + end, []string{"/operations/0/endpoint/headers/X-A header_value"}},
		{"placeholder in a path of the sanitizer",
			`{"type": "fetch", "endpoint": {"url": "/"}, "data_sanitizer": ▹{"type": "json_path", "path": "$['{{meta:a}}']"}}` + end,
			[]string{"/operations/0/data_sanitizer literal_placeholder"}},
		{"nothing is open", `{"type": "press", "key": "a"}, ▹{"type": "click", "selector": "a"}, {"type": "click", "selector": "b"}` + end, []string{"/operations/1 blank_page"}},
		{"a request opens its site", `{"type": "fetch", "endpoint": {"url": "https://a.example/"}}, {"type": "click", "selector": "a"}` + end, []string{}},
	} {
		t.Run(row.name, func(t *testing.T) { checkMarked(t, around(row.text), []string{}, row.problems) })
	}
	for _, url := range []string{"file:///etc/passwd", "JavaScript:alert(1)", "data:text/html,a", "about:blank"} {
		t.Run(url, marked{"", around(`{"type": "navigate", "url": ▸"` + url + `"}` + end), []string{"/operations/0/url url"}}.errors)
	}
}
