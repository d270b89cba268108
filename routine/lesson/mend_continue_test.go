package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/lesson/textform"
	"rote/routine/operation"
)

// mend fails a run of a routine and starts to mend it.
func (c *classroom) mend(t *testing.T, text, values string) *Started {
	t.Helper()
	r, e := c.failedRun(t, text, values)
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil {
		t.Fatal(err)
	}
	return started
}

// summaries are the operations of a list, as in "1 click, 2 return_html".
func summaries(os []Operation) string {
	var all []string
	for _, o := range os {
		all = append(all, fmt.Sprintf("%d %s", o.Number, o.Type))
	}
	return strings.Join(all, ", ")
}

// One call replaces the operation that fails and does those after it.
func TestTryContinues(t *testing.T) {
	c := newClassroom(t, redesigned())
	started := c.mend(t, lampRoutine, `{"word":"lamp"}`)
	tried, err := c.Try(t.Context(), author, started.ID, TryRequest{At: 4, Operations: []json.RawMessage{started.Candidates[0].Operation}})
	if err != nil {
		t.Fatal(err)
	}
	if !tried.OK || len(tried.Steps) != 2 || len(tried.Remaining) != 0 ||
		summaries(tried.Operations) != "1 navigate, 2 input_text, 3 click, 4 click, 5 return_html" {
		t.Errorf("%+v", tried)
	}
	if next := fmt.Sprintf(`save_lesson {"lesson":"%s","expected_version":1}`, started.ID); tried.Next != next || !strings.Contains(tried.Text(), "Next: "+next) {
		t.Errorf("next %q, text\n%s", tried.Next, tried.Text())
	}
}

// An operation without a number is put in front of the one that fails, which is done again.
func TestTryInFrontOfTheFailedOperation(t *testing.T) {
	page, open := redesigned(), false
	click, describe := page.Click, page.Describe
	page.Click = func(ctx context.Context, k routine.Click) (routine.Match, error) {
		open = open || k.Selector == "#unfold"
		if open && k.Selector == "#open" {
			return routine.Match{Matches: 1}, nil
		}
		return click(ctx, k)
	}
	page.Describe = func(ctx context.Context, selector string, use routine.ElementUse) (routine.ElementDescription, error) {
		if open && selector == "#open" {
			return routine.ElementDescription{Matches: 1, Target: routine.Target{Role: "button", Name: "Open"}}, nil
		}
		return describe(ctx, selector, use)
	}
	c := newClassroom(t, page)
	started := c.mend(t, lampRoutine, `{"word":"lamp"}`)
	tried, err := c.Try(t.Context(), author, started.ID, TryRequest{Operations: raw(`{"type":"click","selector":"#other"}`)})
	if err != nil || !tried.OK || len(tried.Operations) != 4 || len(tried.Remaining) != 2 || tried.Stopped != `Operation 5, click #open, still finds no element.` {
		t.Fatalf("%+v, %v", tried, err)
	}
	tried, err = c.Try(t.Context(), author, started.ID, TryRequest{Operations: raw(`{"type":"click","selector":"#unfold"}`)})
	if err != nil || !tried.OK || summaries(tried.Operations) != "1 navigate, 2 input_text, 3 click, 4 click, 5 click, 6 click, 7 return_html" ||
		len(tried.Remaining) > 0 {
		t.Errorf("%+v, %v", tried, err)
	}
}

// What may act on the site is left to the author, and the answer says so.
func TestTryStopsBeforeActing(t *testing.T) {
	text := strings.Replace(lampRoutine, `{"type":"return_html"}`,
		`{"type":"click","selector":"#order","x-target":{"role":"button","name":"Order"},"x-acting":["POST /orders"]},{"type":"return_html"}`, 1)
	var actions []string
	page := redesigned()
	page.Actions = &actions
	c := newClassroom(t, page)
	started := c.mend(t, text, `{"word":"lamp"}`)
	tried, err := c.Try(t.Context(), author, started.ID, TryRequest{At: 4, Operations: []json.RawMessage{started.Candidates[0].Operation}})
	if err != nil || !tried.OK || len(tried.Operations) != 4 || summaries(tried.Remaining) != "5 click, 6 return_html" {
		t.Fatalf("%+v, %v", tried, err)
	}
	if tried.Stopped != `Operation 5, click #order, sends POST /orders: it was not done by itself.` ||
		!strings.HasSuffix(tried.Next, `"expected_version":1,"prove":"check_last"}`) {
		t.Errorf("stopped %q, next %q", tried.Stopped, tried.Next)
	}
	call := fmt.Sprintf("To do it: try_operation {\"lesson\":%q,\"at\":5,\"operation\":%s}\n", started.ID, tried.Remaining[0].Definition)
	if text := tried.Text(); !strings.Contains(text, call) {
		t.Errorf("the text lacks %s:\n%s", call, text)
	}
	if slices.ContainsFunc(actions, func(a string) bool { return strings.Contains(a, "#order") }) {
		t.Errorf("did %q", actions)
	}
}

// If an operation after it fails too, there are candidates for that one.
func TestTryFindsTheNextFailure(t *testing.T) {
	text := strings.Replace(lampRoutine, `{"type":"return_html"}`,
		`{"type":"click","selector":"#gone","timeout_ms":50,"x-target":{"role":"link","name":"More"}}`, 1)
	page := redesigned()
	click, describe := page.Click, page.Describe
	page.Click = func(ctx context.Context, k routine.Click) (routine.Match, error) {
		if k.Selector == "#gone" {
			return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, `no element matches "#gone"`)
		}
		return click(ctx, k)
	}
	page.Describe = func(ctx context.Context, selector string, use routine.ElementUse) (routine.ElementDescription, error) {
		if selector == "#gone" {
			return routine.ElementDescription{}, nil
		}
		return describe(ctx, selector, use)
	}
	find := page.FindElements
	page.FindElements = func(ctx context.Context, q routine.ElementQuery) ([]routine.FoundElement, error) {
		if q.Target.Name == "More" {
			return []routine.FoundElement{{Selector: "#more", Grade: "A", Role: "link", Name: "More", Alternative: -1, SameTarget: true}}, nil
		}
		return find(ctx, q)
	}
	c := newClassroom(t, page)
	started := c.mend(t, text, `{"word":"lamp"}`)
	tried, err := c.Try(t.Context(), author, started.ID, TryRequest{At: 4, Operations: []json.RawMessage{started.Candidates[0].Operation}})
	if err != nil || tried.OK || len(tried.Operations) != 4 || tried.Failure == nil ||
		tried.Failure.Operation != 5 || fmt.Sprint(tried.Candidates) != "[#more 90]" || tried.Next != "" {
		t.Fatalf("%+v, %v", tried, err)
	}
	if text := tried.Text(); !strings.Contains(text, `"at":5,"operation":{"type":"click","selector":"#more"`) {
		t.Error(text)
	}
	tried, err = c.Try(t.Context(), author, started.ID, TryRequest{At: 5, Operations: []json.RawMessage{tried.Candidates[0].Operation}})
	if err != nil || !tried.OK || len(tried.Remaining) > 0 || tried.Next == "" {
		t.Errorf("%+v, %v", tried, err)
	}
}

// An operation that replaces a text form replaces both parts of it.
func TestTryReplacesTextForm(t *testing.T) {
	form, err := textform.Operations(textform.Target{Role: "button", Name: "Open"}, json.RawMessage(`{"type":"click"}`), "b1")
	if err != nil {
		t.Fatal(err)
	}
	old := `{"type":"click","selector":"#open","timeout_ms":50,"x-target":{"role":"button","name":"Open"},"x-alternatives":["[name=open]"]}`
	text := strings.Replace(lampRoutine, old, string(form[0])+","+string(form[1]), 1)
	page := redesigned()
	page.Evaluate = func(context.Context, routine.Script) (routine.Evaluation, error) {
		return routine.Evaluation{}, routine.Errorf(routine.CodeScriptError, "0 visible elements are button 'Open': one is wanted")
	}
	for _, test := range []struct{ name, operation, want string }{
		{"by a click", `{"type":"click","selector":"#show"}`, "1 navigate, 2 input_text, 3 click, 4 click, 5 return_html"},
		{"by itself", "", "1 navigate, 2 input_text, 3 click"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newClassroom(t, page)
			started := c.mend(t, text, `{"word":"lamp"}`)
			if len(started.Candidates) == 0 || string(started.Candidates[0].Operation) != `{"type":"click","x-target":{"role":"button","name":"Open"}}` {
				t.Fatalf("%+v", started.Candidates)
			}
			operation := json.RawMessage(test.operation)
			if test.operation == "" {
				operation = started.Candidates[0].Operation
			}
			tried, err := c.Try(t.Context(), author, started.ID, TryRequest{At: 4, Operations: []json.RawMessage{operation}})
			if err != nil || summaries(tried.Operations) != test.want {
				t.Errorf("%+v, %v", tried, err)
			}
		})
	}
}

// An operation of the routine stays if only some of those that were to replace it work.
func TestTryReplacesOnlyByAll(t *testing.T) {
	c := newClassroom(t, redesigned())
	started := c.mend(t, lampRoutine, `{"word":"lamp"}`)
	tried := c.tried(t, started.ID, TryRequest{At: 4, Operations: raw(`{"type":"click","selector":"#menu"}`, `{"type":"click","selector":"#open"}`)})
	if tried.OK || summaries(tried.Operations) != "1 navigate, 2 input_text, 3 click, 4 click" || summaries(tried.Remaining) != "5 click, 6 return_html" ||
		tried.Steps[0].Number != 4 {
		t.Errorf("kept %s, remaining %s", summaries(tried.Operations), summaries(tried.Remaining))
	}
}

// A text form whose action failed in a run is replaced with its script, which was done.
func TestTryReplacesTextFormThatWasBegun(t *testing.T) {
	form, err := textform.Operations(textform.Target{Role: "button", Name: "Open"}, json.RawMessage(`{"type":"click"}`), "b1")
	if err != nil {
		t.Fatal(err)
	}
	old := `{"type":"click","selector":"#open","timeout_ms":50,"x-target":{"role":"button","name":"Open"},"x-alternatives":["[name=open]"]}`
	text := strings.Replace(lampRoutine, old, string(form[0])+","+string(form[1]), 1)
	page := redesigned()
	click := page.Click
	page.Click = func(ctx context.Context, k routine.Click) (routine.Match, error) {
		if k.Selector == operation.MarkSelector {
			return routine.Match{}, routine.Errorf(routine.CodeElementNotActionable, "it is covered")
		}
		return click(ctx, k)
	}
	c := newClassroom(t, page)
	started := c.mend(t, text, `{"word":"lamp"}`)
	if got := summaries(started.Remaining); got != "5 click, 6 return_html" {
		t.Fatalf("remaining %s", got)
	}
	tried := c.tried(t, started.ID, TryRequest{At: 5, Operations: raw(`{"type":"click","selector":"#show"}`)})
	if got := summaries(tried.Operations); got != "1 navigate, 2 input_text, 3 click, 4 click, 5 return_html" || len(tried.Remaining) > 0 {
		t.Errorf("kept %s, remaining %s", got, summaries(tried.Remaining))
	}
}
