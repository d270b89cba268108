package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"rote/routine"
	"rote/routine/lesson/judge"
	"rote/routine/routinetest"
)

// searchPage is a page of a shop whose search answers with what answer makes of the URL.
func searchPage(answer func(url string) string) routinetest.Page {
	return routinetest.Page{
		Fetch: func(_ context.Context, f routine.Fetch, _ int64) (routine.Response, error) {
			return routine.Response{Status: 200, URL: f.URL, Body: []byte(answer(f.URL))}, nil
		},
		Nearest: func(_ context.Context, i routine.Inspection) ([]routine.Element, error) {
			return []routine.Element{{Selector: i.Selector, Role: "button", Matched: true}}, nil
		},
	}
}

// found answers a search with one item that has the URL in it.
func found(url string) string { return fmt.Sprintf(`[{"id":1,"url":%q}]`, url) }

const (
	fetchWord   = `{"type":"fetch","endpoint":{"url":"/search?q={{word}}"},"session_storage_key":"r"}`
	fetchLamp   = `{"type":"fetch","endpoint":{"url":"/search?q=lamp"},"session_storage_key":"r"}`
	typeLamp    = `{"type":"input_text","selector":"#q","text":"lamp"}`
	returnFound = `{"type":"return","session_storage_key":"r"}`
	order       = `{"type":"click","selector":"#order"}`
)

// teach does operations in a new lesson and keeps them. It returns the id of the lesson.
func (c *classroom) teach(t *testing.T, values map[string]json.RawMessage, operations ...string) string {
	t.Helper()
	id := c.start(t)
	c.add(t, id, values, operations...)
	return id
}

// add does operations in a lesson and keeps them.
func (c *classroom) add(t *testing.T, id string, values map[string]json.RawMessage, operations ...string) {
	t.Helper()
	ctx, l, release, err := c.acquire(t.Context(), author, id, "adding")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := l.setValues(values); err != nil {
		t.Fatal(err)
	}
	decoded, err := l.check(ctx, author, raw(operations...))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range decoded {
		k := &keptOperation{raw: o.Raw(), operation: o}
		if steps := l.replay(ctx, []*keptOperation{k}, nil); !steps[0].OK {
			t.Fatalf("%+v", steps[0].Error)
		}
		l.kept = append(l.kept, k)
	}
}

// acts marks an operation of a lesson as one that acts on the site.
func (c *classroom) acts(t *testing.T, id string, number int, request string) {
	t.Helper()
	_, l, release, err := c.acquire(t.Context(), author, id, "marking")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	l.kept[number-1].acting = []string{request}
}

func (c *classroom) stored(t *testing.T) []*routine.Routine {
	t.Helper()
	all, _, err := c.service.Routines(t.Context(), author, routine.RoutineFilter{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (c *classroom) executions(t *testing.T) []*routine.Execution {
	t.Helper()
	all, _, err := c.service.Executions(t.Context(), author, routine.ExecutionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSaveIsAProof(t *testing.T) {
	t.Parallel()
	c := newClassroom(t, searchPage(found))
	id := c.teach(t, map[string]json.RawMessage{"word": json.RawMessage(`"lamp"`)}, fetchWord, returnFound)
	dry, err := c.Save(t.Context(), author, id, SaveRequest{})
	if err != nil || dry.Saved != false || len(c.stored(t)) != 0 || len(c.executions(t)) != 0 {
		t.Fatalf("%+v, %v", dry, err)
	}
	if !strings.Contains(dry.Text(), "all 3 operations") || !strings.Contains(string(dry.Definition), `"observed_value":"lamp"`) {
		t.Errorf("the dry run says\n%s", dry.Text())
	}
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "search", Description: "Searches.",
		OtherValues: map[string]json.RawMessage{"word": json.RawMessage(`"chair"`)}})
	if err != nil || saved.Saved != true || !saved.Proof.Passed {
		t.Fatalf("%+v, %v", saved, err)
	}
	all := c.stored(t)
	if len(all) != 1 || all[0].Status != routine.StatusActive || !all[0].Published() || saved.Routine.ToolName != all[0].ToolName ||
		saved.Routine.Version != all[0].Version || len(all[0].Parameters) != 1 || all[0].Parameters[0].Name != "word" {
		t.Errorf("stored: %+v, told: %+v", all, saved.Routine)
	}
	ledger := c.executions(t)
	if len(ledger) != 2 || ledger[1].ID != saved.Proof.Execution {
		t.Fatalf("%d executions", len(ledger))
	}
	for _, e := range ledger {
		if e.Via != routine.ViaProof || e.RoutineID != saved.Routine.ID || e.Status != routine.ExecutionCompleted {
			t.Errorf("in the ledger: %+v", e)
		}
	}
	text := saved.Text()
	for _, part := range []string{"search is active at version 2", "Proof passed",
		`ok other_values: word "chair": items[1] of {id,url}, different`, "Next: The tool search"} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q:\n%s", part, text)
		}
	}
}

func TestSaveWarnsOfAParameterWithoutEffect(t *testing.T) {
	t.Parallel()
	c := newClassroom(t, searchPage(found))
	id := c.teach(t, map[string]json.RawMessage{"word": json.RawMessage(`"lamp"`)},
		`{"type":"input_text","selector":"#q","text":"{{word}}"}`, fetchLamp, returnFound)
	q := SaveRequest{Name: "search", Description: "Searches.", OtherValues: map[string]json.RawMessage{"word": json.RawMessage(`"chair"`)}}
	saved, err := c.Save(t.Context(), author, id, q)
	if err != nil || saved.Saved != true {
		t.Fatalf("%+v, %v", saved, err)
	}
	i := slices.IndexFunc(saved.Warnings, func(p routine.Problem) bool { return p.Code == "parameter_without_effect" })
	if i < 0 || saved.Warnings[i].Pointer != "/parameters/0" {
		t.Errorf("warnings: %v", saved.Warnings)
	}
	if len(saved.Proposals) != 1 || saved.Proposals[0].Name != "word" || !slices.Equal(saved.Proposals[0].In, []string{"/operations/2/endpoint/url"}) {
		t.Errorf("proposals: %+v", saved.Proposals)
	}
	q.Parameters = raw(`{"name":"word","from":"lamp","description":"What to look for."}`)
	saved, err = c.Save(t.Context(), author, id, q)
	if err != nil || len(saved.Replaced) != 1 || string(saved.Replaced[0].To) != `"/search?q={{word}}"` {
		t.Fatalf("%+v, %v", saved, err)
	}
	if slices.ContainsFunc(saved.Warnings, func(p routine.Problem) bool { return p.Code == "parameter_without_effect" }) {
		t.Errorf("still: %v", saved.Warnings)
	}
	if all := c.stored(t); len(all) != 1 || all[0].Parameters[0].Description != "What to look for." || len(saved.Patch) == 0 {
		t.Errorf("stored: %+v, patch %s", all, saved.Patch)
	}
}

func TestSaveAcceptsProposals(t *testing.T) {
	t.Parallel()
	c := newClassroom(t, searchPage(found))
	id := c.teach(t, nil, typeLamp, fetchLamp, returnFound)
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "search", Description: "Searches.",
		Parameters: raw(`{"name":"query","from":"lamp","validation":{"max_length":9}}`)})
	if err != nil || len(saved.Replaced) != 2 || len(saved.Proposals) != 0 {
		t.Fatalf("%+v, %v", saved, err)
	}
	p := c.stored(t)[0].Parameters[0]
	if p.Name != "query" || string(p.Observed) != `"lamp"` || *p.Validation.MaxLength != 9 {
		t.Errorf("%+v", p)
	}
	_, err = c.Save(t.Context(), author, id, SaveRequest{Name: "search", Parameters: raw(`{"name":"query","from":"chair"}`, `{"from":"lamp"}`, `7`)})
	wantError(t, err, routine.CodeInvalid, "3 problems")
	if ps := routine.AsError(err).Problems; len(ps) != 3 || ps[0].Hint != `they do with "lamp"` || ps[1].Pointer != "/parameters/1/name" {
		t.Errorf("%v", ps)
	}
}

func TestSaveDoesNotRepeatAnOrder(t *testing.T) {
	t.Parallel()
	var actions []string
	page := searchPage(found)
	page.Actions = &actions
	c := newClassroom(t, page)
	id := c.teach(t, nil, typeLamp, order)
	c.acts(t, id, 3, "POST /orders")
	_, err := c.Save(t.Context(), author, id, SaveRequest{Name: "buy", Description: "Buys."})
	wantError(t, err, routine.CodeConflict, "operation 3 does POST /orders again when proved: say prove all, check_last (which stops before operation 3) or no")
	if len(c.stored(t)) != 0 {
		t.Error("something was stored")
	}
	_, err = c.Save(t.Context(), author, id, SaveRequest{Name: "buy", Prove: "some"})
	wantError(t, err, routine.CodeInvalid, "all, check_last or no")
	actions = nil
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "buy", Description: "Buys.", Prove: ProveCheckLast})
	if err != nil || saved.Saved != true || saved.Routine.Status != routine.StatusActive {
		t.Fatalf("%+v, %v", saved, err)
	}
	if slices.ContainsFunc(actions, func(a string) bool { return strings.HasPrefix(a, "click") }) || len(actions) != 2 {
		t.Errorf("the proof did %q", actions)
	}
	if !strings.Contains(saved.Text(), "ok last_operation: operation 3 was not done: #order is there and could be used") {
		t.Error(saved.Text())
	}
	stored, err := c.service.Routine(t.Context(), author, saved.Routine.ID)
	if err != nil || len(stored.Operations) != 3 || !strings.Contains(string(stored.Operations[2].Raw()), `"x-acting":["POST /orders"]`) {
		t.Errorf("%+v, %v", stored, err)
	}
	actions = nil
	if saved, err = c.Save(t.Context(), author, id, SaveRequest{Name: "buy again", Description: "Buys.", Prove: ProveAll}); err != nil || saved.Saved != true {
		t.Fatalf("%+v, %v", saved, err)
	}
	if len(actions) != 3 || !strings.HasPrefix(actions[2], "click") {
		t.Errorf("the proof did %q", actions)
	}
	actions = nil
	if saved, err = c.Save(t.Context(), author, id, SaveRequest{Name: "not proved", Description: "Buys.", Prove: ProveNo}); err != nil || saved.Saved != "draft" {
		t.Fatalf("%+v, %v", saved, err)
	}
	if len(actions) != 0 || saved.Routine.Status != routine.StatusDraft || saved.Proof != nil {
		t.Errorf("it did %q and is %+v", actions, saved.Routine)
	}
}

func TestCheckOfAFetchIsAWarning(t *testing.T) {
	t.Parallel()
	c := newClassroom(t, searchPage(found))
	id := c.teach(t, nil, typeLamp, fetchLamp)
	c.acts(t, id, 3, "POST /search")
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "buy", Description: "Buys.", Prove: ProveCheckLast})
	if err != nil || saved.Saved != true {
		t.Fatalf("%+v, %v", saved, err)
	}
	i := slices.IndexFunc(saved.Proof.Checks, func(c judge.Check) bool { return c.Check == judge.CheckLast })
	if i < 0 || !saved.Proof.Checks[i].Warning || !strings.Contains(saved.Text(), "look last_operation: operation 3 (fetch") ||
		!strings.Contains(saved.Text(), "nothing of it was tried") {
		t.Error(saved.Text())
	}
}

func TestFailedProofLeavesADraft(t *testing.T) {
	t.Parallel()
	page := searchPage(found)
	c := newClassroom(t, page)
	id := c.teach(t, nil, typeLamp, order, fetchLamp, returnFound)
	c.browser.Page.Click = routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "nothing matches #order"))
	c.browser.Page.Evidence = routinetest.ShowEvidence(&routine.Evidence{Elements: []routine.Element{{Selector: "#buy", Role: "button", Text: "Buy"}}})
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "buy", Description: "Buys."})
	wantError(t, err, routine.CodeNotProved, "the draft is kept")
	if saved == nil || saved.Saved != "draft" || saved.Proof.Passed {
		t.Fatalf("%+v", saved)
	}
	if f := saved.Proof.Failure; f.Operation != 3 || f.Code != routine.CodeElementNotFound {
		t.Fatalf("%+v", saved)
	}
	all := c.stored(t)
	if len(all) != 1 || all[0].Status != routine.StatusDraft {
		t.Errorf("stored: %+v", all)
	}
	text := saved.Text()
	for _, part := range []string{"Saved as a draft: buy", "Proof FAILED", "Operation 3 of 5 (click #order) failed with element_not_found",
		`nearest: button "Buy" | #buy`,
		`"at":3`, `start_lesson {"routine":"` + all[0].ID} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q:\n%s", part, text)
		}
	}
	// The next save of the lesson mends that draft.
	c.browser.Page.Click = nil
	if saved, err = c.Save(t.Context(), author, id, SaveRequest{Name: "buy", Description: "Buys."}); err != nil || saved.Saved != true {
		t.Fatalf("%+v, %v", saved, err)
	}
	if now := c.stored(t); len(now) != 1 || now[0].ID != all[0].ID || now[0].Status != routine.StatusActive {
		t.Errorf("stored: %+v", now)
	}
}

func TestTargetOfTheLastOperationIsMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClassroom(t, searchPage(found))
		id := c.teach(t, nil, typeLamp, order)
		c.acts(t, id, 3, "POST /orders")
		c.browser.Page.Nearest = func(ctx context.Context, i routine.Inspection) ([]routine.Element, error) {
			return []routine.Element{{Selector: "#order", Matched: true, Problem: "is covered by div.overlay"}}, nil
		}
		saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "buy", Description: "Buys.", Prove: ProveCheckLast})
		wantError(t, err, routine.CodeNotProved, "#order is covered by div.overlay")
		if saved == nil || saved.Saved != "draft" {
			t.Errorf("%+v", saved)
		}
	})
}

func TestSaveOfAnotherResultFails(t *testing.T) {
	t.Parallel()
	c := newClassroom(t, searchPage(found))
	id := c.teach(t, map[string]json.RawMessage{"word": json.RawMessage(`"lamp"`)}, fetchWord, returnFound)
	c.browser.Page = searchPage(func(string) string { return `{"error":"log in"}` })
	_, err := c.Save(t.Context(), author, id, SaveRequest{Name: "search", Description: "Searches."})
	wantError(t, err, routine.CodeNotProved, "the result is {error}, in the lesson it was items[1] of {id,url}")
}

func TestSaveKeepsSecrets(t *testing.T) {
	t.Parallel()
	c := newClassroom(t, searchPage(found), func(config *Config) {
		config.Secrets = givenSecrets("PIN", "hush-hush-hush", "shop.test")
	})
	c.browser.Page.Describe = func(_ context.Context, selector string, _ routine.ElementUse) (routine.ElementDescription, error) {
		return routine.ElementDescription{Matches: 1, Selector: "#pin", Grade: "A", GivenGrade: "D", Alternatives: []string{"input[name=\"pin\"]"},
			FrameURL: "https://shop.test/", Target: routine.Target{Role: "textbox", Name: "PIN", Matches: 1},
			Field: &routine.Field{Type: "password", Label: "PIN", Secret: true}}, nil
	}
	id := c.teach(t, map[string]json.RawMessage{"pin": json.RawMessage(`{"secret":"PIN"}`)},
		`{"type":"input_text","selector":"form > input:nth-of-type(2)","text":"{{pin}}"}`)
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "log in", Description: "Logs in."})
	if err != nil || saved.Saved != true {
		t.Fatalf("%+v, %v", saved, err)
	}
	stored, err := c.service.Routine(t.Context(), author, saved.Routine.ID)
	if err != nil {
		t.Fatal(err)
	}
	text := routine.JSONText(stored) + routine.JSONText(saved) + saved.Text()
	for _, e := range c.executions(t) {
		full, err := c.service.Execution(t.Context(), author, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		text += routine.JSONText(full)
	}
	if strings.Contains(text, "hush") {
		t.Errorf("the secret is in %s", text)
	}
	if o := string(stored.Operations[1].Raw()); !strings.Contains(o,
		`"x-target":{"role":"textbox","name":"PIN"},"x-alternatives":["#pin","input[name=\"pin\"]"]`) {
		t.Errorf("the operation is %s", o)
	}
	if i := slices.IndexFunc(saved.Warnings, func(p routine.Problem) bool { return p.Code == "selector_by_place" }); i < 0 ||
		saved.Warnings[i].Pointer != "/operations/1/selector" || !strings.Contains(saved.Warnings[i].Hint, "#pin matches it, too") {
		t.Errorf("warnings: %v", saved.Warnings)
	}
}

func TestSaveOfAMendedRoutine(t *testing.T) {
	t.Parallel()
	c := newClassroom(t, searchPage(found))
	id := c.teach(t, map[string]json.RawMessage{"word": json.RawMessage(`"lamp"`)}, fetchWord, returnFound)
	first, err := c.Save(t.Context(), author, id, SaveRequest{Name: "search", Description: "Searches."})
	if err != nil {
		t.Fatal(err)
	}
	_, l, release, err := c.acquire(t.Context(), author, id, "mending")
	if err != nil {
		t.Fatal(err)
	}
	l.mendedRoutine, l.version, l.savedRoutine = first.Routine.ID, first.Routine.Version, ""
	pause := json.RawMessage(`{"type":"sleep","timeout_seconds":0}`)
	l.kept = slices.Insert(l.kept, 1, &keptOperation{raw: pause, operation: parsedOperation(pause)})
	release()
	if dry, err := c.Save(t.Context(), author, id, SaveRequest{}); err != nil || dry.Saved != false {
		t.Errorf("%+v, %v", dry, err)
	}
	stale := 1
	_, err = c.Save(t.Context(), author, id, SaveRequest{ExpectedVersion: &stale})
	wantError(t, err, routine.CodePreconditionFailed, `"expected_version":2`)
	c.browser.Page.Fetch = func(context.Context, routine.Fetch, int64) (routine.Response, error) {
		return routine.Response{}, routine.Errorf(routine.CodeNetworkError, "no network")
	}
	now := first.Routine.Version
	saved, err := c.Save(t.Context(), author, id, SaveRequest{ExpectedVersion: &now})
	wantError(t, err, routine.CodeNotProved, "the routine stays at version 2")
	if saved == nil || saved.Saved != false {
		t.Fatalf("%+v", saved)
	}
	c.browser.Page = searchPage(found)
	saved, err = c.Save(t.Context(), author, id, SaveRequest{ExpectedVersion: &now})
	if err != nil || saved.Saved != true || saved.Routine.Version != 3 || !strings.Contains(string(saved.Patch), `"path":"/operations/`) {
		t.Fatalf("%+v, %v", saved, err)
	}
	if all := c.stored(t); len(all) != 1 || all[0].Name != "search" || all[0].Description != "Searches." || len(all[0].Operations) != 4 {
		t.Errorf("stored: %+v", all)
	}
}
