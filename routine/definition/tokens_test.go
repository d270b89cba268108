package definition

import (
	"strings"
	"testing"
)

// Placeholders of a definition: what they may name, and where a problem with
// one is placed.
func TestPlaceholdersInDefinitions(t *testing.T) {
	for _, row := range []marked{
		{"no parameter of the routine", `{"type": "press", "key": "▸{{nope}}"}`, []string{"/operations/0/key undeclared_parameter"}},
		{"the same one three times", `{"type": "press", "key": "▸{{a}} ▸{{a}}▸{{ a }}"}`, []string{"/operations/0/key undeclared_parameter",
			"/operations/0/key undeclared_parameter", "/operations/0/key undeclared_parameter"}},
		{"unknown prefix", `{"type": "press", "key": "a▸{{storage:a}}"}`, []string{"/operations/0/key unknown_prefix"}},
		{"window", `{"type": "press", "key": "▸{{window:a.b}}"}`, []string{"/operations/0/key unknown_prefix"}},
		{"prefix without path", `{"type": "press", "key": "▸{{sessionStorage:}} ▸{{cookie: }} ▸{{meta}}"}`,
			[]string{"/operations/0/key empty_placeholder", "/operations/0/key empty_placeholder", "/operations/0/key empty_placeholder"}},
		{"nothing in it", `{"type": "press", "key": "▸{{ }}"}`, []string{"/operations/0/key empty_placeholder"}},
		{"every prefix", `{"type": "press", "key": "{{sessionStorage:a}}{{localStorage:b.c}}{{cookie:d||e}}{{meta:f}}{{windowProperty:g.h}}{{uuid}}{{epoch_milliseconds}}"}`, nil},
		{"in a URL", `{"type": "navigate", "url": "https://a.example/▸{{a}}?b=▸{{c}}#▸{{d}}"}`, []string{"/operations/0/url undeclared_parameter",
			"/operations/0/url undeclared_parameter", "/operations/0/url undeclared_parameter"}},
		{"in a selector", `{"type": "click", "selector": "[a='▸{{b}}'] #▸{{c}} > ▸{{d}}"}`,
			[]string{"/operations/0/selector undeclared_parameter", "/operations/0/selector undeclared_parameter",
				"/operations/0/selector undeclared_parameter"}},
		{"in an expression", `{"type": "wait_for_url", "url_regex": "^▸{{a}}$"}`, []string{"/operations/0/url_regex undeclared_parameter"}},
		{"in a script", `{"type": "js_evaluate", "js": "(() => { return \"▸{{a}}\" + ▸{{b}}; })()"}`, []string{"/operations/0/js undeclared_parameter", "/operations/0/js undeclared_parameter"}},
		{"storage in a script", `{"type": "js_evaluate", "js": "(() => { return ▸{{sessionStorage:a}} + ▸{{uuid}}; })()"}`,
			[]string{"/operations/0/js placeholder_not_allowed", "/operations/0/js placeholder_not_allowed"}},
		{"in headers, body and its keys", `{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "headers": {"a": "▸{{b}}"}, "body": {"▸{{c}}": "x", "d": [1, {"e": "f ▸{{g}}"}]}}}`,
			[]string{"/operations/0/endpoint/headers/a undeclared_parameter", "/operations/0/endpoint/body/{{c}} undeclared_parameter", "/operations/0/endpoint/body/d/1/e undeclared_parameter"}},
		{"in other texts", `{"type": "download", "endpoint": {"url": "/"}, "filename": "▸{{a}}.pdf"},
			{"type": "get_cookies", "session_storage_key": "▸{{b}}", "domain_filter": "▸{{c}}"},
			{"type": "input_text", "selector": "a", "text": "▸{{d}}"}`,
			[]string{"/operations/0/filename undeclared_parameter", "/operations/1/session_storage_key undeclared_parameter",
				"/operations/1/domain_filter undeclared_parameter", "/operations/2/text undeclared_parameter"}},
		{"not in description", `{"type": "fetch", "endpoint": {"url": "/", "description": "{{a}}"}}`, nil},
		{"not in a header's name", `{"type": "fetch", "endpoint": {"url": "/", "headers": {▸"{{a}}": "b"}}}`, []string{"/operations/0/endpoint/headers/{{a}} header_name"}},
		{"in a number", `{"type": "sleep", "timeout_seconds": ▸"{{a}}"}`, []string{"/operations/0/timeout_seconds type"}},
		{"in a sound field of a faulty operation", `▸{"type": "input_text", "text": "▸{{a}}", ▸"colour": "b"}`,
			[]string{"/operations/0 required", "/operations/0/text undeclared_parameter", "/operations/0/colour unknown_field"}},
		{"behind escapes", `{"type": "press", "key": "\n\t\"\\\/\u00e9\ud83d\ude00é😀▸{{a}}"}`, []string{"/operations/0/key undeclared_parameter"}},
		{"in a key behind escapes", `{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": {"\u00e9\n▸{{a}}": 1}}}`, []string{"/operations/0/endpoint/body/é\n{{a}} undeclared_parameter"}},
		{"written with escapes", `{"type": "press", "key": "é▸\u007b{a}\u007d \u00e9▸{{a}}"}`, []string{"/operations/0/key undeclared_parameter", "/operations/0/key undeclared_parameter"}},
	} {
		row.text = around(row.text)
		t.Run(row.name, row.errors)
	}
}

// The rules of scripts and selectors are their packages' and the next file's;
// here is where their problems are placed.
func TestPlacesInsideStrings(t *testing.T) {
	for _, row := range []marked{
		{"script, first line", `{"type": "js_evaluate", "js": "▸function f() {}"}`, []string{"/operations/0/js script_not_iife"}},
		{"script behind line breaks", `{"type": "js_evaluate", "js": "(() => {\n  // \u00e9 \"x\"\n  return ▸fetch('/a');\n})()"}`, []string{"/operations/0/js script_blocked"}},
		{"script behind placeholders", `{"type": "js_evaluate", "js": "(() => { const a = \"{{uuid_}}\", b = {{uuid_}}.length; return ▸fetch(a); })()"}`, []string{"/operations/0/js script_blocked"}},
		{"syntax of a script", `{"type": "js_evaluate", "js": "(() => {\n\treturn 1 +▸; })()"}`, []string{"/operations/0/js script_syntax"}},
		{"selector", `{"type": "click", "selector": "a[href=\"x\"] > ▸/b"}`, []string{"/operations/0/selector selector"}},
		{"selector behind a placeholder", `{"type": "click", "selector": "#{{uuid_}} \u00e9 ▸!"}`, []string{"/operations/0/selector selector"}},
	} {
		row.text = "{\n \"name\": \"n\", \"description\": \"d\", \"parameters\": [{\"name\": \"uuid_\"}],\n \"operations\": [" + row.text + "]\n}"
		t.Run(row.name, row.errors)
	}
}

// One mistake in a declaration does not make its placeholders wrong too.
func TestFaultyDeclarationStillDeclares(t *testing.T) {
	for _, row := range []marked{
		{"unknown field", declaring(`{"name": "p", ▸"flavour": "text"}`), []string{"/parameters/0/flavour unknown_field"}},
		{"name of another", `{"name": "n", "description": "d", "parameters": [▸{"type": "string"}], "operations": [{"type": "press", "key": "{{p}}"}]}`, []string{"/parameters/0 required"}},
	} {
		t.Run(row.name, row.errors)
	}
}

// A placeholder in a selector is filled in as a name or as the text of a string.
func TestSelectorsWithPlaceholders(t *testing.T) {
	for _, s := range []string{"#{{p}}", ".a-{{p}}", "[a='{{p}}']", `[a=\"{{p}}\"]`, `[a=\"\"{{p}}\"\"]`, "[a={{p}}]", ":nth-child({{p}})",
		"{{p}}", "{{p}} > {{p}}", `.a\\{{p}}`, "[a='{{p}} {{p}}' i]", ".x{{p}}y", "li:nth-child({{p}}) a"} {
		if _, _, err := Parse([]byte(strings.Replace(declaring(`{"name": "p"}`), `{"type": "return_html"}`, `{"type": "return_html", "scope": "element", "selector": "`+s+`"}`, 1))); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}
