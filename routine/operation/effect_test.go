package operation_test

import (
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/operation"
)

func TestEffectOf(t *testing.T) {
	t.Parallel()
	script := func(js string) string {
		return `{"type":"js_evaluate","js":` + routine.JSONText("(() => { "+js+" })()") + `}`
	}
	reading := map[string]string{
		"navigate":            `{"type":"navigate","url":"https://{{host}}/"}`,
		"fetch":               `{"type":"fetch","endpoint":{"url":"/"}}`,
		"a list":              script(`return [...document.querySelectorAll('li')].map(e => ({name: e.querySelector('a')?.innerText.trim() ?? null, url: e.href}))`),
		"a typed value":       script(`const n = {{n}}; return [...document.querySelectorAll("{{what}}")].slice(0, {{n}}).filter(e => e.title.includes({{what}}))`),
		"a value in a text":   script("return document.querySelector('#a-{{id}}').textContent + `x {{id}} ${{{id}}} y`"),
		"a value as a key":    script(`return window.state[{{key}}]`),
		"an expression":       script(`return /a{{x}}b/.test(document.title) // {{x}}` + "\n"),
		"what the script has": script(`const a = {}; a.x = {{x}}; return a`),
		"its own lists":       script(`const a = []; for (const e of document.links) a.push(e.href); return a.reverse().sort()`),
		"items of a look": `{"type":"js_evaluate","js":` + routine.JSONText(
			`(async () => { const read = () => [...document.querySelectorAll("li.product")].map(e => ({`+
				`name: e.querySelector("a")?.innerText.trim() ?? null, url: e.querySelector("a")?.href ?? null, size: e.querySelector(".size")?.innerText.trim() ?? null, `+
				`image: e.querySelector("img")?.src ?? null, value: e.innerText.trim()})); for (let i = 0; i < 60; i++) { try { if (read().length) break; } catch {} `+
				`await new Promise(done => setTimeout(done, 50)); } return read(); })()`) + `}`,
		"a table of a look": `{"type":"js_evaluate","js":` + routine.JSONText(`(() => [...document.querySelector("x-a").shadowRoot.querySelector("table").rows]`+
			`.filter(e => e.querySelector("td")).map(e => ({length: e.cells[0]?.innerText.trim() ?? null, next: e.cells[1]?.innerText.trim() ?? null})))()`) + `}`,
		"a token of a form": script(`return document.querySelector("input[name=\"_csrf\"]").value`),
		"data of the page":  script(`return window.__INITIAL_STATE__.items.map(i => ({id: i.id, name: i.name.trim()}))`),
		"the older quotes":  script(`return ""{{x}}"" + document.title`),
	}
	for name, o := range reading {
		if got := operation.EffectOf(decoded(t, o)); got != operation.EffectReads {
			t.Errorf("%s: the effect is %q, want %q", name, got, operation.EffectReads)
		}
	}
	long := script(`return document.title; /* ` + strings.Repeat("x", 64<<10) + ` */`)
	changing := map[string]string{
		"click":                            `{"type":"click","selector":"#a"}`,
		"POST":                             `{"type":"fetch","endpoint":{"url":"/","method":"POST"}}`,
		"a type of a later version":        `{"type":"teleport"}`,
		"a click":                          script(`document.querySelector('button').click()`),
		"a function of the page":           script(`return app.search({{x}})`),
		"a list of the page":               script(`cart.push({{x}})`),
		"a list of the page, borrowed":     script(`[].push.call(cart, {{x}})`),
		"a list of the page, by a name":    script(`const c = window.cart; c['pu' + 'sh']({{x}})`),
		"a step of the page":               script(`wizard.next()`),
		"a list of the page, in order":     script(`return cart.sort()`),
		"a change of the page":             script(`document.title = {{x}}`),
		"a function chosen by the caller":  script(`return window[{{name}}]()`),
		"a method chosen by the caller":    script(`return document.body["{{name}}"]()`),
		"a method with a prefix":           script(`return document.body['{{name}}Attribute']('a', 'b')`),
		"a method in a template":           script("return document.body[`{{name}}`]()"),
		"a name with a part of the caller": script(`return document.body.get{{name}}('a')`),
		"a stored key of the caller":       script(`const a = {}; a[{{name}}] = app.f; return a`),
		"a key of the caller":              script(`return { {{name}}: app.f }`),
		"a page function that is a value":  script(`const o = {}; o.{{name}} = app.f; return o`),
		"a timer with a text":              script(`setTimeout({{code}}, 0)`),
		"flags of the caller":              script(`return /a/{{flags}}.test('a')`),
		"too long to examine":              long,
	}
	for name, o := range changing {
		if got := operation.EffectOf(decoded(t, o)); got != operation.EffectChanges {
			t.Errorf("%s: the effect is %q, want %q", name, got, operation.EffectChanges)
		}
	}
	list := []routine.Operation{decoded(t, reading["navigate"]), decoded(t, reading["a list"])}
	if !operation.ReadOnly(list) {
		t.Error("a routine that reads a list is not read-only")
	}
	if operation.ReadOnly(append(list, decoded(t, `{"type":"input_text","selector":"#a","text":"x"}`))) {
		t.Error("a routine that types is read-only")
	}
}

// decoded returns the operation with a JSON text.
func decoded(t *testing.T, text string) routine.Operation {
	t.Helper()
	var o routine.Operation
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return o
}
