package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"

	"rote/routine"
	"rote/routine/routinetest/optional"
)

// described is what a client knows of a routine that has its document alone.
type described struct {
	env     *env
	checker validator.Validator
	url     string // of the call
}

// describe reads the document of a new routine, which must be valid OpenAPI.
func (e *env) describe(t *testing.T, definition string) described {
	t.Helper()
	created := e.must(t, "POST", e.base+"/routines/", asAdmin, definition)
	location := created.header.Get("Location")
	if created.status != 201 {
		t.Fatal(created.body)
	}
	document := location + "/openapi.json"
	got := e.must(t, "GET", document, asAdmin, "")
	if got.status != 200 || got.header.Get("ETag") != `"1"` {
		t.Fatal(got)
	}
	doc, err := libopenapi.NewDocument([]byte(got.body))
	if err != nil {
		t.Fatal(err)
	}
	d := described{env: e}
	var errs []error
	if d.checker, errs = validator.NewValidator(doc, config.WithFormatAssertions()); errs != nil {
		t.Fatal(errs)
	}
	t.Cleanup(d.checker.Release)
	if ok, faults := d.checker.ValidateDocument(); !ok {
		t.Fatalf("no valid OpenAPI: %v\n%s", faults, got.body)
	}
	var read struct {
		Servers []struct{ URL string }
		Paths   map[string]any
	}
	if err := json.Unmarshal([]byte(got.body), &read); err != nil || len(read.Servers) != 1 || len(read.Paths) != 1 {
		t.Fatal(err, got.body)
	}
	server, err := url.Parse(e.URL + document)
	if err != nil {
		t.Fatal(err)
	}
	if server, err = server.Parse(read.Servers[0].URL); err != nil {
		t.Fatal(err)
	}
	for path := range read.Paths {
		d.url = strings.TrimSuffix(server.String(), "/") + path
	}
	return d
}

// call makes a request as the document says and reports whether it is accepted.
// The answer must be as described in any case.
func (d described) call(t *testing.T, parameters string) (taken bool, got response) {
	t.Helper()
	text := []byte(fmt.Sprintf(`{"parameters":%s,"timeout_seconds":30}`, parameters))
	request, err := http.NewRequestWithContext(t.Context(), "POST", d.url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Service-Token", adminToken)
	taken, _ = d.checker.ValidateHttpRequest(request)
	request.Body = io.NopCloser(bytes.NewReader(text))
	answer, err := d.env.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if ok, faults := d.checker.ValidateHttpResponse(request, answer); !ok {
		t.Errorf("%d is not as described: %v\n%s", answer.StatusCode, faults, body)
	}
	return taken, response{answer.StatusCode, answer.Header, string(body)}
}

// For each parameter, the document and the service accept and reject the same
// values.
func TestCallsThatMatchRoutineOpenAPIAreAccepted(t *testing.T) {
	optional.OneGoroutine(t)
	e := newEnv(t, func(c *envConfig) { c.http.BasePath = "/rote" })
	for _, row := range []struct {
		parameter, good, bad string // the values without the braces
	}{
		{`"type": "string", "min_length": 2, "max_length": 3`, `"p":"ab"`, `"p":"a"`},
		{`"type": "string", "max_length": 3`, `"p":"äöü"`, `"p":"abcd"`},
		{`"type": "string", "pattern": "^[a-z]+$"`, `"p":"ab"`, `"p":"A"`},
		{`"type": "string"`, `"p":"ab"`, `"q":"ab"`},
		{`"type": "string"`, `"p":"ab"`, `"p":"ab","q":1`},
		{`"type": "string"`, `"p":"ab"`, `"p":["ab"]`},
		{`"type": "string", "x-secret": true`, `"p":"ab"`, ``},
		{`"type": "string", "default": "x"`, ``, `"p":{}`},
		{`"type": "string", "required": false`, ``, `"p":[1]`},
		{`"type": "integer", "min_value": 1`, `"p":1`, `"p":0`},
		{`"type": "integer", "max_value": 5`, `"p":5`, `"p":6`},
		{`"type": "integer"`, `"p":-2`, `"p":1.5`},
		{`"type": "number", "min_value": 0.5`, `"p":0.5`, `"p":0.4`},
		{`"type": "boolean"`, `"p":true`, `"p":"maybe"`},
		{`"type": "date"`, `"p":"2031-02-28"`, `"p":"2031-02-30"`},
		{`"type": "datetime"`, `"p":"2031-02-28T10:00:00Z"`, `"p":"2031-02-28"`},
		{`"type": "email"`, `"p":"a@b.example"`, `"p":"a at b"`},
		{`"type": "url"`, `"p":"https://b.example/"`, `"p":"b example"`},
		{`"type": "enum", "enum_values": ["a", 2]`, `"p":"2"`, `"p":"b"`},
		{`"type": "integer", "enum_values": [1, "2"]`, `"p":2`, `"p":3`},
	} {
		t.Run(row.parameter, func(t *testing.T) {
			d := e.describe(t, `{"name": "n", "description": "d", "parameters": [{"name": "p", "description": "P", `+row.parameter+`}],
				"operations": [{"type": "navigate", "url": "https://shop.example/?q={{p}}"}, {"type": "return_html"}]}`)
			if taken, got := d.call(t, "{"+row.good+"}"); !taken || got.status != 201 {
				t.Errorf("%s: described %v, answered %d %s", row.good, taken, got.status, got.body)
			}
			if taken, got := d.call(t, "{"+row.bad+"}"); taken || got.status != 400 {
				t.Errorf("%s: described %v, answered %d %s", row.bad, taken, got.status, got.body)
			}
		})
	}
}

// An answer with data of another kind than the routine's is not as described.
func TestRoutineOpenAPIResult(t *testing.T) {
	optional.OneGoroutine(t)
	e := newEnv(t)
	const html, stored = `{"type":"return_html"}`, `{"type":"return","session_storage_key":"k"}`
	const none = `{"type":"press","key":"Enter"}`
	const file = `{"type":"download","endpoint":{"url":"https://shop.example/a"},"filename":"a.pdf"}`
	for _, row := range []struct{ operations, good, bad string }{
		{html, `"data":"<b>"`, `"data":null`},
		{html, `"data":""`, `"data":{}`},
		{stored, `"data":[1]`, ``}, // data is there in any case
		{file, `"data":"aGk=","is_base64":true`, `"data":{}`},
		{file, `"data":"aGk=","is_base64":true`, `"data":"aGk=","is_base64":false`},
		{none, `"data":null`, `"data":"x"`},
		{html + "," + none, `"data":"x"`, `"data":null`},
		{file + "," + html, `"data":"x"`, `"data":1`},
	} {
		d := e.describe(t, `{"name":"n","description":"d","operations":[{"type":"navigate","url":"https://shop.example/"},`+row.operations+`]}`)
		answer := func(data string) bool {
			execution := fmt.Sprintf(`{"execution_id":"x","routine_id":"x","routine_name":"n","routine_version":1,"status":"completed","error":null,
				"created_at":"2031-01-01T00:00:00Z","started_at":null,"completed_at":null,"duration_seconds":1,"parameters":{},"created_by":"u","via":"rest",
				"operations_done":1,"operations_total":1,
				"result":{"ok":true,"error":null,"warnings":null,"placeholder_resolution":{},"operations_metadata":[]%s}}`, strings.TrimSuffix(","+data, ","))
			request, err := http.NewRequestWithContext(t.Context(), "POST", d.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			ok, _ := d.checker.ValidateHttpResponse(request, &http.Response{StatusCode: 201, Header: http.Header{"Content-Type": {"application/json"},
				"X-Request-Id": {"x"}}, Body: io.NopCloser(strings.NewReader(execution))})
			return ok
		}
		if !answer(row.good) || answer(row.bad) {
			t.Errorf("%s: %s taken %v, %s taken %v", row.operations, row.good, answer(row.good), row.bad, answer(row.bad))
		}
	}
}

// Agents read these texts too, so they have no invisible characters.
func TestRoutineOpenAPIHasNoInvisibleCharacters(t *testing.T) {
	d := newEnv(t)
	created := d.must(t, "POST", "/routines/", asAdmin, `{"name": "a\u202eb", "description": "a\u200fb", "parameters": [{"name": "p", "description": "a\u2066b", "pattern": "^\\p{L}\u202e"}],
		"operations": [{"type": "navigate", "url": "https://shop.example/?{{p}}"}, {"type": "return_html", "scope": "element", "selector": "#a\u202eb"}]}`)
	got := d.must(t, "GET", created.header.Get("Location")+"/openapi.json", asAdmin, "")
	if got.status != 200 || got.body != routine.PlainText(got.body) || strings.Contains(got.body, `"pattern"`) || !strings.Contains(got.body, `\p{L}`) {
		t.Error(got.body)
	}
}
