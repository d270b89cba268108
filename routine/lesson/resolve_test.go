package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/importer"
	"rote/routine/lesson/textform"
	"rote/routine/routinetest"
)

// importedRoutine is a routine with operations after a navigate.
func importedRoutine(parameters string, operations ...string) json.RawMessage {
	all := append([]string{`{"type":"navigate","url":"https://shop.test/"}`}, operations...)
	return json.RawMessage(fmt.Sprintf(`{"name":"Order","description":"Orders.","parameters":[%s],"operations":[%s]}`, parameters, strings.Join(all, ",")))
}

// byText are the operations of a click on a target.
func byText(t *testing.T, target textform.Target) string {
	t.Helper()
	form, err := textform.Operations(target, json.RawMessage(`{"type":"click"}`), "b1")
	if err != nil {
		t.Fatal(err)
	}
	return string(form[0]) + "," + string(form[1])
}

// pageWith describes each element as the one given.
func pageWith(d routine.ElementDescription) routinetest.Page {
	d.Matches = 1
	return routinetest.Page{Describe: func(context.Context, string, routine.ElementUse) (routine.ElementDescription, error) { return d, nil }}
}

// Resolve does no click that may buy, send, delete or cancel something.
func TestResolveStopsBeforeActing(t *testing.T) {
	named := func(name string) routine.ElementDescription {
		return routine.ElementDescription{Target: routine.Target{Role: "button", Name: name}}
	}
	inForm := func(name, method string, login bool) routine.ElementDescription {
		d := named(name)
		d.FormMethod, d.InLoginForm = method, login
		return d
	}
	const click = `{"type":"click","selector":"#go","x-target":{"role":"button","name":"Go"}}`
	for name, row := range map[string]struct {
		element   routine.ElementDescription
		operation string
		stops     bool
	}{
		"buy":                       {named("Buy now"), click, true},
		"German":                    {named("Jetzt kostenpflichtig bestellen"), click, true},
		"French":                    {named("Envoyer le message"), click, true},
		"Spanish":                   {named("Confirmar pedido"), click, true},
		"Italian":                   {named("Elimina"), click, true},
		"Polish":                    {named("Zapłać"), click, true},
		"Chinese":                   {named("提交订单"), click, true},
		"Japanese":                  {named("送信する"), click, true},
		"an item of a menu":         {routine.ElementDescription{Target: routine.Target{Role: "menuitem", Name: "Delete"}}, click, true},
		"a form that is sent":       {inForm("Go", "post", false), click, true},
		"a log-in":                  {inForm("Go", "post", true), click, false},
		"a search":                  {inForm("Go", "get", false), click, false},
		"a button":                  {named("Show more"), click, false},
		"a box":                     {routine.ElementDescription{Target: routine.Target{Role: "checkbox", Name: "Confirm"}}, click, false},
		"a request":                 {named(""), `{"type":"fetch","endpoint":{"url":"https://shop.test/orders","method":"POST"}}`, true},
		"a request that reads":      {named(""), `{"type":"fetch","endpoint":{"url":"https://shop.test/orders"}}`, false},
		"a script that sends":       {named(""), `{"type":"js_evaluate","js":"(()=>{document.forms[0].requestSubmit();})()"}`, true},
		"a script that ticks a box": {named(""), `{"type":"js_evaluate","js":"(()=>{const e=document.body;if(!e.checked)e.click();return;})()"}`, false},
		"a script of jQuery":        {named(""), `{"type":"js_evaluate","js":"(()=>{$(document.body).trigger(\"click\");})()"}`, true},
		"a function of the page":    {named(""), `{"type":"js_evaluate","js":"(()=>{placeOrder();})()"}`, true},
		"an accepted dialog":        {named("Show"), `{"type":"click","selector":"#go","x-dialog":"accept"}`, true},
		"the name in the recording": {named(""), `{"type":"click","selector":"#go","x-target":{"role":"button","name":"Delete"}}`, true},
		"OK in a form":              {inForm("OK", "post", false), click, true},
		"Enter of the keypad":       {named("Go"), `{"type":"press","key":"NumpadEnter"}`, true},
		"another name of Enter":     {named("Go"), `{"type":"press","key":"return"}`, true},
		"a space":                   {named("Go"), `{"type":"press","key":" "}`, true},
		"an arrow":                  {named("Go"), `{"type":"press","key":"Down"}`, false},
		"a line break":              {inForm("Name", "post", false), `{"type":"input_text","selector":"#go","text":"a\n"}`, true},
		"a text":                    {inForm("Name", "post", false), `{"type":"input_text","selector":"#go","text":"a"}`, false},
		"a script that checks":      {named(""), `{"type":"js_evaluate","js":"(()=>{if(!document.title)throw Error(\"expected Submit click\");})()"}`, false},
	} {
		c := newClassroom(t, pageWith(row.element))
		r, err := c.Resolve(t.Context(), author, ResolveRequest{Definition: importedRoutine("", row.operation)})
		if err != nil {
			t.Fatal(name, err)
		}
		if stopped := r.Stopped != ""; !r.OK || stopped != row.stops || len(r.Remaining) != map[bool]int{true: 1}[row.stops] {
			t.Errorf("%s: stopped %q, remaining %d: %s", name, r.Stopped, len(r.Remaining), routine.JSONText(r))
		}
	}
}

// The texts of an element become a selector, unless another element may be meant the next time.
func TestResolveReplacesTexts(t *testing.T) {
	more := textform.Target{Role: "button", Name: "More"}
	first := 0
	second := textform.Target{Role: "button", Name: "More", Nth: &first}
	good := routine.ElementDescription{Selector: "#more", Grade: "A", Target: routine.Target{Role: "button", Name: "More"}}
	weak := good
	weak.Grade = "C"
	for name, row := range map[string]struct {
		element  routine.ElementDescription
		target   textform.Target
		replaced bool
	}{
		"a lasting selector": {good, more, true},
		"a weak selector":    {weak, more, false},
		"the first of many":  {good, second, false},
		"within the first":   {good, textform.Target{Role: "button", Name: "More", Within: &textform.Target{CSS: "li", Nth: &first}}, false},
		"a value":            {good, textform.Target{Role: "button", Name: "{{item}}"}, false},
	} {
		c := newClassroom(t, pageWith(row.element))
		definition := importedRoutine(`{"name":"item","type":"string","required":false,"default":"More","description":"x"}`,
			byText(t, row.target), `{"type":"press","key":"End"}`)
		r, err := c.Resolve(t.Context(), author, ResolveRequest{Definition: definition})
		if err != nil || !r.OK || len(r.Remaining) != 0 {
			t.Fatalf("%s: %v %s", name, err, routine.JSONText(r))
		}
		want := "1 navigate, 2 js_evaluate, 3 click, 4 press"
		if row.replaced {
			want = "1 navigate, 2 click, 3 press"
		}
		if got := summaries(r.Operations); got != want || len(r.Replaced) != map[bool]int{true: 1}[row.replaced] {
			t.Errorf("%s: %s", name, got)
		}
		if row.replaced && (string(r.Operations[1].Definition) != `{"type":"click","selector":"#more"}` || r.Steps[1].Number != 2) {
			t.Errorf("%s: %s, step %+v", name, r.Operations[1].Definition, r.Steps[1])
		}
	}
}

// After an operation has failed, the author continues there and saves the routine with the name and the
// parameters of the import.
func TestResolveGoesOn(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	definition := importedRoutine(`{"name":"password","type":"string","required":true,"description":"Of the shop.","x-secret":true},
		{"name":"unused","type":"string","required":false,"default":"a","description":"x"}`,
		`{"type":"input_text","selector":"#p","text":"{{password}}"}`, `{"type":"press","key":"End"}`)
	r, err := c.Resolve(t.Context(), author, ResolveRequest{Definition: definition})
	if err != nil || r.OK || r.Failure == nil || r.Failure.Operation != 2 || !strings.Contains(r.Failure.Message, "{{password}} has no value") || r.Next != "" {
		t.Fatalf("%v %s", err, routine.JSONText(r))
	}
	tried := c.tried(t, r.ID, TryRequest{At: 2, Operations: raw(string(r.Remaining[0].Definition)),
		Values: map[string]json.RawMessage{"password": []byte(`"hunter2"`)}})
	want := fmt.Sprintf(`save_lesson {"lesson":"%s","name":"Order"}`, r.ID)
	if !tried.OK || summaries(tried.Operations) != "1 navigate, 2 input_text, 3 press" || tried.Next != want {
		t.Fatalf("next %q: %s", tried.Next, tried.Text())
	}
	undone, err := c.Undo(t.Context(), author, r.ID, UndoRequest{To: 3})
	if err != nil || len(undone.Operations) != 3 {
		t.Fatal(undone, err)
	}
	saved, err := c.Save(t.Context(), author, r.ID, SaveRequest{Name: "Order", Prove: ProveNo})
	if err != nil || saved.Saved != "draft" {
		t.Fatal(saved, err)
	}
	stored, err := c.service.Routine(t.Context(), author, saved.Routine.ID)
	if err != nil || stored.Description != "Orders." || len(stored.Parameters) != 2 || !stored.Parameters[0].Secret ||
		stored.Parameters[0].Description != "Of the shop." {
		t.Errorf("%+v %v", stored, err)
	}
}

// A text that the page asks for as a password is in no answer, and becomes a parameter.
func TestResolveHidesPasswords(t *testing.T) {
	c := newClassroom(t, pageWith(routine.ElementDescription{InLoginForm: true, Field: &routine.Field{Type: "password", Label: "Pass phrase", Secret: true}}))
	source := `{"title":"Log in","steps":[{"type":"navigate","url":"https://shop.test/"},{"type":"change","value":"hunter2-hunter2","selectors":[["#p"]]}]}`
	r, err := c.Import(t.Context(), author, ImportRequest{Request: importer.Request{Source: source}, Resolve: true})
	if err != nil || r.Resolved.OK || !strings.Contains(r.Resolved.Failure.Message, "{{pass_phrase}} has no value") {
		t.Fatal(err, routine.JSONText(r))
	}
	var made routine.Definition
	if err := json.Unmarshal(r.Routine, &made); err != nil || len(made.Parameters) != 1 || !made.Parameters[0].Secret {
		t.Errorf("%v %s", err, r.Routine)
	}
	if all := routine.JSONText(r) + r.Text(); strings.Contains(all, "hunter2") {
		t.Errorf("an answer has the password: %s", all)
	}
	again := ImportRequest{Request: importer.Request{Source: source}, Resolve: true, Values: map[string]json.RawMessage{"pass_phrase": []byte(`"other-secret"`)}}
	if r, err = c.Import(t.Context(), author, again); err != nil || !r.Resolved.OK || strings.Contains(routine.JSONText(r)+r.Text(), "other-secret") {
		t.Errorf("with a value: %v %s", err, routine.JSONText(r))
	}
}

// A call that is cancelled leaves no lesson, whose id nobody has got.
func TestResolveCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newClassroom(t, routinetest.Page{Click: func(context.Context, routine.Click) (routine.Match, error) {
		cancel()
		return routine.Match{}, routine.Errorf(routine.CodeCancelled, "the call was cancelled")
	}, Describe: pageWith(routine.ElementDescription{Target: routine.Target{Role: "button", Name: "Go"}}).Describe})
	r, err := c.Resolve(ctx, author, ResolveRequest{Definition: importedRoutine("", `{"type":"click","selector":"#go"}`)})
	if r != nil || err == nil {
		t.Errorf("a cancelled call has an answer: %s", routine.JSONText(r))
	}
	if list, err := c.List(author); err != nil || len(list) != 0 {
		t.Errorf("lessons are open: %+v, %v", list, err)
	}
}

// A request that cannot be used opens no lesson.
func TestResolveMistakes(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	for _, row := range []struct {
		q    ResolveRequest
		code routine.Code
		part string
	}{
		{ResolveRequest{Definition: json.RawMessage(`{"name":"x"}`)}, routine.CodeInvalid, "2 problems"},
		{ResolveRequest{Definition: importedRoutine(""), Values: map[string]json.RawMessage{"a b": []byte(`1`)}}, routine.CodeInvalid, "name"},
	} {
		_, err := c.Resolve(t.Context(), author, row.q)
		wantError(t, err, row.code, row.part)
	}
	if list, err := c.List(author); err != nil || len(list) != 0 {
		t.Errorf("lessons are open: %+v, %v", list, err)
	}
	reader := author
	reader.Scopes = routine.ScopeRoutinesRead
	_, err := c.Resolve(t.Context(), reader, ResolveRequest{Definition: importedRoutine("")})
	wantError(t, err, routine.CodeForbidden, "scope")
}
