package lesson

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/lesson/textform"
	"rote/routine/operation"
	"rote/routine/routinetest"
)

// An operation on an element that is named by its texts is tried, kept and undone as the two
// operations of its text form.
func TestTryByTarget(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	id := c.start(t)
	tried := c.tried(t, id, TryRequest{Operations: raw(`{"type":"click","click_count":2,"x-target":{"role":"button","name":"Subscribe"}}`,
		`{"type":"input_text","text":"a","x-target":{"label":"E-mail"}}`, `{"type":"click","selector":"#go","x-target":{"role":"button","name":"Go"}}`)})
	if !tried.OK {
		t.Fatal(tried.Text())
	}
	type operationFields struct {
		Type     string          `json:"type"`
		Selector string          `json:"selector"`
		Bridge   string          `json:"x-bridge"`
		Target   textform.Target `json:"x-target"`
		Clicks   int             `json:"click_count"`
	}
	var got []operationFields
	for _, o := range tried.Operations[1:] {
		var one operationFields
		if err := json.Unmarshal(o.Definition, &one); err != nil {
			t.Fatal(err)
		}
		got = append(got, one)
	}
	want := []operationFields{
		{Type: "js_evaluate", Bridge: "b1", Target: textform.Target{Role: "button", Name: "Subscribe"}},
		{Type: "click", Selector: operation.MarkSelector, Bridge: "b1", Clicks: 2},
		{Type: "js_evaluate", Bridge: "b2", Target: textform.Target{Label: "E-mail"}},
		{Type: "input_text", Selector: operation.MarkSelector, Bridge: "b2"},
		{Type: "click", Selector: "#go", Target: textform.Target{Role: "button", Name: "Go"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text := tried.Text(); strings.Contains(text, "data-rote-mark") || !strings.Contains(text, `2 js_evaluate finds button "Subscribe" · `+
		`3 click button "Subscribe" (by its text) · 4 js_evaluate finds field "E-mail" · 5 input_text field "E-mail" (by its text)`) {
		t.Error(text)
	}
	undone, err := c.Undo(t.Context(), author, id, UndoRequest{To: 4})
	if err != nil || len(undone.Operations) != 3 {
		t.Errorf("%d operations are left: %v", len(undone.Operations), err)
	}
	for _, bad := range []string{`{"type":"click","x-target":"Go"}`, `{"type":"click","x-target":{"role":"button"}}`} {
		_, err := c.Try(t.Context(), author, id, TryRequest{Operations: raw(bad)})
		wantError(t, err, routine.CodeInvalid, "target")
	}
}

// Both operations of a text form are replaced together, whichever of them "at" names. One of
// them alone is replaced by an operation with the same x-bridge.
func TestTryReplacesWholeTextForms(t *testing.T) {
	const script, click = `{"type":"js_evaluate","js":"(() => 1)()","x-bridge":"b1"}`, `{"type":"click","selector":"#a","x-bridge":"b1"}`
	for _, row := range []struct {
		name       string
		at         int
		operations []json.RawMessage
		numbers    []int
		want       string
	}{
		{"the script by a click", 2, raw(`{"type":"click","selector":"#b"}`), []int{2}, "1 navigate, 2 click, 3 press"},
		{"the click by a click", 3, raw(`{"type":"click","selector":"#b"}`), []int{2}, "1 navigate, 2 click, 3 press"},
		{"the click by a text form", 3, raw(`{"type":"click","x-target":{"role":"button","name":"Go"}}`), []int{2, 3},
			"1 navigate, 2 js_evaluate, 3 click, 4 press"},
		{"both by both", 2, raw(script, click), []int{2, 3}, "1 navigate, 2 js_evaluate, 3 click, 4 press"},
		{"only the click", 3, raw(`{"type":"click","selector":"#b","x-bridge":"b1"}`), []int{3}, "1 navigate, 2 js_evaluate, 3 click, 4 press"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClassroom(t, routinetest.Page{})
			id := c.start(t)
			c.tried(t, id, TryRequest{Operations: raw(script, click, `{"type":"press","key":"End"}`)})
			tried := c.tried(t, id, TryRequest{At: row.at, Operations: row.operations})
			if got := summaries(tried.Operations); got != row.want || !tried.Operations[len(tried.Operations)-1].Unproved {
				t.Errorf("kept %s", got)
			}
			var numbers []int
			for _, s := range tried.Steps {
				numbers = append(numbers, s.Number)
			}
			if !slices.Equal(numbers, row.numbers) {
				t.Errorf("kept as %v, want %v", numbers, row.numbers)
			}
		})
	}
}

// The script of a text form is not kept if its action fails.
func TestTryKeepsNoHalfTextForm(t *testing.T) {
	c := newClassroom(t, routinetest.Page{Click: routinetest.FailClick(routine.Errorf(routine.CodeElementNotActionable, "it is covered"))})
	id := c.start(t)
	tried := c.tried(t, id, TryRequest{Operations: raw(`{"type":"press","key":"Tab"}`, `{"type":"click","x-target":{"role":"button","name":"Go"}}`)})
	if got := summaries(tried.Operations); tried.OK || len(tried.Steps) != 3 || got != "1 navigate, 2 press" {
		t.Errorf("kept %s: %s", got, tried.Text())
	}
	if tried.Steps[0].Number != 2 || tried.Steps[1].Number != 0 {
		t.Errorf("kept as %d and %d", tried.Steps[0].Number, tried.Steps[1].Number)
	}
}

// A text form that fails says what it looked for, and does not quote its script.
func TestTextFormThatFails(t *testing.T) {
	missing := false
	page := dialogPage(&missing)
	page.Evaluate = func(context.Context, routine.Script) (routine.Evaluation, error) {
		if missing {
			return routine.Evaluation{}, routine.Errorf(routine.CodeScriptError, "the script threw Error: 0 visible elements are button 'OK' (line 10, column 2)")
		}
		return routine.Evaluation{}, nil
	}
	page.Evidence = routinetest.ShowEvidence(&routine.Evidence{Script: &routine.ScriptLine{Text: "if(Date.now()>end)throw"}})
	c := newClassroom(t, page)
	id := c.start(t)
	c.tried(t, id, TryRequest{Operations: raw(clickNamed)})
	missing = true
	text := c.tried(t, id, TryRequest{Operations: raw(clickNamed)}).Text()
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "n", Description: "D.", Prove: ProveAll})
	if routine.CodeOf(err) != routine.CodeNotProved {
		t.Fatalf("%+v, %v", saved, err)
	}
	for _, text := range []string{text, saved.Text(), saved.Proof.Failure.Message} {
		if !strings.Contains(text, "0 visible elements are button 'OK'") || strings.Contains(text, "Date.now") || strings.Contains(text, "line 10") {
			t.Error(text)
		}
	}
	if saved.Proof.Failure.Summary != `js_evaluate finds button "OK"` {
		t.Error(saved.Proof.Failure.Summary)
	}
}

// A better selector is named if the given one finds the element only by its place, and never
// in place of one with a placeholder.
func TestBetterSelectors(t *testing.T) {
	for _, row := range []struct {
		name, operation, grade string
		want                   bool
	}{
		{"by its place", `{"type":"click","selector":"button:nth-of-type(2)"}`, "D", true},
		{"by tags", `{"type":"click","selector":"nav a"}`, "C", false},
		{"with a placeholder", `{"type":"click","selector":"a[href='/{{n}}']"}`, "D", false},
		{"a text form", clickNamed, "D", false},
	} {
		c := newClassroom(t, routinetest.Page{Describe: describeAs(routine.ElementDescription{Matches: 1, Selector: "#buy", Grade: "A", GivenGrade: row.grade})})
		id := c.start(t)
		text := c.tried(t, id, TryRequest{Operations: raw(row.operation), Values: map[string]json.RawMessage{"n": json.RawMessage("2")}}).Text()
		if strings.Contains(text, "A: #buy instead of D: button:nth-of-type(2)\n") != row.want || strings.Contains(text, "instead of") != row.want {
			t.Errorf("%s: advice wanted %v:\n%s", row.name, row.want, text)
		}
	}
}
