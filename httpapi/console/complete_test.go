package console_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// probe is what completion offers where a text has "‸": the labels, and the texts that taking
// each of them makes. What it selects is in [ ].
type probe struct {
	Labels []string
	Texts  []string
}

// completeAt asks for all completions at the "‸" of a text.
func (p *tab) completeAt(marked string) probe {
	p.t.Helper()
	var found probe
	p.eval(`(async () => {
		const {completions} = await import("/assets/complete.js")
		globalThis.schema ??= await (await fetch("/schemas/routine.json")).json()
		const marked = `+quote(marked)+`, at = marked.indexOf("‸"), doc = marked.replace("‸", "")
		const start = () => new codemirror.EditorView({doc, root: editor.shadowRoot, selection: {anchor: at}, extensions: [codemirror.json()]})
		const ask = view => completions(schema)(new codemirror.CompletionContext(view.state, at, true))
		const options = ask(start())?.options ?? []
		return {Labels: options.map(o => o.label), Texts: options.map((_, i) => {
			const view = start(), result = ask(view), option = result.options[i]
			option.apply(view, option, result.from, at)
			return view.state.doc.toString()
		})}
	})()`, &found)
	return found
}

// routineWith is a valid definition with these operations and parameters.
func routineWith(operations, parameters string) string {
	return `{"name": "n", "description": "d", "operations": [` + operations + `], "parameters": [` + parameters + `]}`
}

func TestCompletion(t *testing.T) {
	site := newEditorSite(t, shopText)
	p := openTab(t, startTestBrowser(t), site.url)
	for _, probe := range []struct {
		at, label, want string // want is the text after label was taken; empty if it must not be offered
	}{
		// Keys: at the beginning, after a comma, before and after members, begun, with a value.
		{`{‸}`, `"name"`, `{"name": "search_shop_items"}`},
		{`{"name": "n", ‸}`, `"tags"`, `{"name": "n", "tags": ["shopping", "search"]}`},
		{`{"name": "n",‸}`, `"name"`, ``},
		{"{\"name\": \"n\"\n  ‸}", `"is_public"`, "{\"name\": \"n\",\n  \"is_public\": false}"},
		{`{‸ "name": "n"}`, `"incognito"`, `{"incognito": true, "name": "n"}`},
		{`{"name": "n", "in‸"}`, `"incognito"`, `{"name": "n", "incognito": true}`},
		{`{"in‸": false}`, `"incognito"`, `{"incognito": false}`},
		{`{"name": "n", ‸}`, `"created_at"`, ``},
		// Operations: a whole one, its type, and the keys of its type, wherever that is.
		{routineWith(`‸`, ``), `{"type": "press"}`, routineWith(`{"type": "press", "key": "Enter"}`, ``)},
		{routineWith(`{"type": "sleep", "timeout_seconds": 1}, ‸`, ``), `{"type": "return_html"}`,
			routineWith(`{"type": "sleep", "timeout_seconds": 1}, {"type": "return_html"}`, ``)},
		{routineWith(`{‸}`, ``), `"type": "click"`, routineWith(`{"type": "click", "selector": "button[type='submit']"}`, ``)},
		{routineWith(`{"type": ‸}`, ``), `"press"`, routineWith(`{"type": "press", "key": "Enter"}`, ``)},
		{routineWith(`{"type": "pr‸"}`, ``), `"press"`, routineWith(`{"type": "press", "key": "Enter"}`, ``)},
		{routineWith(`{"type": "", "selector": "#a"‸}`, ``), `"key"`, ``},
		{routineWith(`{"type": "c‸", "selector": "#a"}`, ``), `"press"`, ``},
		{routineWith(`{"type": "click", "selector": "#a",‸}`, ``), `"button"`, routineWith(`{"type": "click", "selector": "#a","button": "left"}`, ``)},
		{routineWith(`{‸, "type": "click"}`, ``), `"timeout_ms"`, routineWith(`{"timeout_ms": 20000, "type": "click"}`, ``)},
		{routineWith(`{"type": "click", ‸}`, ``), `"url"`, ``},
		// Values.
		{routineWith(`{"type": "click", "selector": "#a", "button": ‸}`, ``), `"middle"`,
			routineWith(`{"type": "click", "selector": "#a", "button": "middle"}`, ``)},
		{`{"incognito": f‸}`, `false`, `{"incognito": false}`},
		{routineWith(`{"type": "fetch", "endpoint": {"url": "/", ‸}}`, ``), `"method"`,
			routineWith(`{"type": "fetch", "endpoint": {"url": "/", "method": "POST"}}`, ``)},
		{routineWith(``, `{"name": "q", "validation": {‸}}`), `"min_length"`, routineWith(``, `{"name": "q", "validation": {"min_length": 3}}`)},
		// Placeholders.
		{routineWith(`{"type": "navigate", "url": "/?q={{‸"}`, `{"name": "query"}`), `query`,
			routineWith(`{"type": "navigate", "url": "/?q={{query}}"}`, `{"name": "query"}`)},
		{routineWith(`{"type": "navigate", "url": "/?q={{qu‸}}&b"}`, `{"name": "query"}`), `query`,
			routineWith(`{"type": "navigate", "url": "/?q={{query}}&b"}`, `{"name": "query"}`)},
		{routineWith(`{"type": "get_cookies", "session_storage_key": "c"}, {"type": "navigate", "url": "{{‸"}`, ``), `sessionStorage:c`,
			routineWith(`{"type": "get_cookies", "session_storage_key": "c"}, {"type": "navigate", "url": "{{sessionStorage:c}}"}`, ``)},
		{`{"name": "{{‸", "parameters": [{"name": "query"}]}`, `query`, ``},
	} {
		found := p.completeAt(probe.at)
		i := slices.Index(found.Labels, probe.label)
		switch {
		case i < 0 && probe.want != "":
			t.Errorf("%s\n%s is not offered, only %q", probe.at, probe.label, found.Labels)
		case i >= 0 && probe.want == "":
			t.Errorf("%s\n%s is offered", probe.at, probe.label)
		case i >= 0 && found.Texts[i] != probe.want:
			t.Errorf("%s\ntaking %s makes\n%s, want\n%s", probe.at, probe.label, found.Texts[i], probe.want)
		}
	}
}

// Whatever completion offers in a valid definition leaves it valid.
func TestCompletionsAreAccepted(t *testing.T) {
	site := newEditorSite(t, shopText)
	p := openTab(t, startTestBrowser(t), site.url)
	const stored = `{"type": "get_cookies", "session_storage_key": "items"}`
	operations := p.completeAt(routineWith(stored+", ‸", ""))
	if len(operations.Texts) != 13 {
		t.Fatalf("%d kinds of operations are offered", len(operations.Texts))
	}
	texts := []string{
		strings.Replace(routineWith(stored, ""), "{", "{‸", 1), strings.Replace(routineWith(stored, ""), `"d",`, `"d",‸`, 1),
		routineWith(stored, `‸`), routineWith(stored, `{"name": "q", ‸}`),
		routineWith(stored+`, {"type": "fetch", "endpoint": {"url": "/", ‸}}`, ""),
		routineWith(stored+`, {"type": "fetch", "endpoint": {"url": "/", "method": "POST", ‸}}`, ""),
		routineWith(stored+`, {"type": "fetch", "endpoint": {"url": "/", "credentials": ‸}}`, ""),
		routineWith(stored+`, {"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": ‸}}`, ""),
		routineWith(stored+`, {"type": "fetch", "endpoint": {"url": "/"}, "data_sanitizer": {‸}}`, ""),
		routineWith(stored+`, {"type": "fetch", "endpoint": {"url": "/"}, "data_sanitizer": [{"type": ‸}]}`, ""),
		routineWith(stored+`, {"type": "return_html", "scope": ‸}`, ""),
		strings.Replace(routineWith(stored, ""), `"d",`, `"d", "x-block": [‸],`, 1),
		strings.Replace(routineWith(stored, ""), `"d",`, `"d", "x-block": ["image", ‸],`, 1),
	}
	for _, kind := range []string{"string", "number", "date", "integer", "email", "url"} {
		parameter := fmt.Sprintf(`{"name": "q", "type": %q, ‸}`, kind)
		texts = append(texts, routineWith(stored, parameter), routineWith(stored, strings.Replace(parameter, "‸", `"validation": {‸}`, 1)))
	}
	texts = append(texts, routineWith(stored, `{"name": "q", "type": ‸}`), routineWith(stored, `{"name": "q", "x-secret": true, ‸}`),
		routineWith(stored, `{"name": "q", "type": "enum", "enum_values": ["a"], ‸}`),
		routineWith(stored, `{"name": "q", "type": "boolean", ‸}`), routineWith(stored, `{"name": "q", "type": "datetime", ‸}`))
	for _, text := range operations.Texts {
		end := strings.LastIndex(text, "}], ")
		texts = append(texts, text[:end]+" ‸"+text[end:], strings.Replace(text, `, {"type"`, `, {‸ "type"`, 1))
	}
	tried := 0
	for _, at := range texts {
		found := p.completeAt(at)
		if len(found.Texts) == 0 {
			t.Errorf("nothing is offered in %s", at)
		}
		for i, text := range found.Texts {
			tried++
			for _, problem := range checkedProblems([]byte(text)) {
				if problem.Severity == "error" {
					t.Errorf("in %s\n%s makes\n%s\n%s", at, found.Labels[i], text, problem)
				}
			}
		}
	}
	t.Logf("%d completions were tried", tried)
}

// In the editor, typing opens the list of completions, and Enter takes one.
func TestCompletionByKeyboard(t *testing.T) {
	site := newEditorSite(t, shopText)
	p := openTab(t, startTestBrowser(t), site.url)
	p.put(routineWith(`‸`, ``))
	p.typeText(`{"`)
	option := `[...editor.shadowRoot.querySelectorAll("[role=option]")]`
	p.sees(option + `.some(o => o.textContent.includes("js_evaluate"))`)
	p.typeText("type pre")
	p.sees(option + `.length > 0 && ` + option + `[0].textContent.includes("press")`)
	p.press("Enter", 0)
	p.sees(`editor.value === ` + quote(routineWith(`{"type": "press", "key": "Enter"}`, ``)))
	p.typeText("Tab")
	p.sees(`editor.value === ` + quote(routineWith(`{"type": "press", "key": "Tab"}`, ``)))
}
