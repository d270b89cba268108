package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// lampRoutine buys a lamp; its last click fails on the pages of these tests.
const lampRoutine = `{"name":"find_lamp","description":"Finds a lamp.","parameters":[{"name":"word","type":"string","description":"What to find"}],"operations":[
	{"type":"navigate","url":"https://shop.test/"},
	{"type":"input_text","selector":"#q","text":"{{word}}"},
	{"type":"click","selector":"#lamps","x-target":{"role":"link","name":"Lamps"}},
	{"type":"click","selector":"#open","timeout_ms":50,"x-target":{"role":"button","name":"Open"},"x-alternatives":["[name=open]"]},
	{"type":"return_html"}]}`

// redesigned is a page on which "#open" is gone.
func redesigned() routinetest.Page {
	return routinetest.Page{
		Click: func(_ context.Context, c routine.Click) (routine.Match, error) {
			if c.Selector == "#open" {
				return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, `no element matches "#open"`)
			}
			return routine.Match{Matches: 1}, nil
		},
		Describe: func(_ context.Context, selector string, _ routine.ElementUse) (routine.ElementDescription, error) {
			if selector == "#open" {
				return routine.ElementDescription{}, nil
			}
			return routine.ElementDescription{Matches: 1, Selector: selector, Grade: "A", GivenGrade: "A", Target: routine.Target{Role: "link", Name: "Lamps"}}, nil
		},
		FindElements: func(_ context.Context, q routine.ElementQuery) ([]routine.FoundElement, error) {
			if q.Target.Name != "Open" {
				return nil, nil
			}
			return []routine.FoundElement{
				{Selector: "#gone", Grade: "A", Role: "button", Name: "Delete account", Alternative: -1, Resemblance: 9, Why: "similar id"},
				{Selector: "#show", Grade: "A", Role: "button", Name: "Open", Alternative: -1, SameTarget: true, Form: "#results"},
			}, nil
		},
		HTML: "<p>Lamp</p>",
	}
}

// failedRun stores a routine and runs it, which fails.
func (c *classroom) failedRun(t *testing.T, text string, values string) (*routine.Routine, *routine.Execution) {
	t.Helper()
	r, _, err := c.service.CreateRoutine(t.Context(), author, []byte(text), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.service.Execute(t.Context(), author, r.ID, service.Call{Parameters: json.RawMessage(values), Via: routine.ViaREST})
	if err == nil || e == nil {
		t.Fatalf("the run did not fail: %+v, %v", e, err)
	}
	return r, e
}

func TestStartMend(t *testing.T) {
	var actions []string
	page := redesigned()
	page.Actions = &actions
	c := newClassroom(t, page)
	r, e := c.failedRun(t, lampRoutine, `{"word":"lamp"}`)
	actions = nil
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"navigate https://shop.test/", "type #q=lamp", "click #lamps left×1"}; !slices.Equal(actions, want) {
		t.Errorf("did %q, want %q", actions, want)
	}
	if len(started.Operations) != 3 || len(started.Remaining) != 2 || started.Remaining[0].Number != 4 || started.Version != 1 || started.Routine != r.ID {
		t.Errorf("%+v", started.Info)
	}
	f := started.Failure
	if f == nil || f.Operation != 4 || f.Of != 5 || f.Code != routine.CodeElementNotFound || f.Then != 0 || f.Execution != e.ID || f.Summary != "click #open" {
		t.Fatalf("failure %+v", f)
	}
	if strings.Contains(f.Message, "operation 4") || !strings.Contains(f.Message, `no element matches "#open"`) {
		t.Errorf("message %q", f.Message)
	}
	if got := fmt.Sprint(started.Candidates); got != "[#show 90 #gone 40 destructive]" && got != "[#show 90 #gone 30 destructive]" {
		t.Errorf("candidates %s", got)
	}
	if clear := started.Clear(); clear == nil || clear.Selector != "#show" {
		t.Errorf("clear: %+v", clear)
	}
	first := fmt.Sprintf(`Try one: try_operation {"lesson":"%s","at":4,"operation":{"type":"click","selector":"#show",`, started.ID)
	if text := mendText(started); !strings.Contains(text, first) {
		t.Error(text)
	}
	if started.Snapshot == nil {
		t.Error("there is no snapshot")
	}
}

func TestStartMendByToolName(t *testing.T) {
	c := newClassroom(t, redesigned())
	r, _ := c.failedRun(t, lampRoutine, `{"word":"lamp"}`)
	started, err := c.Start(t.Context(), author, StartRequest{Routine: "find_lamp", Until: new(1)})
	if err != nil || started.Routine != r.ID || len(started.Operations) != 1 || started.Failure != nil {
		t.Errorf("%+v, %v", started, err)
	}
}

// Without an execution all operations are done, and the one that fails now is mended.
func TestStartMendWithoutExecution(t *testing.T) {
	c := newClassroom(t, redesigned())
	r, _ := c.failedRun(t, lampRoutine, `{"word":"lamp"}`)
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Values: map[string]json.RawMessage{"word": json.RawMessage(`"lamp"`)}})
	if err != nil {
		t.Fatal(err)
	}
	if f := started.Failure; f == nil || f.Operation != 4 || f.Execution != "" || f.Then != 0 || len(started.Candidates) != 2 {
		t.Errorf("failure %+v, candidates %v", f, started.Candidates)
	}
}

func TestStartMendEarlierFailure(t *testing.T) {
	page, broken := redesigned(), false
	page.Type = func(context.Context, routine.Typing) (routine.Match, error) {
		if broken {
			return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, "no element matches")
		}
		return routine.Match{Matches: 1}, nil
	}
	c := newClassroom(t, page)
	r, e := c.failedRun(t, lampRoutine, `{"word":"lamp"}`)
	broken = true
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil {
		t.Fatal(err)
	}
	if f := started.Failure; f == nil || f.Operation != 2 || f.Then != 4 || len(started.Operations) != 1 || len(started.Remaining) != 4 {
		t.Errorf("%+v, %+v", f, started.Info)
	}
	if text := mendText(started); !strings.HasPrefix(text, "Now operation 2 of 5 input_text #q fails (then 4): no element matches") {
		t.Error(text)
	}
}

// An operation that may act on the site is not done again unless the caller says so.
func TestStartMendAsksBeforeActing(t *testing.T) {
	acting := strings.Replace(lampRoutine, `{"type":"click","selector":"#lamps","x-target":{"role":"link","name":"Lamps"}}`,
		`{"type":"click","selector":"#add","x-target":{"role":"button","name":"Add"},"x-acting":["POST /cart"]}`, 1)
	var actions []string
	page := redesigned()
	page.Actions = &actions
	c := newClassroom(t, page)
	r, e := c.failedRun(t, acting, `{"word":"lamp"}`)
	actions = nil
	_, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	wantError(t, err, routine.CodeConflict, `operation 3, click #add, sends POST /cart. Say until 3 to do them all the same, or until 2 to stop before it`)
	if slices.ContainsFunc(actions, func(a string) bool { return strings.HasPrefix(a, "click") }) {
		t.Errorf("did %q", actions)
	}
	if list, _ := c.List(author); len(list) != 0 {
		t.Errorf("lessons %+v", list)
	}
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID, Until: new(3)})
	if err != nil || len(started.Operations) != 3 || len(started.Candidates) != 2 {
		t.Errorf("%+v, %v", started, err)
	}
}

// What a click of an author who used no lesson does is judged by its element.
func TestStartMendJudgesElements(t *testing.T) {
	old := strings.Replace(lampRoutine, `,"x-target":{"role":"link","name":"Lamps"}`, "", 1)
	target, describe := routine.Target{Role: "button", Name: "Order"}, redesigned().Describe
	page := redesigned()
	page.Describe = func(ctx context.Context, selector string, use routine.ElementUse) (routine.ElementDescription, error) {
		d, err := describe(ctx, selector, use)
		d.Target = target
		return d, err
	}
	c := newClassroom(t, page)
	r, e := c.failedRun(t, old, `{"word":"lamp"}`)
	_, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	wantError(t, err, routine.CodeConflict, `operation 3, click #lamps, may send something: it is a button "Order"`)
	target = routine.Target{Role: "link", Name: "Lamps"}
	if _, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID}); err != nil {
		t.Error(err)
	}
}

func TestStartMendNewestVersion(t *testing.T) {
	c := newClassroom(t, redesigned())
	r, e := c.failedRun(t, lampRoutine, `{"word":"lamp"}`)
	patch := []byte(`{"operations":[{"type":"navigate","url":"https://other.test/"},{"type":"return_html"}]}`)
	if _, _, err := c.service.PatchRoutine(t.Context(), author, r.ID, patch, nil); err != nil {
		t.Fatal(err)
	}
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil || started.Version != 1 || started.Newest != 2 || len(started.Operations) != 3 {
		t.Fatalf("%+v, %v", started, err)
	}
	if text := mendText(started); !strings.Contains(text, `"expected_version":2`) || !strings.Contains(text, "version 2 now; this is about version 1") {
		t.Error(text)
	}
}

// A request that is answered with an error status ends no run, but what comes after it is
// made of a wrong answer.
func TestStartMendRefusedRequest(t *testing.T) {
	const text = `{"name":"list","description":"Lists.","operations":[{"type":"navigate","url":"https://shop.test/"},
		{"type":"fetch","endpoint":{"url":"/api/items"},"session_storage_key":"items"},
		{"type":"click","selector":"#open","timeout_ms":50},{"type":"return","session_storage_key":"items"}]}`
	page := redesigned()
	page.Response = routine.Response{Status: 404, Body: []byte(`{}`)}
	page.Requests = func(context.Context, int) (routine.RequestLog, error) {
		return routine.RequestLog{Requests: []routine.Request{{Number: 1, Kind: "fetch", Method: "GET", URL: "https://shop.test/api/v2/items",
			PageURL: "https://shop.test/", Status: 200, ContentType: "application/json", Answer: []byte(`[{"id":1}]`)}}}, nil
	}
	c := newClassroom(t, page)
	r, e := c.failedRun(t, text, `{}`)
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil {
		t.Fatal(err)
	}
	f := started.Failure
	if f == nil || f.Operation != 2 || f.Then != 3 || f.Code != routine.CodeHTTPError || len(started.Operations) != 1 {
		t.Fatalf("%+v", f)
	}
	if len(started.Candidates) != 1 || !strings.Contains(string(started.Candidates[0].Operation), `/api/v2/items`) ||
		!strings.HasSuffix(string(started.Candidates[0].Operation), `"session_storage_key":"items"}`) {
		t.Errorf("%s %+v", started.Candidates[0].Operation, started.Candidates)
	}
}

func TestStartMendRefusals(t *testing.T) {
	c := newClassroom(t, redesigned())
	secret := strings.Replace(lampRoutine, `"type":"string","description":"What to find"`, `"type":"string","x-secret":true,"description":"What to find"`, 1)
	r, e := c.failedRun(t, secret, `{"word":"s3cret-lamp"}`)
	other, _ := c.failedRun(t, strings.Replace(lampRoutine, "find_lamp", "other", 1), `{"word":"lamp"}`)
	fine, _, err := c.service.CreateRoutine(t.Context(), author,
		[]byte(`{"name":"fine","description":"Works.","operations":[{"type":"navigate","url":"https://shop.test/"},{"type":"return_html"}]}`), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	done, err := c.service.Execute(t.Context(), author, fine.ID, service.Call{Via: routine.ViaREST})
	if err != nil {
		t.Fatal(err)
	}
	word := map[string]json.RawMessage{"word": json.RawMessage(`"x"`)}
	reader := author
	reader.Scopes = routine.ScopeRoutinesRead | routine.ScopeExecutionsRun | routine.ScopeExecutionsRead
	stranger := author
	stranger.OrganizationID = "elsewhere"
	for name, row := range map[string]struct {
		p    routine.Principal
		q    StartRequest
		code routine.Code
		part string
	}{
		"secret values":        {author, StartRequest{Routine: r.ID, Execution: e.ID}, routine.CodeInvalid, "executions do not keep the values of word"},
		"another routine":      {author, StartRequest{Routine: other.ID, Execution: e.ID}, routine.CodeInvalid, "is of another routine"},
		"nothing failed":       {author, StartRequest{Routine: fine.ID, Execution: done.ID}, routine.CodeInvalid, "no operation of execution"},
		"until too large":      {author, StartRequest{Routine: r.ID, Until: new(6), Values: word}, routine.CodeInvalid, "until must be from 0 to 5"},
		"until negative":       {author, StartRequest{Routine: r.ID, Until: new(-1), Values: word}, routine.CodeInvalid, "until must be from 0 to 5"},
		"no value":             {author, StartRequest{Routine: r.ID}, routine.CodeInvalid, "{{word}} has no value"},
		"both":                 {author, StartRequest{Routine: r.ID, URL: "https://shop.test/"}, routine.CodeInvalid, "give either url or routine"},
		"no such routine":      {author, StartRequest{Routine: "Routine_1"}, routine.CodeNotFound, "there is no routine"},
		"no such tool":         {author, StartRequest{Routine: "nothing"}, routine.CodeNotFound, "no routine has the tool name"},
		"no such execution":    {author, StartRequest{Routine: r.ID, Execution: "1"}, routine.CodeNotFound, "there is no execution"},
		"who may not change":   {reader, StartRequest{Routine: r.ID, Values: word}, routine.CodeForbidden, "routines:write"},
		"another organization": {stranger, StartRequest{Routine: r.ID, Values: word}, routine.CodeForbidden, "no access"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Start(t.Context(), row.p, row.q)
			wantError(t, err, row.code, row.part)
		})
	}
	if list, _ := c.List(author); len(list) != 0 {
		t.Errorf("lessons %+v", list)
	}
	word["word"] = json.RawMessage(`"s3cret-lamp"`)
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID, Values: word})
	if err != nil || strings.Contains(routine.JSONText(started), "s3cret-lamp") || strings.Contains(mendText(started), "s3cret-lamp") {
		t.Errorf("%s, %v", routine.JSONText(started), err)
	}
}

// What covers the element is closed before the operation.
func TestStartMendCoveredElement(t *testing.T) {
	page := redesigned()
	page.Click = func(_ context.Context, c routine.Click) (routine.Match, error) {
		if c.Selector == "#open" {
			return routine.Match{Matches: 1}, routine.Errorf(routine.CodeElementNotActionable, `"#open" is covered by div.overlay`)
		}
		return routine.Match{Matches: 1}, nil
	}
	page.Describe = nil
	page.Nearest = func(_ context.Context, i routine.Inspection) ([]routine.Element, error) {
		return []routine.Element{{Selector: "#open", Role: "button", Matched: true, Problem: "is covered by div.overlay"},
			{Selector: "#ok", Role: "button", Text: "Accept all"}, {Selector: "#leave", Role: "button", Text: "Delete my data"},
			{Selector: "#x", Role: "button", Problem: "is hidden"}}, nil
	}
	c := newClassroom(t, page)
	r, e := c.failedRun(t, lampRoutine, `{"word":"lamp"}`)
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(started.Candidates); got != "[#ok 70 #leave 10 destructive]" || !started.Candidates[0].Before {
		t.Errorf("candidates %s", got)
	}
	if got := string(started.Candidates[0].Operation); got != `{"type":"click","selector":"#ok","x-optional":true}` {
		t.Error(got)
	}
	if started.Clear() != nil {
		t.Error("a click that closes something is never chosen by itself")
	}
}

// The secrets of the lesson and the tokens of a URL are in no candidate.
func TestStartMendKeepsSecrets(t *testing.T) {
	const text = `{"name":"enter","description":"Enters.","parameters":[{"name":"pin","type":"string","x-secret":true,"description":"PIN"}],"operations":[
		{"type":"navigate","url":"https://shop.test/"},{"type":"input_text","selector":"#pin","text":"{{pin}}"},
		{"type":"wait_for_url","url_regex":"/welcome$","timeout_ms":50},{"type":"return_html"}]}`
	values := map[string]json.RawMessage{"pin": json.RawMessage(`"s3cret-pin"`)}
	for url, want := range map[string]string{
		"https://shop.test/start?sid=0123456789abcdef0123":       "the page did not leave https://shop.test/start:",
		"https://shop.test/start/0123456789abcdef0123?a=1":       "the page did not leave https://shop.test/start/…:",
		"https://shop.test/start/s3cret-pin/0123456789abcdef012": "",
	} {
		page := redesigned()
		page.URL = url
		c := newClassroom(t, page)
		r, e := c.failedRun(t, text, `{"pin":"s3cret-pin"}`)
		started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID, Values: values})
		if err != nil {
			t.Fatal(err)
		}
		why := ""
		for _, c := range started.Candidates {
			why += c.Why
		}
		if !strings.HasPrefix(why, want) || want == "" && why != "" {
			t.Errorf("%s: %q", url, why)
		}
		for _, hidden := range []string{"s3cret-pin", "0123456789abcdef"} {
			if text := routine.JSONText(started.Candidates) + CandidatesText(started.Candidates); strings.Contains(text, hidden) {
				t.Errorf("%s: %s", url, text)
			}
		}
	}
}
