package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
	"rote/routine/service"
)

func parse(t *testing.T, text string) *routine.Definition {
	t.Helper()
	d, _, err := definition.Parse([]byte(text))
	if err != nil {
		for _, p := range routine.AsError(err).Problems {
			t.Log(p)
		}
		t.Fatal(err)
	}
	return d
}

// definitionOf wraps operations (JSON, without the brackets) and parameters.
func definitionOf(operations, parameters string) string {
	return `{"name":"n","description":"d","operations":[` + operations + `],"parameters":[` + parameters + `]}`
}

// runOnce runs operations on a page.
func runOnce(t *testing.T, page routinetest.Page, operations, parameters, values string) (*routine.Execution, error) {
	t.Helper()
	b := &routinetest.Browser{Page: page}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, MaxResult: 1000})
	e, err := s.RunOnce(t.Context(), routine.Principal{}, parse(t, definitionOf(operations, parameters)), service.Call{Parameters: json.RawMessage(values)})
	if b.Opened() != b.Closed() {
		t.Errorf("%d pages opened, %d closed", b.Opened(), b.Closed())
	}
	return e, err
}

func TestRunFillsAndDoesInOrder(t *testing.T) {
	var did []string
	page := routinetest.Page{Actions: &did, SessionStorage: map[string]string{"user": `{"id":7,"token":"tk"}`},
		SentCookies: []routine.Cookie{{Name: "sid", Value: "a%20b", HTTPOnly: true}},
		Response:    routine.Response{URL: "https://shop.test/api", Status: 200, Body: []byte("\ufeff" + `{"n": 12345678901234567890}`)},
		Type: func(context.Context, routine.Typing) (routine.Match, error) {
			return routine.Match{Matches: 1, Differs: true}, nil
		}}
	e, err := runOnce(t, page, `
		{"type":"navigate","url":"https://shop.test/?q={{q}}"},
		{"type":"input_text","selector":"#q","text":"{{q}} {{sessionStorage:user.id}}","clear":true},
		{"type":"click","selector":"[name='{{q}}']","click_count":2},
		{"type":"fetch","endpoint":{"url":"/api","method":"POST","headers":{"X-Token":"Bearer {{sessionStorage:user.token}}","X-N":5,"X-No":null},
			"body":{"n":"{{n}}","c":"{{cookie:sid}}"}},"session_storage_key":"got"},
		{"type":"return","session_storage_key":"got"}`,
		`{"name":"q"},{"name":"n","type":"integer"}`, `{"q":"a&b","n":"7"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"navigate https://shop.test/?q=a%26b",
		"type #q=a&b 7",
		"click [name='a&b'] left×2",
		`fetch POST /api map[X-N:5 X-Token:Bearer tk content-type:application/json] {"c":"a b","n":7}`,
	}
	if diff := cmp.Diff(want, did); diff != "" {
		t.Error(diff)
	}
	if string(e.Result.Data) != `{"n": 12345678901234567890}` || !e.Result.OK || e.Status != routine.ExecutionCompleted {
		t.Errorf("%+v %s", e, e.Result.Data)
	}
	resolved, _ := json.Marshal(e.Result.PlaceholderResolution)
	if string(resolved) != `{"cookie:sid":"***","sessionStorage:user.id":"7","sessionStorage:user.token":"tk"}` {
		t.Errorf("placeholder_resolution: %s", resolved)
	}
	if w := strings.Join(e.Result.Warnings, "|"); !strings.Contains(w, "#q holds another text") {
		t.Errorf("warnings: %s", w)
	}
	if details := e.Result.OperationsMetadata[3].Details["request"]; !strings.Contains(fmt.Sprint(details), "X-Token:***") {
		t.Errorf("the token is shown: %v", details)
	}
}

func TestScrollAndPress(t *testing.T) {
	var did []string
	_, err := runOnce(t, routinetest.Page{URL: "https://shop.test/cart?done=1", Actions: &did},
		`{"type":"scroll","y":100},{"type":"press","key":"Enter"},{"type":"wait_for_url","url_regex":"done=1"},{"type":"return_html"}`, "", `{}`)
	if err != nil || strings.Join(did, "|") != "scroll  100|press Enter" {
		t.Fatal(did, err)
	}
}

// A secret shows nowhere but in what the page is given and what the routine
// answers.
func TestSecretsAreMasked(t *testing.T) {
	var did []string
	page := routinetest.Page{Actions: &did, Status: 404, Response: routine.Response{URL: "https://a.test/?k=p%20%22w", Status: 500},
		Evaluate: func(context.Context, routine.Script) (routine.Evaluation, error) {
			return routine.Evaluation{Console: []string{`log: p "w`}}, routine.Errorf(routine.CodeScriptError, `the script threw p "w`)
		}}
	e, err := runOnce(t, page, `{"type":"navigate","url":"https://a.test/?k={{k}}"},
		{"type":"fetch","endpoint":{"url":"/x?k={{k}}","method":"POST","headers":{"X-K":"{{k}}"},"body":{"k":"{{k}}"}},"session_storage_key":"s"},
		{"type":"js_evaluate","js":"(() => 1)()"}`, `{"name":"k","x-secret":true}`, `{"k":"p \"w"}`)
	if err == nil || !strings.Contains(strings.Join(did, "|"), `p "w`) {
		t.Fatal(did, err)
	}
	told, _ := json.Marshal(e)
	for _, spelling := range []string{`p \"w`, `p \\\"w`, "p%20%22w", "p+%22w"} {
		if strings.Contains(string(told), spelling) || strings.Contains(err.Error(), spelling) {
			t.Errorf("%s is shown: %s %v", spelling, told, err)
		}
	}
	if !strings.Contains(err.Error(), "the script threw ***") {
		t.Error(err)
	}
}

func TestResultLimitIsOnRawBytes(t *testing.T) {
	page := routinetest.Page{Response: routine.Response{Status: 200, Body: make([]byte, 1000)}}
	download := `{"type":"download","endpoint":{"url":"https://a.test/x"},"filename":"x"}`
	if _, err := runOnce(t, page, download, "", `{}`); err != nil { // the limit is 1000
		t.Fatal(err)
	}
	page.Response.Body = append(page.Response.Body, 0)
	if _, err := runOnce(t, page, download, "", `{}`); routine.CodeOf(err) != routine.CodeResultTooLarge {
		t.Fatal(err)
	}
}

func TestUnresolvedPlaceholderStaysAndWarns(t *testing.T) {
	var did []string
	e, err := runOnce(t, routinetest.Page{Actions: &did},
		`{"type":"input_text","selector":"#q","text":"{{sessionStorage:nope}}-{{sessionStorage:none||dflt}}"},{"type":"return_html"}`, "", `{}`)
	if err != nil || did[0] != "type #q={{sessionStorage:nope}}-dflt" || !slices.Contains(e.Result.Warnings, "Could not resolve placeholder: sessionStorage:nope") {
		t.Fatal(did, e.Result.Warnings, err)
	}
	if v, ok := e.Result.PlaceholderResolution["sessionStorage:nope"]; !ok || v != nil {
		t.Fatal("not recorded as null")
	}
}

func TestFirstFailureEndsTheRun(t *testing.T) {
	covered := func(context.Context, routine.Click) (routine.Match, error) {
		return routine.Match{}, routine.Errorf(routine.CodeElementNotActionable, `"#buy" is covered by div.overlay`)
	}
	var did []string
	e, err := runOnce(t, routinetest.Page{Actions: &did, Click: covered},
		`{"type":"navigate","url":"https://a.test"},{"type":"click","selector":"#buy"},{"type":"navigate","url":"https://b.test"}`, "", `{}`)
	want := `operation 2 of 3 (click): "#buy" is covered by div.overlay after 20000 ms`
	if routine.CodeOf(err) != routine.CodeElementNotActionable || err.Error() != want || *e.Error != want || *e.Result.Error != want || e.Result.OK || e.Status != routine.ExecutionFailed {
		t.Fatalf("%v %+v", err, e)
	}
	if len(did) != 2 || len(e.Result.OperationsMetadata) != 2 || e.Result.OperationsMetadata[1].Error == nil || e.ErrorCode != routine.CodeElementNotActionable {
		t.Fatalf("%v %+v", did, e.Result.OperationsMetadata)
	}
}

func TestReturnedValues(t *testing.T) {
	for stored, want := range map[string]string{
		`{"a":1.10}`: `{"a":1.10}`, `text`: `"text"`, `"{\"a\":[1]}"`: `{"a":[1]}`, `"plain"`: `"plain"`, `42`: `42`, `null`: `null`, `not json {`: `"not json {"`, ``: `""`,
		`"<b> & é"`: `"<b> & é"`, `"42"`: `"42"`,
	} {
		e, err := runOnce(t, routinetest.Page{SessionStorage: map[string]string{"k": stored}}, `{"type":"return","session_storage_key":"k"}`, "", `{}`)
		if err != nil || string(e.Result.Data) != want {
			t.Errorf("%s: %s %v, want %s", stored, e.Result.Data, err, want)
		}
	}
	_, err := runOnce(t, routinetest.Page{}, `{"type":"return","session_storage_key":"k"}`, "", `{}`)
	if routine.CodeOf(err) != routine.CodeValueMissing {
		t.Error(err)
	}
}

func TestStoredValues(t *testing.T) {
	value := func(text string) func(context.Context, routine.Script) (routine.Evaluation, error) {
		return func(context.Context, routine.Script) (routine.Evaluation, error) {
			return routine.Evaluation{JSON: json.RawMessage(text), Console: []string{"log: x"}}, nil
		}
	}
	e, err := runOnce(t, routinetest.Page{Evaluate: value(`[1]`)},
		`{"type":"js_evaluate","js":"(() => [1])()","session_storage_key":"k"},{"type":"return","session_storage_key":"k"}`, "", `{}`)
	if err != nil || string(e.Result.Data) != `[1]` || fmt.Sprint(e.Result.OperationsMetadata[0].Details["console"]) != "[log: x]" {
		t.Fatalf("%s %v", e.Result.Data, err)
	}
	e, err = runOnce(t, routinetest.Page{Cookies: []routine.Cookie{{Name: "a", Domain: ".shop.test"}, {Name: "b", Domain: "other.test"}}},
		`{"type":"get_cookies","session_storage_key":"k","domain_filter":"shop.test"},{"type":"return","session_storage_key":"k"}`, "", `{}`)
	if err != nil || !strings.Contains(string(e.Result.Data), `"a"`) || strings.Contains(string(e.Result.Data), `"b"`) {
		t.Fatalf("%s %v", e.Result.Data, err)
	}
	_, err = runOnce(t, routinetest.Page{Evaluate: value(`"` + strings.Repeat("x", 2000) + `"`)},
		`{"type":"js_evaluate","js":"(() => 1)()","session_storage_key":"k"}`, "", `{}`)
	if routine.CodeOf(err) != routine.CodeResultTooLarge {
		t.Fatal(err)
	}
}

func TestDownload(t *testing.T) {
	operation := `{"type":"download","endpoint":{"url":"https://a.test/x.pdf"},"filename":"{{name}}.pdf"}`
	page := routinetest.Page{Response: routine.Response{URL: "https://a.test/x.pdf", Status: 200,
		Headers: map[string]string{"Content-Type": "application/pdf"}, Body: []byte("%PDF\x00\xff")}}
	e, err := runOnce(t, page, operation, `{"name":"name"}`, `{"name":"2401.1"}`)
	r := e.Result
	if err != nil || string(r.Data) != `"JVBERgD/"` || !r.IsBase64 || r.ContentType != "application/pdf" || r.Filename != "2401.1.pdf" || *r.Size != 6 {
		t.Fatalf("%+v %s %v", r, r.Data, err)
	}
	page.Response.Status = 404
	_, err = runOnce(t, page, operation, `{"name":"name"}`, `{"name":"x"}`)
	if routine.CodeOf(err) != routine.CodeHTTPError {
		t.Fatal(err)
	}
}

func TestLimitsSayWhichOneFired(t *testing.T) {
	hang := func(ctx context.Context, _ routine.Click) (routine.Match, error) {
		<-ctx.Done()
		return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, `no element matches "#b"`)
	}
	rows := []struct {
		name, operations string
		timeout          time.Duration
		code             routine.Code
		want             string
	}{
		{"the operation's own", `{"type":"click","selector":"#b","timeout_ms":1500}`, 5 * time.Second, routine.CodeElementNotFound, `no element matches "#b" after 1500 ms`},
		{"the run's", `{"type":"click","selector":"#b"}`, 2 * time.Second, routine.CodeTimeout, `the run took longer than its timeout_seconds of 2: no element matches "#b"; nearest: #c 'Buy'`},
		{"the run's, while waiting for a URL", `{"type":"wait_for_url","url_regex":"never"}`, 2 * time.Second, routine.CodeTimeout,
			`timeout_seconds of 2: the URL did not match "never"; it is https://shop.test/cart?done=1`},
		{"the run's, while asleep", `{"type":"sleep","timeout_seconds":30}`, 2 * time.Second, routine.CodeTimeout, "timeout_seconds of 2"},
		{"wait_for_url's", `{"type":"wait_for_url","url_regex":"never","timeout_ms":700}`, 5 * time.Second, routine.CodeTimeout, `did not match "never" within 700 ms; it is https://shop.test/cart?done=1`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			d := parse(t, definitionOf(r.operations, ""))
			synctest.Test(t, func(t *testing.T) {
				b := &routinetest.Browser{Page: routinetest.Page{URL: "https://shop.test/cart?done=1", Click: hang,
					Evidence: routinetest.ShowEvidence(&routine.Evidence{Elements: []routine.Element{{Selector: "#c", Text: "Buy"}}})}}
				s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
				_, err := s.RunOnce(t.Context(), routine.Principal{}, d, service.Call{Timeout: r.timeout})
				if routine.CodeOf(err) != r.code || !strings.Contains(err.Error(), r.want) {
					t.Fatalf("%s %v, want %s %s", routine.CodeOf(err), err, r.code, r.want)
				}
			})
		})
	}
}

func TestCancelledRun(t *testing.T) {
	d := parse(t, definitionOf(`{"type":"sleep","timeout_seconds":30}`, ""))
	synctest.Test(t, func(t *testing.T) {
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		e, err := s.RunOnce(ctx, routine.Principal{}, d, service.Call{})
		if routine.CodeOf(err) != routine.CodeCancelled || *e.DurationSeconds != 1 || e.ErrorCode != routine.CodeCancelled {
			t.Fatal(err, e)
		}
	})
}

func TestPanicInAPageFailsTheRunAndClosesThePage(t *testing.T) {
	boom := func(context.Context, routine.Click) (routine.Match, error) { panic("boom") }
	e, err := runOnce(t, routinetest.Page{Click: boom}, `{"type":"click","selector":"#b"}`, "", `{}`)
	if routine.CodeOf(err) != routine.CodeInternal || strings.Contains(*e.Error, "boom") || !strings.Contains(err.Error(), "boom") {
		t.Fatal(err, *e.Error)
	}
}

func TestErrorsThatAreNotOursAreHidden(t *testing.T) {
	leak := func(context.Context, routine.Click) (routine.Match, error) {
		return routine.Match{}, errors.New("secret path")
	}
	e, err := runOnce(t, routinetest.Page{Click: leak}, `{"type":"click","selector":"#b"}`, "", `{}`)
	if routine.CodeOf(err) != routine.CodeInternal || strings.Contains(*e.Error, "secret") {
		t.Fatal(err, *e.Error)
	}
}
