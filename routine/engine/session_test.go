package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/engine"
	"rote/routine/operation"
	"rote/routine/routinetest"
)

// examples has an operation of each kind, and what is done before it.
var examples = map[string]struct{ before, operation string }{
	"navigate": {operation: `{"type":"navigate","url":"https://shop.test/?q={{q}}"}`},
	"sleep":    {operation: `{"type":"sleep","timeout_seconds":0}`},
	"fetch": {operation: `{"type":"fetch","endpoint":{"url":"https://shop.test/api?q={{q}}","method":"POST",
		"headers":{"X-Pin":"{{pin}}"},"body":{"q":"{{q}}"}},"session_storage_key":"a"}`},
	"return": {before: `{"type":"js_evaluate","js":"(() => ({\"name\":1}))()","session_storage_key":"a"},`,
		operation: `{"type":"return","session_storage_key":"a"}`},
	"click":        {operation: `{"type":"click","selector":"#{{q}}"}`},
	"input_text":   {operation: `{"type":"input_text","selector":"#pin","text":"{{pin}}"}`},
	"press":        {operation: `{"type":"press","key":"Enter"}`},
	"wait_for_url": {operation: `{"type":"wait_for_url","url_regex":"shop\\.test"}`},
	"scroll":       {operation: `{"type":"scroll","y":100}`},
	"return_html":  {operation: `{"type":"return_html","scope":"element","selector":"#{{q}}"}`},
	"get_cookies":  {operation: `{"type":"get_cookies","session_storage_key":"c"}`},
	"download":     {operation: `{"type":"download","endpoint":{"url":"https://shop.test/report","method":"GET"},"filename":"{{q}}.csv"}`},
	"js_evaluate":  {operation: `{"type":"js_evaluate","js":"(() => ({\"name\":{{q}}}))()","session_storage_key":"a"}`},
}

// elements are what the page names when an operation fails.
var elements = []routine.Element{{Selector: "#save", Role: "button", Text: "Save for 4711"}}

// sessionPage is a page with a warning, a refused host, and a session cookie. If failure is
// not nil, all that can fail fails with it.
func sessionPage(failure error) routinetest.Page {
	p := routinetest.Page{URL: "https://shop.test/", Warnings: []string{"a dialog said 4711"},
		Denials:     []routine.Denial{{Host: "ads.test:443", Reason: "not allowed", Count: 1}},
		SentCookies: []routine.Cookie{{Name: "sid", Value: "s3cr3t", HTTPOnly: true}}, Response: routinetest.Answer("application/json", `{"n":1}`), HTML: "<p>x</p>",
		Evaluate: func(context.Context, routine.Script) (routine.Evaluation, error) {
			return routine.Evaluation{JSON: json.RawMessage(`{"name":1}`), Console: []string{"pin 4711"}}, nil
		},
		Evidence: func(context.Context, routine.Inspection) *routine.Evidence {
			return &routine.Evidence{Elements: append([]routine.Element{}, elements...)}
		},
		Nearest: func(context.Context, routine.Inspection) ([]routine.Element, error) {
			return append([]routine.Element{}, elements...), nil
		}}
	if failure == nil {
		return p
	}
	p.Navigate = func(context.Context, string) (routine.Navigation, error) { return routine.Navigation{}, failure }
	p.Click = routinetest.FailClick(failure)
	p.Type = func(context.Context, routine.Typing) (routine.Match, error) { return routine.Match{}, failure }
	p.OuterHTML = func(context.Context, string) (string, int, error) { return "", 0, failure }
	p.Fetch = func(context.Context, routine.Fetch, int64) (routine.Response, error) {
		return routine.Response{}, failure
	}
	p.WaitURL = func(context.Context, func(string) (bool, error)) (string, error) { return "", failure }
	p.Evaluate = func(context.Context, routine.Script) (routine.Evaluation, error) {
		return routine.Evaluation{Failed: routine.Place{Line: 1, Column: 1}}, failure
	}
	return p
}

// An operation of a session has the record, the warnings, the data and the error of a run,
// whatever its kind.
func TestSessionIsARun(t *testing.T) {
	for kind := range operation.Kinds() {
		example, ok := examples[kind.Name]
		if !ok {
			t.Errorf("there is no example of %s", kind.Name)
			continue
		}
		for _, failure := range []error{nil, routine.Errorf(routine.CodeElementNotFound, "nothing matches 4711")} {
			t.Run(fmt.Sprint(kind.Name, " failing ", failure != nil), func(t *testing.T) {
				before := example.before
				if failure != nil {
					before = ""
				}
				compareWithRun(t, before, example.operation, failure)
			})
		}
	}
}

// compareWithRun does operations in a run and in a session, and compares the last one.
func compareWithRun(t *testing.T, before, last string, failure error) {
	text := `{"name":"n","description":"d","operations":[` + before + last + `],"parameters":[
		{"name":"q","type":"string","description":"d"},{"name":"pin","type":"string","description":"d","x-secret":true}]}`
	d, _, err := definition.Parse([]byte(text))
	if err != nil {
		t.Fatal(routine.AsError(err).Problems)
	}
	values := routine.Values{"q": "lamp", "pin": "4711"}
	options := engine.Options{MaxResult: 1 << 20, Now: func() time.Time { return time.Unix(1e9, 0) }}
	outcome, runErr := engine.Run(t.Context(), d, values, openPage(t, failure), options)

	session := engine.NewSession(openPage(t, failure), options)
	var done engine.Done
	var sessionErr error
	for _, o := range d.Operations {
		done, sessionErr = session.Do(t.Context(), d.Parameters, values, o)
	}
	wantRecord := outcome.Result.OperationsMetadata[len(d.Operations)-1]
	wantRecord.Index = 0
	if diff := cmp.Diff(wantRecord, done.Record); diff != "" {
		t.Errorf("another record (-run +session):\n%s", diff)
	}
	if want := outcome.Result.Warnings[len(d.Operations)-1:]; !cmp.Equal(want, done.Warnings) {
		t.Errorf("warnings %q, those of a run are %q", done.Warnings, want)
	}
	wantData, gotData := outcome.Result.Data, json.RawMessage(nil)
	if done.Result != nil {
		gotData = done.Result.Data
	}
	if !cmp.Equal(wantData, gotData) {
		t.Errorf("result %s, that of a run is %s", gotData, wantData)
	}
	compareErrors(t, runErr, sessionErr, fmt.Sprintf("operation %d of %d (%s): ", len(d.Operations), len(d.Operations), done.Record.Type))
}

// compareErrors compares the error of an operation with that of a run, which begins with
// the number of the operation.
func compareErrors(t *testing.T, run, session error, number string) {
	t.Helper()
	if (run == nil) != (session == nil) {
		t.Fatalf("error %v, that of a run is %v", session, run)
	}
	if run == nil {
		return
	}
	if want := strings.TrimPrefix(run.Error(), number); session.Error() != want || routine.CodeOf(session) != routine.CodeOf(run) {
		t.Errorf("error %s %q, that of a run is %s %q", routine.CodeOf(session), session, routine.CodeOf(run), want)
	}
	if strings.Contains(session.Error(), "4711") {
		t.Errorf("the error shows the secret: %q", session)
	}
}

// openPage opens a page as sessionPage describes it.
func openPage(t *testing.T, failure error) routine.Page {
	t.Helper()
	b := &routinetest.Browser{Page: sessionPage(failure)}
	page, err := b.Open(t.Context(), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(page.Close)
	return page
}

// A session goes on after a failure, and has what earlier operations stored.
func TestSessionGoesOn(t *testing.T) {
	p := sessionPage(nil)
	p.Click = routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "nothing matches"))
	p.Evidence = func(context.Context, routine.Inspection) *routine.Evidence {
		t.Error("the page was stopped for evidence")
		return nil
	}
	page, err := (&routinetest.Browser{Page: p}).Open(t.Context(), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	session := engine.NewSession(page, engine.Options{MaxResult: 1 << 20, Now: time.Now})
	do := func(text string, ps ...routine.Parameter) (engine.Done, error) {
		var o routine.Operation
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		return session.Do(t.Context(), ps, routine.Values{"pin": "4711"}, o)
	}
	stored, err := do(`{"type":"js_evaluate","js":"1","session_storage_key":"a"}`, routine.Parameter{Name: "pin", Secret: true})
	if err != nil || stored.StoredKey != "a" || stored.Stored != `{"name":1}` || stored.Result != nil {
		t.Errorf("stored %q %q, result %v, %v", stored.StoredKey, stored.Stored, stored.Result, err)
	}
	failed, err := do(`{"type":"click","selector":"#buy"}`)
	if want := "; nearest: #save 'Save for ***'"; err == nil || !strings.HasSuffix(err.Error(), want) || len(failed.Nearest) != 1 {
		t.Errorf("%v, not with %q; nearest %v", err, want, failed.Nearest)
	}
	returned, err := do(`{"type":"return","session_storage_key":"a"}`)
	if err != nil || returned.Result == nil || string(returned.Result.Data) != `{"name":1}` || len(returned.Nearest) > 0 {
		t.Errorf("result %v, nearest %v, %v", returned.Result, returned.Nearest, err)
	}
	if got := session.Mask("pin 4711"); got != "pin "+routine.Masked {
		t.Errorf("a secret parameter of an earlier operation is shown: %q", got)
	}
}
