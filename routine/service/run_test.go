package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// fakeBrowser opens fakePages and counts them.
type fakeBrowser struct {
	page fakePage // what each page begins as
	err  error

	mu             sync.Mutex
	opened, closed int
	opening        routine.Opening // of the last
	most           int             // open at once
}

func (b *fakeBrowser) Open(_ context.Context, o routine.Opening) (routine.Page, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	b.opening = o
	b.opened++
	b.most = max(b.most, b.opened-b.closed)
	p := b.page
	p.browser, p.session = b, map[string]string{}
	for k, v := range b.page.session {
		p.session[k] = v
	}
	return &p, nil
}

// fakePage answers from its fields and notes what it is asked to do.
type fakePage struct {
	routine.Page // what a test does not script panics
	browser      *fakeBrowser
	did          *[]string
	session      map[string]string // sessionStorage
	local        map[string]string
	sent, all    []routine.Cookie
	response     routine.Response
	fetch        func(context.Context, routine.Fetch) (routine.Response, error)
	evaluate     func(context.Context) (routine.Evaluation, error)
	click        func(context.Context) (routine.Found, error)
	typed        func() (routine.Found, error)
	html         func(context.Context) (string, error)
	status       int
	warnings     []string
	denials      []routine.Denial
	evidence     func(context.Context, routine.Inspection) *routine.Evidence
	state        []byte
	files        func(last bool) ([]routine.File, error)
}

func (p *fakePage) note(format string, args ...any) {
	if p.did != nil {
		*p.did = append(*p.did, fmt.Sprintf(format, args...))
	}
}

func (p *fakePage) Navigate(_ context.Context, url string) (routine.Navigation, error) {
	p.note("navigate %s", url)
	return routine.Navigation{URL: url, Status: max(p.status, 200)}, nil
}

func (p *fakePage) Click(ctx context.Context, c routine.Click) (routine.Found, error) {
	p.note("click %s %s×%d", c.Selector, c.Button, c.Count)
	p.noteExtensions(c)
	if p.click == nil {
		return routine.Found{Matches: 1}, nil
	}
	return p.click(ctx)
}

func (p *fakePage) Fetch(ctx context.Context, f routine.Fetch, _ int64) (routine.Response, error) {
	body := "no body"
	if f.Body != nil {
		body = *f.Body
	}
	p.note("fetch %s %s %v %s", f.Method, f.URL, f.Headers, body)
	if p.fetch != nil {
		return p.fetch(ctx, f)
	}
	return p.response, nil
}

func (p *fakePage) Evaluate(ctx context.Context, s routine.Script) (routine.Evaluation, error) {
	p.note("evaluate %s", s.Text)
	return p.evaluate(ctx)
}

func (p *fakePage) Lookup(_ context.Context, from routine.Source, name string) (string, bool, error) {
	m := p.session
	if from == routine.FromLocalStorage {
		m = p.local
	}
	text, ok := m[name]
	return text, ok, nil
}

func (p *fakePage) Mirror(_ context.Context, key, text string) error {
	p.session[key] = text
	return nil
}
func (p *fakePage) SentCookies(context.Context) ([]routine.Cookie, error) { return p.sent, nil }
func (p *fakePage) Cookies(context.Context) ([]routine.Cookie, error)     { return p.all, nil }
func (p *fakePage) WaitURL(ctx context.Context, match func(string) (bool, error)) (string, error) {
	if ok, err := match("https://shop.test/cart?done=1"); ok || err != nil {
		return "https://shop.test/cart?done=1", err
	}
	<-ctx.Done()
	return "", context.Cause(ctx)
}
func (p *fakePage) Scroll(_ context.Context, s routine.Scroll) error {
	p.note("scroll %s %v", s.Selector, *s.Y)
	return nil
}
func (p *fakePage) Press(_ context.Context, key string) error {
	p.note("press %s", key)
	return nil
}
func (p *fakePage) Warnings() []string                    { return p.warnings }
func (p *fakePage) State(context.Context) ([]byte, error) { return p.state, nil }
func (p *fakePage) Denials() []routine.Denial             { return p.denials }
func (p *fakePage) Close() {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	p.browser.closed++
}

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
func runOnce(t *testing.T, page fakePage, operations, parameters, values string) (*routine.Execution, error) {
	t.Helper()
	b := &fakeBrowser{page: page}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, MaxResult: 1000})
	e, err := s.RunOnce(t.Context(), routine.Principal{}, parse(t, definitionOf(operations, parameters)), service.Call{Parameters: json.RawMessage(values)})
	if b.opened != b.closed {
		t.Errorf("%d pages opened, %d closed", b.opened, b.closed)
	}
	return e, err
}

func TestRunFillsAndDoesInOrder(t *testing.T) {
	var did []string
	page := fakePage{did: &did, session: map[string]string{"user": `{"id":7,"token":"tk"}`}, sent: []routine.Cookie{{Name: "sid", Value: "a%20b", HTTPOnly: true}},
		response: routine.Response{URL: "https://shop.test/api", Status: 200, Body: []byte("\ufeff" + `{"n": 12345678901234567890}`)}}
	e, err := runOnce(t, page, `
		{"type":"navigate","url":"https://shop.test/?q={{q}}"},
		{"type":"input_text","selector":"#q","text":"{{q}} {{sessionStorage:user.id}}","clear":true},
		{"type":"click","selector":"[name='{{q}}']","click_count":2},
		{"type":"fetch","endpoint":{"url":"/api","method":"POST","headers":{"X-Token":"Bearer {{sessionStorage:user.token}}","X-N":5,"X-No":null},"body":{"n":"{{n}}","c":"{{cookie:sid}}"}},"session_storage_key":"got"},
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
	_, err := runOnce(t, fakePage{did: &did}, `{"type":"scroll","y":100},{"type":"press","key":"Enter"},{"type":"wait_for_url","url_regex":"done=1"},{"type":"return_html"}`, "", `{}`)
	if err != nil || strings.Join(did, "|") != "scroll  100|press Enter" {
		t.Fatal(did, err)
	}
}

// A secret shows nowhere but in what the page is given and what the routine
// answers.
func TestSecretsAreMasked(t *testing.T) {
	var did []string
	page := fakePage{did: &did, status: 404, response: routine.Response{URL: "https://a.test/?k=p%20%22w", Status: 500},
		evaluate: func(context.Context) (routine.Evaluation, error) {
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
	page := fakePage{response: routine.Response{Status: 200, Body: make([]byte, 1000)}}
	download := `{"type":"download","endpoint":{"url":"https://a.test/x"},"filename":"x"}`
	if _, err := runOnce(t, page, download, "", `{}`); err != nil { // the limit is 1000
		t.Fatal(err)
	}
	page.response.Body = append(page.response.Body, 0)
	if _, err := runOnce(t, page, download, "", `{}`); routine.CodeOf(err) != routine.CodeResultTooLarge {
		t.Fatal(err)
	}
}

func TestUnresolvedPlaceholderStaysAndWarns(t *testing.T) {
	var did []string
	e, err := runOnce(t, fakePage{did: &did}, `{"type":"input_text","selector":"#q","text":"{{sessionStorage:nope}}-{{sessionStorage:none||dflt}}"},{"type":"return_html"}`, "", `{}`)
	if err != nil || did[0] != "type #q={{sessionStorage:nope}}-dflt" || !slices.Contains(e.Result.Warnings, "Could not resolve placeholder: sessionStorage:nope") {
		t.Fatal(did, e.Result.Warnings, err)
	}
	if v, ok := e.Result.PlaceholderResolution["sessionStorage:nope"]; !ok || v != nil {
		t.Fatal("not recorded as null")
	}
}

func TestFirstFailureEndsTheRun(t *testing.T) {
	covered := func(context.Context) (routine.Found, error) {
		return routine.Found{}, routine.Errorf(routine.CodeElementNotActionable, `"#buy" is covered by div.overlay`)
	}
	var did []string
	e, err := runOnce(t, fakePage{did: &did, click: covered}, `{"type":"navigate","url":"https://a.test"},{"type":"click","selector":"#buy"},{"type":"navigate","url":"https://b.test"}`, "", `{}`)
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
		e, err := runOnce(t, fakePage{session: map[string]string{"k": stored}}, `{"type":"return","session_storage_key":"k"}`, "", `{}`)
		if err != nil || string(e.Result.Data) != want {
			t.Errorf("%s: %s %v, want %s", stored, e.Result.Data, err, want)
		}
	}
	_, err := runOnce(t, fakePage{}, `{"type":"return","session_storage_key":"k"}`, "", `{}`)
	if routine.CodeOf(err) != routine.CodeValueMissing {
		t.Error(err)
	}
}

func TestStoredValues(t *testing.T) {
	value := func(text string) func(context.Context) (routine.Evaluation, error) {
		return func(context.Context) (routine.Evaluation, error) {
			return routine.Evaluation{JSON: json.RawMessage(text), Console: []string{"log: x"}}, nil
		}
	}
	e, err := runOnce(t, fakePage{evaluate: value(`[1]`)}, `{"type":"js_evaluate","js":"(() => [1])()","session_storage_key":"k"},{"type":"return","session_storage_key":"k"}`, "", `{}`)
	if err != nil || string(e.Result.Data) != `[1]` || fmt.Sprint(e.Result.OperationsMetadata[0].Details["console"]) != "[log: x]" {
		t.Fatalf("%s %v", e.Result.Data, err)
	}
	e, err = runOnce(t, fakePage{all: []routine.Cookie{{Name: "a", Domain: ".shop.test"}, {Name: "b", Domain: "other.test"}}},
		`{"type":"get_cookies","session_storage_key":"k","domain_filter":"shop.test"},{"type":"return","session_storage_key":"k"}`, "", `{}`)
	if err != nil || !strings.Contains(string(e.Result.Data), `"a"`) || strings.Contains(string(e.Result.Data), `"b"`) {
		t.Fatalf("%s %v", e.Result.Data, err)
	}
	_, err = runOnce(t, fakePage{evaluate: value(`"` + strings.Repeat("x", 2000) + `"`)}, `{"type":"js_evaluate","js":"(() => 1)()","session_storage_key":"k"}`, "", `{}`)
	if routine.CodeOf(err) != routine.CodeResultTooLarge {
		t.Fatal(err)
	}
}

func TestDownload(t *testing.T) {
	operation := `{"type":"download","endpoint":{"url":"https://a.test/x.pdf"},"filename":"{{name}}.pdf"}`
	page := fakePage{response: routine.Response{URL: "https://a.test/x.pdf", Status: 200, Headers: map[string]string{"Content-Type": "application/pdf"}, Body: []byte("%PDF\x00\xff")}}
	e, err := runOnce(t, page, operation, `{"name":"name"}`, `{"name":"2401.1"}`)
	r := e.Result
	if err != nil || string(r.Data) != `"JVBERgD/"` || !r.IsBase64 || r.ContentType != "application/pdf" || r.Filename != "2401.1.pdf" || *r.Size != 6 {
		t.Fatalf("%+v %s %v", r, r.Data, err)
	}
	page.response.Status = 404
	_, err = runOnce(t, page, operation, `{"name":"name"}`, `{"name":"x"}`)
	if routine.CodeOf(err) != routine.CodeHTTPError {
		t.Fatal(err)
	}
}

func TestLimitsSayWhichOneFired(t *testing.T) {
	hang := func(ctx context.Context) (routine.Found, error) {
		<-ctx.Done()
		return routine.Found{}, routine.Errorf(routine.CodeElementNotFound, `no element matches "#b"`)
	}
	rows := []struct {
		name, operations string
		timeout          time.Duration
		code             routine.Code
		want             string
	}{
		{"the operation's own", `{"type":"click","selector":"#b","timeout_ms":1500}`, 5 * time.Second, routine.CodeElementNotFound, `no element matches "#b" after 1500 ms`},
		{"the run's", `{"type":"click","selector":"#b"}`, 2 * time.Second, routine.CodeTimeout, `the run took longer than its timeout_seconds of 2: no element matches "#b"; nearest: #c 'Buy'`},
		{"the run's, while waiting for a URL", `{"type":"wait_for_url","url_regex":"never"}`, 2 * time.Second, routine.CodeTimeout, `timeout_seconds of 2: the URL did not match "never"; it is https://shop.test/cart?done=1`},
		{"the run's, while asleep", `{"type":"sleep","timeout_seconds":30}`, 2 * time.Second, routine.CodeTimeout, "timeout_seconds of 2"},
		{"wait_for_url's", `{"type":"wait_for_url","url_regex":"never","timeout_ms":700}`, 5 * time.Second, routine.CodeTimeout, `did not match "never" within 700 ms; it is https://shop.test/cart?done=1`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			d := parse(t, definitionOf(r.operations, ""))
			synctest.Test(t, func(t *testing.T) {
				s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &fakeBrowser{page: fakePage{click: hang, evidence: shows(routine.Evidence{Elements: []routine.Element{{Selector: "#c", Text: "Buy"}}})}}})
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
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &fakeBrowser{}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		e, err := s.RunOnce(ctx, routine.Principal{}, d, service.Call{})
		if routine.CodeOf(err) != routine.CodeCancelled || *e.DurationSeconds != 1 || e.ErrorCode != routine.CodeCancelled {
			t.Fatal(err, e)
		}
	})
}

func TestPanicInAPageFailsTheRunAndClosesThePage(t *testing.T) {
	boom := func(context.Context) (routine.Found, error) { panic("boom") }
	e, err := runOnce(t, fakePage{click: boom}, `{"type":"click","selector":"#b"}`, "", `{}`)
	if routine.CodeOf(err) != routine.CodeInternal || strings.Contains(*e.Error, "boom") || !strings.Contains(err.Error(), "boom") {
		t.Fatal(err, *e.Error)
	}
}

func TestErrorsThatAreNotOursAreHidden(t *testing.T) {
	leak := func(context.Context) (routine.Found, error) { return routine.Found{}, errors.New("secret path") }
	e, err := runOnce(t, fakePage{click: leak}, `{"type":"click","selector":"#b"}`, "", `{}`)
	if routine.CodeOf(err) != routine.CodeInternal || strings.Contains(*e.Error, "secret") {
		t.Fatal(err, *e.Error)
	}
}
