package schemas

import (
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

func TestValid(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, schema, value string }{
		{"extension field", "operations/press.json", `{"type":"press","key":"Tab","x-note":{"any":1}}`},
		{"least sleep", "operations/sleep.json", `{"type":"sleep","timeout_seconds":0}`},
		{"greatest sleep", "operations/sleep.json", `{"type":"sleep","timeout_seconds":300}`},
		{"greatest script time", "operations/js_evaluate.json", `{"type":"js_evaluate","js":"(() => {})()","timeout_seconds":10}`},
		{"integer spelt as decimal", "operations/click.json", `{"type":"click","selector":"a","timeout_ms":20000.0}`},
		{"empty text clears", "operations/input_text.json", `{"type":"input_text","selector":"a","text":"","clear":true}`},
		{"null means absent", "operations/scroll.json", `{"type":"scroll","selector":null,"x":null,"y":null,"delta_x":null,"delta_y":-5}`},
		{"scope element is tied to selector in Go", "operations/return_html.json", `{"type":"return_html","scope":"element"}`},
		{"sanitizer as list", "operations/fetch.json", `{"type":"fetch","endpoint":{"url":"/a"},"session_storage_key":null,"data_sanitizer":[]}`},
		{"header values of every scalar type", "endpoint.json", `{"url":"/","headers":{"a":"b","c":1.5,"d":true,"e":null}}`},
		{"published endpoint with nulls", "endpoint.json", `{"url":"/","description":null,"headers":null,"body":null}`},
		{"body as array", "endpoint.json", `{"url":"/","method":"PUT","body":[1]}`},
		{"parameter with a name only", "parameter.json", `{"name":"q"}`},
		{"published parameter, rules flat and null", "parameter.json", `{"name":"n","type":"integer","required":true,"description":"d","default":null,` +
			`"examples":[],"min_length":null,"max_length":null,"min_value":1,"max_value":9,"pattern":null,"enum_values":null,"format":null,"observed_value":null}`},
		{"default of any type", "parameter.json", `{"name":"q","default":{"a":[1]}}`},
		{"server's fields and unknown ones in a routine", "routine.json", `{"name":"n","description":"d","operations":[{"type":"press","key":"a"}],` +
			`"id":7,"created_by":null,` +
			`"organization_id":"o","project_id":"p","created_at":"then","updated_at":1,"routine_status":"lost","version":{},"colour":"red"}`},
		{"fields of operations are left to their kind", "routine.json", `{"name":"n","description":"d","operations":[{"type":"click"}]}`},
		{"name of 200 characters, not bytes", "routine.json", `{"name":"` + strings.Repeat("é", 200) + `","description":"d","operations":[{"type":"press"}]}`},
	}
	c := compiler(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if err := c.MustCompile(BaseURL + row.schema).Validate(decode(t, []byte(row.value))); err != nil {
				t.Errorf("%s: %#v", row.value, err)
			}
		})
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, schema, value, at string }{
		{"other type", "operations/click.json", `{"type":"press","selector":"a"}`, "/type"},
		{"missing field", "operations/click.json", `{"type":"click"}`, ""},
		{"unknown field", "operations/click.json", `{"type":"click","selector":"a","clickcount":2}`, ""},
		{"empty selector", "operations/click.json", `{"type":"click","selector":""}`, "/selector"},
		{"unknown button", "operations/click.json", `{"type":"click","selector":"a","button":"Left"}`, "/button"},
		{"no click", "operations/click.json", `{"type":"click","selector":"a","click_count":0}`, "/click_count"},
		{"11 clicks", "operations/click.json", `{"type":"click","selector":"a","click_count":11}`, "/click_count"},
		{"half a click", "operations/click.json", `{"type":"click","selector":"a","click_count":1.5}`, "/click_count"},
		{"null where no null is allowed", "operations/click.json", `{"type":"click","selector":"a","timeout_ms":null}`, "/timeout_ms"},
		{"no time for click", "operations/click.json", `{"type":"click","selector":"a","timeout_ms":0}`, "/timeout_ms"},
		{"too much time for click", "operations/click.json", `{"type":"click","selector":"a","timeout_ms":300001}`, "/timeout_ms"},
		{"no time for input_text", "operations/input_text.json", `{"type":"input_text","selector":"a","text":"b","timeout_ms":0}`, "/timeout_ms"},
		{"too much time for input_text", "operations/input_text.json", `{"type":"input_text","selector":"a","text":"b","timeout_ms":300001}`, "/timeout_ms"},
		{"empty selector to type into", "operations/input_text.json", `{"type":"input_text","selector":"","text":"b"}`, "/selector"},
		{"number as text", "operations/input_text.json", `{"type":"input_text","selector":"a","text":5}`, "/text"},
		{"no time for wait_for_url", "operations/wait_for_url.json", `{"type":"wait_for_url","url_regex":"a","timeout_ms":0}`, "/timeout_ms"},
		{"too much time for wait_for_url", "operations/wait_for_url.json", `{"type":"wait_for_url","url_regex":"a","timeout_ms":300001}`, "/timeout_ms"},
		{"empty expression", "operations/wait_for_url.json", `{"type":"wait_for_url","url_regex":""}`, "/url_regex"},
		{"no time for scroll", "operations/scroll.json", `{"type":"scroll","timeout_ms":0}`, "/timeout_ms"},
		{"too much time for scroll", "operations/scroll.json", `{"type":"scroll","timeout_ms":300001}`, "/timeout_ms"},
		{"empty selector to scroll", "operations/scroll.json", `{"type":"scroll","selector":""}`, "/selector"},
		{"unknown behavior", "operations/scroll.json", `{"type":"scroll","behavior":"instant"}`, "/behavior"},
		{"half a pixel", "operations/scroll.json", `{"type":"scroll","delta_y":0.5}`, "/delta_y"},
		{"no time for return_html", "operations/return_html.json", `{"type":"return_html","timeout_ms":0}`, "/timeout_ms"},
		{"too much time for return_html", "operations/return_html.json", `{"type":"return_html","timeout_ms":300001}`, "/timeout_ms"},
		{"unknown scope", "operations/return_html.json", `{"type":"return_html","scope":"document"}`, "/scope"},
		{"empty selector to return", "operations/return_html.json", `{"type":"return_html","selector":""}`, "/selector"},
		{"empty URL", "operations/navigate.json", `{"type":"navigate","url":""}`, "/url"},
		{"negative wait", "operations/navigate.json", `{"type":"navigate","url":"a","sleep_after_navigation_seconds":-1}`, "/sleep_after_navigation_seconds"},
		{"wait over a minute", "operations/navigate.json", `{"type":"navigate","url":"a","sleep_after_navigation_seconds":60.5}`, "/sleep_after_navigation_seconds"},
		{"negative sleep", "operations/sleep.json", `{"type":"sleep","timeout_seconds":-0.1}`, "/timeout_seconds"},
		{"sleep over 300 s", "operations/sleep.json", `{"type":"sleep","timeout_seconds":300.1}`, "/timeout_seconds"},
		{"sleep as text", "operations/sleep.json", `{"type":"sleep","timeout_seconds":"3"}`, "/timeout_seconds"},
		{"no script time", "operations/js_evaluate.json", `{"type":"js_evaluate","js":"a","timeout_seconds":0}`, "/timeout_seconds"},
		{"script over 10 s", "operations/js_evaluate.json", `{"type":"js_evaluate","js":"a","timeout_seconds":10.1}`, "/timeout_seconds"},
		{"empty script", "operations/js_evaluate.json", `{"type":"js_evaluate","js":""}`, "/js"},
		{"empty key", "operations/return.json", `{"type":"return","session_storage_key":""}`, "/session_storage_key"},
		{"empty optional key", "operations/fetch.json", `{"type":"fetch","endpoint":{"url":"a"},"session_storage_key":""}`, "/session_storage_key"},
		{"empty key name", "operations/press.json", `{"type":"press","key":""}`, "/key"},
		{"empty filter", "operations/get_cookies.json", `{"type":"get_cookies","session_storage_key":"a","domain_filter":""}`, "/domain_filter"},
		{"empty file name", "operations/download.json", `{"type":"download","endpoint":{"url":"a"},"filename":""}`, "/filename"},
		{"fault inside an endpoint", "operations/fetch.json", `{"type":"fetch","endpoint":{"url":"a","method":"get"}}`, "/endpoint/method"},
		{"unknown field of an endpoint", "operations/download.json", `{"type":"download","filename":"a","endpoint":{"url":"a","timeout":1}}`, "/endpoint"},
		{"sanitizer as text", "operations/fetch.json", `{"type":"fetch","endpoint":{"url":"a"},"data_sanitizer":"html_to_text"}`, "/data_sanitizer"},
		{"unknown credentials", "endpoint.json", `{"url":"a","credentials":"same_origin"}`, "/credentials"},
		{"list as header value", "endpoint.json", `{"url":"a","headers":{"a":["b"]}}`, "/headers/a"},
		{"number as body", "endpoint.json", `{"url":"a","body":5}`, "/body"},
		{"step without type", step, `{"path":"$.a"}`, ""},
		{"unknown step", step, `{"type":"jsonpath","path":"$.a"}`, "/type"},
		{"unknown field of a step", step, `{"type":"truncate","max":5}`, ""},
		{"nothing left", step, `{"type":"truncate","max_chars":0}`, "/max_chars"},
		{"no paths", step, `{"type":"drop","paths":[]}`, "/paths"},
		{"name with a dash", "parameter.json", `{"name":"a-b"}`, "/name"},
		{"name with a line break", "parameter.json", `{"name":"a\n"}`, "/name"},
		{"name that begins with a digit", "parameter.json", `{"name":"1a"}`, "/name"},
		{"unknown parameter type", "parameter.json", `{"name":"a","type":"text"}`, "/type"},
		{"unknown rule", "parameter.json", `{"name":"a","validation":{"minimum":1}}`, "/validation"},
		{"negative length", "parameter.json", `{"name":"a","validation":{"min_length":-1}}`, "/validation/min_length"},
		{"negative length, flat", "parameter.json", `{"name":"a","min_length":-1}`, "/min_length"},
		{"secret as text", "parameter.json", `{"name":"a","x-secret":"yes"}`, "/x-secret"},
		{"no operations", "routine.json", `{"name":"n","description":"d","operations":[]}`, "/operations"},
		{"unknown kind", "routine.json", `{"name":"n","description":"d","operations":[{"type":"hover"}]}`, "/operations/0/type"},
		{"empty name", "routine.json", `{"name":"","description":"d","operations":[{"type":"press"}]}`, "/name"},
		{"name over 200 characters", "routine.json", `{"name":"` + strings.Repeat("a", 201) + `","description":"d","operations":[{"type":"press"}]}`, "/name"},
		{"empty description", "routine.json", `{"name":"n","description":"","operations":[{"type":"press"}]}`, "/description"},
		{"description over 5000 characters", "routine.json", `{"name":"n","description":"` + strings.Repeat("a", 5001) + `","operations":[{"type":"press"}]}`, "/description"},
		{"fault inside a parameter", "routine.json", `{"name":"n","description":"d","operations":[{"type":"press"}],"parameters":[{"name":"a"},{}]}`, "/parameters/1"},
		{"number as tag", "routine.json", `{"name":"n","description":"d","operations":[{"type":"press"}],"tags":[1]}`, "/tags/0"},
	}
	c := compiler(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			err := c.MustCompile(BaseURL + row.schema).Validate(decode(t, []byte(row.value)))
			invalid, ok := err.(*jsonschema.ValidationError)
			if !ok {
				t.Fatalf("%s: accepted (%v)", row.value, err)
			}
			if got := places(invalid); !slices.Equal(got, []string{row.at}) {
				t.Errorf("%s: faults at %q, want only %q", row.value, got, row.at)
			}
		})
	}
}

// places are the JSON pointers of what failed, without the steps that led there.
func places(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		return []string{e.InstanceLocation}
	}
	var all []string
	for _, cause := range e.Causes {
		all = append(all, places(cause)...)
	}
	return all
}
