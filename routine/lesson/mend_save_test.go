package lesson

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// changingShop is a page that can be redesigned while a routine for it is stored: "#open" is
// then "#show".
func changingShop() (page routinetest.Page, redesign func()) {
	page = redesigned()
	click, describe, changed := page.Click, page.Describe, false
	page.Click = func(ctx context.Context, k routine.Click) (routine.Match, error) {
		if !changed && k.Selector == "#open" {
			return routine.Match{Matches: 1}, nil
		}
		return click(ctx, k)
	}
	page.Describe = func(ctx context.Context, selector string, use routine.ElementUse) (routine.ElementDescription, error) {
		if !changed && selector == "#open" {
			return routine.ElementDescription{Matches: 1, Selector: selector, Target: routine.Target{Role: "button", Name: "Open"}}, nil
		}
		return describe(ctx, selector, use)
	}
	return page, func() { changed = true }
}

// Three calls lead from a failed execution to the next version; the old one stays.
func TestMendInThreeCalls(t *testing.T) {
	page, redesign := changingShop()
	c := newClassroom(t, page)
	r, _, err := c.service.CreateRoutine(t.Context(), author, []byte(lampRoutine), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	call := service.Call{Parameters: json.RawMessage(`{"word":"lamp"}`), Via: routine.ViaREST}
	if _, err := c.service.Execute(t.Context(), author, r.ID, call); err != nil {
		t.Fatal(err)
	}
	redesign()
	e, err := c.service.Execute(t.Context(), author, r.ID, call)
	if err == nil {
		t.Fatal("the redesign broke nothing")
	}
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Try(t.Context(), author, started.ID, TryRequest{At: 4, Operations: []json.RawMessage{started.Candidates[0].Operation}}); err != nil {
		t.Fatal(err)
	}
	saved, err := c.Save(t.Context(), author, started.ID, SaveRequest{ExpectedVersion: new(1), SameResult: true})
	if err != nil || saved.Saved != true || saved.Routine.Version != 2 || saved.Routine.ID != r.ID {
		t.Fatalf("%+v, %v", saved, err)
	}
	if patch := string(saved.Patch); !strings.Contains(patch, `"/operations/3/selector","value":"#show"`) {
		t.Error(patch)
	}
	if !strings.Contains(saved.Text(), "ok former_result: of the same form") {
		t.Error(saved.Text())
	}
	if old, err := c.service.Version(t.Context(), author, r.ID, 1); err != nil || !strings.Contains(routine.JSONText(old.Definition), `"#open"`) {
		t.Errorf("the old version: %+v, %v", old, err)
	}
	if now, err := c.service.Execute(t.Context(), author, r.ID, call); err != nil || now.RoutineVersion != 2 {
		t.Errorf("%+v, %v", now, err)
	}
}

// A result of another form than before is said, and with SameResult nothing is saved.
func TestMendComparesWithTheFormerResult(t *testing.T) {
	page, redesign := changingShop()
	found := `[{"name":"lamp"}]`
	page.Evaluate = func(context.Context, routine.Script) (routine.Evaluation, error) {
		return routine.Evaluation{JSON: json.RawMessage(found)}, nil
	}
	text := strings.Replace(lampRoutine, `{"type":"return_html"}`, `{"type":"js_evaluate","js":"(() => document.title)()","session_storage_key":"k"},
		{"type":"return","session_storage_key":"k"}`, 1)
	c := newClassroom(t, page)
	r, _, err := c.service.CreateRoutine(t.Context(), author, []byte(text), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	call := service.Call{Parameters: json.RawMessage(`{"word":"lamp"}`), Via: routine.ViaREST}
	if _, err := c.service.Execute(t.Context(), author, r.ID, call); err != nil {
		t.Fatal(err)
	}
	redesign()
	found = `{"error":"no such page"}`
	e, err := c.service.Execute(t.Context(), author, r.ID, call)
	if err == nil {
		t.Fatal("the redesign broke nothing")
	}
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Try(t.Context(), author, started.ID, TryRequest{At: 4, Operations: []json.RawMessage{started.Candidates[0].Operation}}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Save(t.Context(), author, started.ID, SaveRequest{ExpectedVersion: new(1), SameResult: true})
	wantError(t, err, routine.CodeNotProved, "the result is {error}; that of the last completed run was items[1] of {name}")
	saved, err := c.Save(t.Context(), author, started.ID, SaveRequest{ExpectedVersion: new(1)})
	if err != nil || saved.Saved != true || !strings.Contains(saved.Text(), "look former_result: the result is {error}") {
		t.Errorf("%+v, %v", saved, err)
	}
}

// A saved operation tells whether it acted on the site, so that mending can ask before it
// does it again.
func TestSaveKeepsWhatActed(t *testing.T) {
	c := newClassroom(t, redesigned())
	id := c.teach(t, nil, `{"type":"click","selector":"#lamps"}`, `{"type":"click","selector":"#order"}`)
	c.acts(t, id, 3, "POST /orders")
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "order", Description: "Orders.", Prove: ProveNo})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.service.Routine(t.Context(), author, saved.Routine.ID)
	if err != nil {
		t.Fatal(err)
	}
	if f, _ := effectOf(r.Operations[1]); f != reads {
		t.Errorf("%s: %v", r.Operations[1].Raw(), f)
	}
	if f, request := effectOf(r.Operations[2]); f != acts || request != "POST /orders" {
		t.Errorf("%s: %v %s", r.Operations[2].Raw(), f, request)
	}
}
