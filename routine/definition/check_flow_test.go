package definition

import (
	"strings"
	"testing"
)

func TestFlow(t *testing.T) {
	const get = `{"type": "fetch", "endpoint": {"url": "/"}, "session_storage_key": "items"}`
	for _, row := range []struct {
		name, operations string
		errors, warnings []string
	}{
		{"ends with a result", get + `, {"type": "return", "session_storage_key": "items"}`, nil, nil},
		{"no result", `▹`, nil, nil}, // replaced below
		{"result not last", get + `, {"type": "return", "session_storage_key": "items"}, ▹{"type": "press", "key": "a"}`, nil, []string{"/operations/2 result_not_last"}},
		{"key that nothing stores", get + `, {"type": "return", "session_storage_key": ▹"item"}`, nil, []string{"/operations/1/session_storage_key unstored_key"}},
		{"key that is stored afterwards", `{"type": "return", "session_storage_key": ▹"items"}, ` + get + `, {"type": "return_html"}`, nil, []string{"/operations/0/session_storage_key unstored_key"}},
		{"key of a script and of cookies", `{"type": "js_evaluate", "js": "(() => 1)()", "session_storage_key": "a"},
			{"type": "get_cookies", "session_storage_key": "b"}, {"type": "return", "session_storage_key": "b"},
			{"type": "return", "session_storage_key": "a"}`, nil, nil},
		{"key with a placeholder", `{"type": "return", "session_storage_key": "a{{uuid}}"}`, nil, nil},
		{"stored key with a placeholder may be any", `{"type": "js_evaluate", "js": "(() => 1)()", "session_storage_key": "{{meta:a}}"}, {"type": "return", "session_storage_key": "a"}`, nil, nil},
		{"sleeps of 300 s", `{"type": "sleep", "timeout_seconds": 240}, {"type": "navigate", "url": "https://a.example", "sleep_after_navigation_seconds": 60}, {"type": "return_html"}`, nil, nil},
		{"sleeps of more than 300 s",
			`{"type": "sleep", "timeout_seconds": 240.5}, {"type": "navigate", "url": "https://a.example", "sleep_after_navigation_seconds": 60},
			{"type": "return_html"}`, []string{"/operations too_long"}, nil},
		{"nothing is guessed beside an unknown operation",
			`{"type": ▸"store"}, {"type": "return", "session_storage_key": "items"}, {"type": "press", "key": "a"}`, []string{"/operations/0/type enum"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := around(row.operations)
			switch row.name {
			case "no result":
				text = strings.Replace(around(get), `"operations": [`, `"operations": ▹[`, 1)
				row.warnings = []string{"/operations no_result"}
			case "sleeps of more than 300 s":
				text = strings.Replace(text, `"operations": [`, `"operations": ▸[`, 1)
			}
			if row.warnings == nil {
				row.warnings = []string{}
			}
			checkMarked(t, text, row.errors, row.warnings)
		})
	}
}

func TestTopWarnings(t *testing.T) {
	const rest = `"name": "n", "description": "d", "operations": [{"type": "return_html"}]`
	for _, row := range []marked{
		{"unknown field", "{\n ▹\"colour\": 1, " + rest + "}", []string{"/colour unknown_field"}},
		{"fields of the server",
			`{"id": 5, "created_by": null, "organization_id": "o", "project_id": "p", "created_at": "then", "updated_at": 1,
			"routine_status": "active", "version": {}, ` + rest + "}", []string{}},
		{"a status", `{"routine_status": ▹"draft", ` + rest + "}", []string{"/routine_status ignored_field"}},
		{"no status at all", `{"routine_status": ▹5, ` + rest + "}", []string{"/routine_status ignored_field"}},
		{"a field of the editor's", `{"$schema": "routine.json", ` + rest + "}", []string{}},
		{"fields of the author's own", `{▹"x-note": 1, ▹"x-": {"any": [1]}, ` + rest + "}", []string{"/x-note unknown_field", "/x- unknown_field"}},
		{"placeholder in name and description", `{"name": "find ▹{{p}}", "description": "é\n of ▹{{uuid}} and ▹{{x}}", "operations": [{"type": "return_html"}]}`,
			[]string{"/name literal_placeholder", "/description literal_placeholder", "/description literal_placeholder"}},
		{"file name with a path",
			`{"name": "n", "description": "d", "operations": [{"type": "download", "filename": ▹"../a.pdf", "endpoint": {"url": "/"}}]}`,
			[]string{"/operations/0/filename filename"}},
		{"relative navigation", `{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": ▹"shop.example/a"},
			{"type": "navigate", "url": ▹"ftp://a.example/{{uuid}}"}, {"type": "navigate", "url": "{{meta:x}}/a"},
			{"type": "navigate", "url": "http{{meta:s}}://a"}, {"type": "navigate", "url": "HTTPS://a.example"},
			{"type": "fetch", "endpoint": {"url": "a"}}, {"type": "return_html"}]}`,
			[]string{"/operations/0/url url", "/operations/1/url url"}},
	} {
		t.Run(row.name, func(t *testing.T) { checkMarked(t, row.text, []string{}, row.problems) })
	}
}

// A name that is written wrong is named right, also beside the right one.
func TestTopHints(t *testing.T) {
	const rest = `"name": "n", "description": "d", "operations": [{"type": "return_html"}]}`
	for text, want := range map[string]string{
		`{"descriptio": "x", ` + rest: `did you mean "description"?`, `{"tag": ["a"], ` + rest: `did you mean "tags"?`,
		`{"routine_json": {}, ` + rest: "leave the wrapper out", `{"colour": 1, ` + rest: "",
		`{"x-note": 1, ` + rest: "where fields that begin with x- are kept", `{"x-tags": 1, ` + rest: "where fields that begin with x- are kept",
	} {
		_, warnings, err := Parse([]byte(text))
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Hint, want) || want == "" && warnings[0].Hint != "" {
			t.Errorf("%s: %v %v", text, warnings, err)
		}
	}
	for _, text := range []string{"", " \n", "\ufeff"} {
		if _, _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "there is nothing") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
