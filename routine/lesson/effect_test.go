package lesson

import (
	"encoding/json"
	"testing"

	"rote/routine"
)

func TestForesee(t *testing.T) {
	tests := []struct {
		operation string
		want      effect
		request   string
	}{
		{`{"type":"navigate","url":"https://shop.example/"}`, reads, ""},
		{`{"type":"sleep","timeout_seconds":1}`, reads, ""},
		{`{"type":"input_text","selector":"#q","text":"x"}`, reads, ""},
		{`{"type":"wait_for_url","url_regex":"x"}`, reads, ""},
		{`{"type":"scroll"}`, reads, ""},
		{`{"type":"return_html"}`, reads, ""},
		{`{"type":"get_cookies","session_storage_key":"c"}`, reads, ""},
		{`{"type":"return","session_storage_key":"c"}`, reads, ""},
		{`{"type":"fetch","endpoint":{"url":"/api?x=1"}}`, reads, ""},
		{`{"type":"fetch","endpoint":{"url":"/api","method":"OPTIONS"}}`, reads, ""},
		{`{"type":"fetch","endpoint":{"url":"https://shop.example/cart?id={{id}}","method":"POST","body":{"a":1}}}`, acts, "POST /cart"},
		{`{"type":"download","endpoint":{"url":"/invoice","method":"POST"},"filename":"a"}`, acts, "POST /invoice"},
		{`{"type":"fetch","endpoint":{"url":"/graphql","method":"POST","body":{"query":"query Find { items { id } }"}}}`, reads, ""},
		{`{"type":"fetch","endpoint":{"url":"/graphql","method":"POST","body":{"query":"mutation M { pay }"}}}`, acts, "POST /graphql"},
		{`{"type":"click","selector":"#go"}`, dependsOnElement, ""},
		{`{"type":"click","selector":"#go","x-optional":true}`, dependsOnElement, ""},
		{`{"type":"click","selector":"#go","x-optional":true,"x-target":{"role":"button","name":"Go"}}`, dependsOnElement, ""},
		{`{"type":"click","selector":"#go","x-optional":true,"x-acting":["POST /orders"]}`, acts, "POST /orders"},
		{`{"type":"click","selector":"#go","x-optional":true,"x-acting":[]}`, reads, ""},
		{`{"type":"click","selector":"#go","x-acting":[]}`, reads, ""},
		{`{"type":"click","selector":"#go","x-target":{"role":"button","name":"Go"}}`, reads, ""},
		{`{"type":"click","selector":"#go","x-target":{"role":"button","name":"Buy"},"x-acting":["POST /orders"]}`, acts, "POST /orders"},
		{`{"type":"click","selector":"#go","x-acting":["POST /orders","POST /mail"]}`, acts, "POST /orders"},
		{`{"type":"click","selector":"#go","x-acting":"no list"}`, dependsOnElement, ""},
		{`{"type":"press","key":"Enter"}`, dependsOnElement, ""},
		{`{"type":"press","key":"Tab"}`, reads, ""},
		{`{"type":"press","key":"NumpadEnter"}`, dependsOnElement, ""},
		{`{"type":"press","key":"spacebar"}`, dependsOnElement, ""},
		{`{"type":"press","key":"{{key}}"}`, dependsOnElement, ""},
		{`{"type":"press","key":"Control+Enter"}`, dependsOnElement, ""},
		{`{"type":"press","key":"Space"}`, dependsOnElement, ""},
		{`{"type":"js_evaluate","js":"(() => [...document.querySelectorAll('li')].map(e => e.innerText))()"}`, reads, ""},
		{`{"type":"js_evaluate","js":"(() => document.forms[0].submit())()"}`, acts, "its script"},
		{`{"type":"js_evaluate","js":"(() => document.querySelector('#x')?.click())()"}`, acts, "its script"},
		{`{"type":"js_evaluate","js":"(() => document.querySelector('#x')['cl' + 'ick']())()"}`, acts, "its script"},
		{`{"type":"js_evaluate","js":"(() => { location.href = '/logout'; })()"}`, acts, "its script"},
		{`{"type":"js_evaluate","js":"(() => { app.save(); })()","x-acting":[]}`, reads, ""},
		{`{"type":"something_new"}`, acts, "something_new"},
	}
	for _, test := range tests {
		got, request := effectOf(parsedOperation(json.RawMessage(test.operation)))
		if got != test.want || request != test.request {
			t.Errorf("%s: %v %q, want %v %q", test.operation, got, request, test.want, test.request)
		}
	}
}

func TestElementMayAct(t *testing.T) {
	element := func(role, name, method string) routine.ElementDescription {
		return routine.ElementDescription{Matches: 1, Target: routine.Target{Role: role, Name: name}, FormMethod: method}
	}
	login := element("button", "Sign in", "post")
	login.InLoginForm = true
	deletion := element("button", "Delete my account", "post")
	deletion.InLoginForm = true
	tests := []struct {
		of   routine.ElementDescription
		want bool
	}{
		{routine.ElementDescription{}, false}, // nothing matches: the operation will fail
		{element("link", "Lamps", ""), false},
		{element("link", "Delete", ""), true},
		{element("checkbox", "Remember me", ""), false},
		{element("tab", "Details", ""), false},
		{element("button", "Go", "get"), false},
		{element("button", "OK", "dialog"), false},
		{element("button", "Go", "post"), true},
		{element("button", "Search", "post"), true},
		{element("button", "Save", ""), true},
		{element("button", "Search", ""), false},
		{element("button", "Accept all cookies", ""), false},
		{element("button", "Alle akzeptieren", ""), false},
		{element("button", "Search and delete", ""), true},
		{element("button", "", ""), true},
		{element("div", "Add to cart", ""), true},
		{element("textbox", "Name", "post"), false},
		{login, false},
		{deletion, true},
	}
	for _, test := range tests {
		if got := elementMayAct(test.of); got != test.want {
			t.Errorf("%+v: %v, want %v", test.of, got, test.want)
		}
	}
}
