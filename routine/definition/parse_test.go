package definition

import (
	"strings"
	"testing"

	"rote/routine"
)

// marked is a text with marks where its problems are, and these as "pointer
// code" in the order of the marks.
type marked struct {
	name, text string
	problems   []string
}

func (m marked) errors(t *testing.T) {
	t.Helper()
	checkMarked(t, m.text, m.problems, nil)
}

func TestTextThatIsNoStrictJSON(t *testing.T) {
	deep := strings.Repeat("[", 60) + "▸[[]]" + strings.Repeat("]", 60) // the 65th bracket, with those of routine, operations, operation and endpoint
	for _, row := range []marked{
		{"empty", `▸`, []string{" json_syntax"}},
		{"white space", "\n ▸", []string{" json_syntax"}},
		{"ends too early", "{\n \"name\": \"n\",\n▸", []string{" json_syntax"}},
		{"string ends too early", `{"name": "n▸`, []string{"/name json_syntax"}},
		{"comma before the bracket, all else is read", `▸{"name": "n",
			"operations": [{"type": ▸5} ▸, ]▸,}`, []string{" required", "/operations/0/type type", "/operations json_syntax", " json_syntax"}},
		{"single quotes", `{▸'name': 1}`, []string{" json_syntax"}},
		{"name without quotes", `{▸name: 1}`, []string{" json_syntax"}},
		{"comments, all else is read", "▸▸{▸// é\n ▸/* \n */ \"name\": ▸5}", []string{" required", " required", " json_syntax", " json_syntax", "/name type"}},
		{"line break in a string", "{\"name\": \"a▸\nb\"}", []string{"/name json_syntax"}},
		{"None", `{"name": ▸None}`, []string{"/name json_syntax"}},
		{"bad escape", `{"name": "a▸\x"}`, []string{"/name json_syntax"}},
		{"leading zero", `{"name": 0▸1}`, []string{" json_syntax"}},
		{"no JSON behind a key that stands twice", `{"name": "n", ▸"name": "m", "x": ▸tru}`, []string{"/name duplicate_key", "/x json_syntax"}},
	} {
		t.Run(row.name, row.errors)
	}
	t.Run("text behind the end", marked{"", around(`{"type": "return_html"}`) + "\n▸}", []string{" trailing_text"}}.errors)
	t.Run("a second value", marked{"", around(`{"type": "return_html"}`) + " ▸{}", []string{" trailing_text"}}.errors)
	t.Run("keys that stand twice", marked{"",
		around(`{"type": "press", "key": "a", ▸"key": "b"}, {"type": "return_html", "x-n": {"a": 1, "b": 2, ▸"a": 3}}`),
		[]string{"/operations/0/key duplicate_key", "/operations/1/x-n/a duplicate_key"}}.errors)
	t.Run("key that stands twice in other spelling", marked{"", around(`{"type": "return_html", ▸"t\u0079pe": "press"}`), []string{"/operations/0/type duplicate_key"}}.errors)
	t.Run("deep", marked{"", around(`{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": ` + deep + `}}, {"type": "return_html"}`),
		[]string{"/operations/0/endpoint/body" + strings.Repeat("/0", 60) + " too_deep"}}.errors)
	t.Run("64 deep", marked{"", around(`{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": ` + strings.Repeat("[", 60) +
		strings.Repeat("]", 60) + `}}, {"type": "return_html"}`), nil}.errors)
	t.Run("monstrous number", marked{"", around(`{"type": "sleep", "timeout_seconds": ▸1e999}, {"type": "sleep", "timeout_seconds": ▸` + strings.Repeat("1", 401) + `}`),
		[]string{"/operations/0/timeout_seconds number_range", "/operations/1/timeout_seconds number_range"}}.errors)
	t.Run("half characters", marked{"", around(`{"type": "input_text", "selector": "a", "text": "é▸\ud800"},
		{"type": "input_text", "selector": "a", "text": "▸\udc00\ud83d"}, {"type": "input_text", "selector": "a", "text": "\ud83d\ude00"}`),
		[]string{"/operations/0/text lone_surrogate", "/operations/1/text lone_surrogate"}}.errors)
}

// Bytes that are no UTF-8 cannot stand in a marked text.
func TestInvalidUTF8(t *testing.T) {
	text := strings.Replace(around(`{"type": "input_text", "selector": "a", "text": "é?"}`), "?", "\xff", 1)
	_, _, err := Parse([]byte(text))
	if got := listed(routine.AsError(err).Problems); len(got) != 1 || got[0] != "3:67 /operations/0/text invalid_utf8" {
		t.Errorf("got %q", got)
	}
}

func TestTop(t *testing.T) {
	for _, row := range []marked{
		{"not an object", "\n▸[]", []string{" type"}},
		{"nothing there", `▸▸▸{}`, []string{" required", " required", " required"}},
		{"no description, wrong types at the side", `▸{"name": ▸5, "operations": ▸{}, "tags": [▸1, "a"], "incognito": ▸"no"}`,
			[]string{" required", "/name type", "/operations type", "/tags/0 type", "/incognito type"}},
		{"operations under another name", `▸{"name": "n", "description": "d", "steps": [{"type": "return_html", "scope": ▸"all"}]}`, []string{" required", "/steps/0/scope enum"}},
		{"operations under another name that are no list", `▸{"name": "n", "description": "d", "steps": ▸{}}`, []string{" required", "/steps type"}},
		{"empty name, no operations", `{"name": ▸"", "description": "d", "operations": ▸[]}`, []string{"/name minLength", "/operations minItems"}},
		{"name of 201 characters", `{"name": ▸"` + strings.Repeat("é", 201) + `", "description": "d", "operations": [{"type": "return_html"}]}`, []string{"/name maxLength"}},
		{"51 tags", `{"name": "n", "description": "d", "tags": ▸[` + strings.Repeat(`"a", `, 50) + `5], "operations": [{"type": "return_html"}]}`, []string{"/tags maxItems"}},
		{"an empty tag and one of 101 characters", `{"name": "n", "description": "d", "tags": ["` + strings.Repeat("é", 100) + `", ▸"", ▸"` +
			strings.Repeat("é", 101) + `"], "operations": [{"type": "return_html"}]}`, []string{"/tags/1 minLength", "/tags/2 maxLength"}},
		{"parameters as an object", `{"name": "n", "description": "d", "parameters": ▸{"q": {"type": "string"}}, "operations": [{"type": "press", "key": "{{q}}"}]}`, []string{"/parameters type"}},
		{"a parameter that is none", `{"name": "n", "description": "d", "parameters": [▸"q"], "operations": [{"type": "press", "key": "{{q}}"}]}`, []string{"/parameters/0 type"}},
	} {
		t.Run(row.name, row.errors)
	}
}

func TestOperationShapes(t *testing.T) {
	for _, row := range []marked{
		{"no object", `▸"click"`, []string{"/operations/0 type"}},
		{"no type", `▸{"selector": "a"}`, []string{"/operations/0 required"}},
		{"unknown type", `{"type": ▸"hover", "selector": "a"}`, []string{"/operations/0/type enum"}},
		{"type of the wrong type", `{"type": ▸5}`, []string{"/operations/0/type type"}},
		{"missing field", `▸{"type": "click"}`, []string{"/operations/0 required"}},
		{"unknown field, at its key", `{"type": "click", "selector": "a", ▸"timeout": 5}`, []string{"/operations/0/timeout unknown_field"}},
		{"unknown field with a pointer's characters", `{"type": "click", "selector": "a", ▸"a~b/c": 5}`, []string{"/operations/0/a~0b~1c unknown_field"}},
		{"x- fields are the author's", `{"type": "click", "selector": "a", "x-note": {"any": [1]}, "x-": 1}`, nil},
		{"a misspelt field is not missing besides, and its value is checked",
			`{"type": "click", ▸"selecter": "a▸>"}`, []string{"/operations/0/selecter unknown_field", "/operations/0/selecter selector"}},
		{"a misspelt field of the wrong type", `{"type": "click", ▸"css": ▸5}`, []string{"/operations/0/css unknown_field", "/operations/0/css type"}},
		{"two words for one field", `{"type": "click", ▸"css": "a", ▸"xpath": 5}`, []string{"/operations/0/css unknown_field", "/operations/0/xpath unknown_field"}},
		{"a misspelt type is looked behind", `▸{"type": ▸"clik", ▸"colour": 1}`, []string{"/operations/0 required", "/operations/0/type enum", "/operations/0/colour unknown_field"}},
		{"several at once", `▸{"type": "input_text", ▸"colour": "a", "text": ▸5, "clear": ▸null}`,
			[]string{"/operations/0 required", "/operations/0/colour unknown_field", "/operations/0/text type", "/operations/0/clear type"}},
		{"timeout_ms 0", `{"type": "click", "selector": "a", "timeout_ms": ▸0}`, []string{"/operations/0/timeout_ms minimum"}},
		{"timeout_ms 1", `{"type": "click", "selector": "a", "timeout_ms": 1}`, nil},
		{"timeout_ms 300000", `{"type": "wait_for_url", "url_regex": "a", "timeout_ms": 300000}`, nil},
		{"timeout_ms 300001", `{"type": "wait_for_url", "url_regex": "a", "timeout_ms": ▸300001}`, []string{"/operations/0/timeout_ms maximum"}},
		{"timeout_ms 1.5", `{"type": "scroll", "timeout_ms": ▸1.5}`, []string{"/operations/0/timeout_ms type"}},
		{"timeout_ms 2e4", `{"type": "return_html", "timeout_ms": 2e4}`, nil},
		{"timeout_ms as text", `{"type": "input_text", "selector": "a", "text": "b", "timeout_ms": ▸"5000"}`, []string{"/operations/0/timeout_ms type"}},
		{"sleep -1", `{"type": "sleep", "timeout_seconds": ▸-1}`, []string{"/operations/0/timeout_seconds minimum"}},
		{"sleep 0", `{"type": "sleep", "timeout_seconds": 0}`, nil},
		{"sleep 300", `{"type": "sleep", "timeout_seconds": 300}`, nil},
		{"sleep 300.5", `{"type": "sleep", "timeout_seconds": ▸300.5}`, []string{"/operations/0/timeout_seconds maximum"}},
		{"click_count 0", `{"type": "click", "selector": "a", "click_count": ▸0}`, []string{"/operations/0/click_count minimum"}},
		{"click_count 10", `{"type": "click", "selector": "a", "click_count": 10}`, nil},
		{"click_count 11", `{"type": "click", "selector": "a", "click_count": ▸11}`, []string{"/operations/0/click_count maximum"}},
		{"empty selector", `{"type": "click", "selector": ▸""}`, []string{"/operations/0/selector minLength"}},
		{"scope element without selector", `▸{"type": "return_html", "scope": "element"}`, []string{"/operations/0 required"}},
		{"scope element with null", `{"type": "return_html", "scope": "element", "selector": ▸null}`, []string{"/operations/0/selector required"}},
		{"scope element with a selector of the wrong type", `{"type": "return_html", "scope": "element", "selector": ▸[]}`, []string{"/operations/0/selector type"}},
		{"scope in capitals", `{"type": "return_html", "scope": ▸"Page"}`, []string{"/operations/0/scope enum"}},
		{"script 0 s", `{"type": "js_evaluate", "js": "(() => 1)()", "timeout_seconds": ▸0}`, []string{"/operations/0/timeout_seconds exclusiveMinimum"}},
		{"script 0.1 s", `{"type": "js_evaluate", "js": "(() => 1)()", "timeout_seconds": 0.1}`, nil},
		{"script 10 s", `{"type": "js_evaluate", "js": "(() => 1)()", "timeout_seconds": 10}`, nil},
		{"script over 10 s", `{"type": "js_evaluate", "js": "(() => 1)()", "timeout_seconds": ▸10.000000000000000001}`, []string{"/operations/0/timeout_seconds maximum"}},
		{"wait after navigation", `{"type": "navigate", "url": "https://a.example", "sleep_after_navigation_seconds": ▸60.5}`, []string{"/operations/0/sleep_after_navigation_seconds maximum"}},
		{"position that no browser has", `{"type": "scroll", "x": ▸1e300}`, []string{"/operations/0/x number_range"}},
		{"url_regex that does not compile", `{"type": "wait_for_url", "url_regex": ▸"a(b"}`, []string{"/operations/0/url_regex pattern"}},
		{"url_regex that is not JavaScript's", `{"type": "wait_for_url", "url_regex": ▸"(?i)a"}`, []string{"/operations/0/url_regex pattern"}},
		{"url_regex around a placeholder", `{"type": "wait_for_url", "url_regex": "^[{{uuid}}](\\d+)$"}`, nil},
		{"faults in several operations", `{"type": "press", "key": ▸""}, ▸{"type": "press"}, {"type": "press", "key": "a"}, {"type": "press", "key": ▸{}}`,
			[]string{"/operations/0/key minLength", "/operations/1 required", "/operations/3/key type"}},
	} {
		row.text = around(row.text)
		t.Run(row.name, row.errors)
	}
}

func TestEndpoint(t *testing.T) {
	for _, row := range []marked{
		{"no url", `▸{}`, []string{" required"}},
		{"url alone", `▸"https://a.example/"`, []string{" type"}},
		{"unknown field", `{"url": "/", ▸"timeout": 5}`, []string{"/timeout unknown_field"}},
		{"x- field", `{"url": "/", "x-a": 5}`, nil},
		{"method in small letters", `{"url": "/", "method": ▸"post"}`, []string{"/method enum"}},
		{"unknown method", `{"url": "/", "method": ▸"TRACE"}`, []string{"/method enum"}},
		{"every method", `{"url": "/", "method": "OPTIONS"}`, nil},
		{"body on GET", `{"url": "/", "body": ▸{"a": 1}}`, []string{"/body body_not_allowed"}},
		{"text body on HEAD", `{"url": "/", "method": "HEAD", "body": ▸"a"}`, []string{"/body body_not_allowed"}},
		{"empty object is no body", `{"url": "/", "body": {}}`, nil},
		{"null is no body", `{"url": "/", "method": "HEAD", "body": null}`, nil},
		{"body of DELETE", `{"url": "/", "method": "DELETE", "body": [1]}`, nil},
		{"number as body", `{"url": "/", "method": "POST", "body": ▸5}`, []string{"/body type"}},
		{"credentials", `{"url": "/", "credentials": ▸"same_origin"}`, []string{"/credentials enum"}},
		{"header of every simple type", `{"url": "/", "headers": {"a": "b", "c": 1.50, "d": true, "e": null}}`, nil},
		{"header that is a list", `{"url": "/", "headers": {"a": ▸["b"]}}`, []string{"/headers/a type"}},
		{"headers as a list", `{"url": "/", "headers": ▸[]}`, []string{"/headers type"}},
		{"header name with a space", `{"url": "/", "headers": {▸"a b": "c", ▸"": "d", "X-Ok": "e"}}`, []string{"/headers/a b header_name", "/headers/ header_name"}},
		{"header twice", `{"url": "/", "headers": {"Accept": "a", ▸"accept": "b"}}`, []string{"/headers/accept header_name"}},
		{"header with a line break", `{"url": "/", "headers": {"a": "é▸\r\nb: c"}}`, []string{"/headers/a header_value"}},
		{"description", `{"url": "/", "description": null}`, nil},
	} {
		for i, p := range row.problems {
			row.problems[i] = "/operations/0/endpoint" + p
		}
		row.text = around(`{"type": "fetch", "endpoint": ` + row.text + `}`)
		t.Run(row.name, row.errors)
	}
	t.Run("of a download", marked{"", around(`{"type": "download", "filename": "a", "endpoint": {"url": "/", "body": ▸"x"}}`), []string{"/operations/0/endpoint/body body_not_allowed"}}.errors)
	t.Run("file name", marked{"", around(`{"type": "download", "filename": ▸"a/..", "endpoint": {"url": "/"}},
		{"type": "download", "filename": "/tmp/a.pdf", "endpoint": {"url": "/"}}`), []string{"/operations/0/filename filename"}}.errors)
}

func TestSanitizerDefinition(t *testing.T) {
	for _, row := range []marked{
		{"path", `{"type": "json_path", "path": "$.items[*].name"}`, nil},
		{"paths", `{"type": "json_path", "paths": ["$.a", "$..b"]}`, nil},
		{"list", `[{"type": "html_to_text"}, {"type": "html_to_markdown"}, {"type": "drop", "paths": ["$..thumbnail"]}, {"type": "truncate", "max_chars": 2e3}]`, nil},
		{"null", `null`, nil},
		{"empty list", `[]`, nil},
		{"text", `▸"html_to_text"`, []string{" type"}},
		{"no type", `▸{"path": "$"}`, []string{" required"}},
		{"unknown type", `[{"type": "html_to_text"}, {"type": ▸"jsonpath", "path": "$"}]`, []string{"/1/type enum"}},
		{"unknown field", `{"type": "truncate", "max_chars": 5, ▸"max": 5}`, []string{"/max unknown_field"}},
		{"json_path without path", `▸{"type": "json_path"}`, []string{" required"}},
		{"both", `{"type": "json_path", "path": "$.a", "paths": ▸["$.b"]}`, []string{"/paths conflict"}},
		{"drop with path", `▸{"type": "drop", ▸"path": "$.a"}`, []string{" required", "/path unknown_field"}},
		{"truncate without max_chars", `▸{"type": "truncate"}`, []string{" required"}},
		{"max_chars 0", `{"type": "truncate", "max_chars": ▸0}`, []string{"/max_chars minimum"}},
		{"field of another type", `{"type": "html_to_text", ▸"max_chars": 5}`, []string{"/max_chars unknown_field"}},
		{"path that does not parse", `{"type": "json_path", "path": ▸"$.a["}`, []string{"/path json_path"}},
		{"path without $", `{"type": "json_path", "path": ▸"items[0]"}`, []string{"/path json_path"}},
		{"paths that do not parse", `{"type": "json_path", "paths": ["$.a", ▸"$.", ▸"", ▸"$..", ▸5]}`, []string{"/paths/1 json_path", "/paths/2 minLength", "/paths/3 json_path", "/paths/4 type"}},
		{"drop everything", `{"type": "drop", "paths": [▸"$"]}`, []string{"/paths/0 json_path"}},
		{"faults in several steps", `[▸{"type": "drop"}, ▸5, {"type": "json_path", "path": ▸"x"}]`, []string{"/0 required", "/1 type", "/2/path json_path"}},
	} {
		for i, p := range row.problems {
			row.problems[i] = "/operations/0/data_sanitizer" + p
		}
		row.text = around(`{"type": "fetch", "endpoint": {"url": "/"}, "session_storage_key": "k", "data_sanitizer": ` + row.text + `}`)
		t.Run(row.name, row.errors)
	}
}
