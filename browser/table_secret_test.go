package browser

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// typedPassword is the secret of the rows of this file. HTML escapes some of its characters.
const typedPassword = `hunter2"&<secret>`

// shopTyping types a secret by rules into #p, for the host of the rows.
func shopTyping(change func(*routine.Typing)) routine.Typing {
	t := routine.Typing{Selector: "#p", Text: typedPassword, Release: &routine.Release{Secret: "shop", Texts: []routine.Hidden{typedPassword},
		Rules: &routine.SecretRules{Hosts: []string{"127.0.0.1"}, Field: routine.FieldPassword}}}
	if change != nil {
		change(&t)
	}
	t.Release.Texts = []routine.Hidden{routine.Hidden(t.Text)}
	return t
}

// typeSecret types a secret. Then it expects got to be the JSON of an expression's value,
// which it reads without the checks of operations.
func typeSecret(expression, got string, change func(*routine.Typing)) func(*attempt) error {
	return func(a *attempt) error {
		typing := shopTyping(change)
		found, err := a.p.Type(a.ctx, typing)
		if err != nil {
			return err
		}
		if !found.Secret {
			a.t.Error("the match is not secret")
		}
		a.wantPeeked(expression, got)
		_, err = a.p.Navigate(a.ctx, a.site+"after")
		return err
	}
}

// peek is the JSON of an expression's value, which is read like the page's own code reads it.
func (a *attempt) peek(expression string) string {
	a.t.Helper()
	v, err := cdp.Evaluate(a.ctx, a.p, proto.RuntimeEvaluate{Expression: "(async () => JSON.stringify(await " + expression + "))()",
		AwaitPromise: true, ReturnByValue: true})
	if err != nil {
		a.t.Fatal(err)
	}
	var text string
	if err := json.Unmarshal(v.Value, &text); err != nil {
		a.t.Fatal(err)
	}
	return text
}

func (a *attempt) wantPeeked(expression, is string) {
	a.t.Helper()
	if got := a.peek(expression); got != is {
		a.t.Errorf("%s is %s, want %s", expression, got, is)
	}
}

func TestSecretIsTyped(t *testing.T) {
	t.Parallel()
	const value = `document.querySelector('#p').value`
	whole := routine.JSONText(typedPassword)
	anyField := func(t *routine.Typing) { t.Release.Rules.Field = routine.FieldAny }
	username := func(t *routine.Typing) { t.Release.Username, t.Text = true, "ada.lovelace" }
	code := func(t *routine.Typing) { t.Release.Code, t.Text = true, "492817" }
	parameter := func(t *routine.Typing) { t.Release = &routine.Release{} }
	rows := []row{
		{name: "into a password field", html: `<input id=p type=password>`, do: typeSecret(value, whole, nil)},
		{name: "into a password field of a form of the site",
			html: `<form action="login"><input id=p type=password><button formaction="other">x</button></form>`, do: typeSecret(value, whole, nil)},
		{name: "into a form that a script of the page handles", html: `<form action="javascript:void 0"><input id=p type=password></form>`,
			do: typeSecret(value, whole, nil)},
		{name: "after what a field holds", html: `<input id=p value=ab>`, do: typeSecret(value, routine.JSONText("ab"+typedPassword), anyField)},
		{name: "in place of what a field holds", html: `<input id=p value=ab>`,
			do: typeSecret(value, whole, func(t *routine.Typing) { anyField(t); t.Clear = true })},
		{name: "into a text field", html: `<input id=p>`, do: typeSecret(value, whole, anyField)},
		{name: "into a textarea, with lines", html: `<textarea id=p></textarea>`,
			do: typeSecret(value, `"one1\ntwo2\n\nthree"`, func(t *routine.Typing) { anyField(t); t.Text = "one1\r\ntwo2\n\nthree" })},
		{name: "into an editable element", html: `<div id=p contenteditable>ab</div>`,
			do: typeSecret(`document.querySelector('#p').innerText`, routine.JSONText("ab"+typedPassword), anyField)},
		{name: "in place of the text of an editable element", html: `<div id=p contenteditable>ab</div>`,
			do: typeSecret(`document.querySelector('#p').innerText`, whole, func(t *routine.Typing) { anyField(t); t.Clear = true })},
		{name: "into a field of a frame of the site", html: `<iframe src=in></iframe>`, site: map[string]any{"in": `<input id=p type=password>`},
			do: typeSecret(`document.querySelector('iframe').contentDocument.querySelector('#p').value`, whole, nil)},
		{name: "into a field of a shadow root",
			html: `<x-y></x-y><script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML='<input id=p type=password>'</script>`,
			do:   typeSecret(`document.querySelector('x-y').shadowRoot.querySelector('#p').value`, whole, nil)},
		{name: "with one trusted input event and no key events", html: `<input id=p type=password><script>for (const n of ['keydown','keypress','input','keyup'])
			p.addEventListener(n, e => say(n + e.inputType + e.isTrusted))</script>`, do: typeSecret(`LOG`, `"inputinsertTexttrue;"`, nil)},
		{name: "with the change event when the field is left", html: `<input id=p type=password onchange="say('change')">`,
			do: typeSecret(`(document.querySelector('#p').blur(), LOG)`, `"change;"`, nil)},
		{name: "into a controlled field, as of React", html: `<input id=p type=password><script>{
			const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value'); let known = '', state = '';
			Object.defineProperty(p, 'value', { get() { return own.get.call(this) }, set(v) { known = v; own.set.call(this, v) } });
			p.addEventListener('input', () => { const v = own.get.call(p); if (v === known) return;
				known = state = v; setTimeout(() => { p.value = state }) }) }</script>`,
			do: typeSecret(`new Promise(done => setTimeout(() => done(document.querySelector('#p').value), 30))`, whole, nil)},
		{name: "into a field whose page inserts by itself", html: `<input id=p type=password><script>
			p.addEventListener('beforeinput', e => { e.preventDefault(); p.value += e.data })</script>`, do: typeSecret(value, whole, nil)},
		{name: "into a field whose page prevents the insertion", html: `<input id=p type=password oninput="say(this.value.length)"><script>
			p.addEventListener('beforeinput', e => e.preventDefault())</script>`,
			do: typeSecret(value+` + LOG`, routine.JSONText(typedPassword+"17;"), nil)},
		{name: "into a field for a number", html: `<input id=p type=number value=1>`,
			do: typeSecret(value, `"1492817"`, func(t *routine.Typing) { anyField(t); t.Text = "492817" })},
		{name: "into a field with a mask", html: `<input id=p oninput="const d = value.replace(/\D/g, ''); value = d.slice(0, 3) + ' ' + d.slice(3)">`,
			do: typeSecret(value, `"492 817"`, func(t *routine.Typing) { anyField(t); t.Text = "492817" })},
		{name: "as much as a field takes", html: `<input id=p type=password maxlength=7>`, do: typeSecret(value, `"hunter2"`, nil)},
		{name: "a username into a text field", html: `<input id=p>`, do: typeSecret(value, `"ada.lovelace"`, username)},
		{name: "a code into a field for codes", html: `<input id=p autocomplete=one-time-code>`, do: typeSecret(value, `"492817"`, code)},
		{name: "a code into a field for digits", html: `<input id=p inputmode=numeric>`, do: typeSecret(value, `"492817"`, code)},
		{name: "a code into a row of boxes", html: `<input><div class=r></div><script>for (let i = 0; i < 6; i++)
			document.querySelector('.r').innerHTML += '<input maxlength=1 inputmode=numeric id=' + (i ? 'p' + i : 'p') + '>';
			const all = [...document.querySelectorAll('[maxlength]')];
			all.forEach((b, i) => b.oninput = () => setTimeout(() => all[i + 1]?.focus()))</script>`,
			do: typeSecret(`[...document.querySelectorAll('input')].map(i => i.value).join('.')`, `".4.9.2.8.1.7"`, code)},
		{name: "a parameter's value anywhere", html: `<form action="http://evil.test/"><input id=p></form>`, do: typeSecret(value, whole, parameter)},
		{name: "a parameter's value that chooses from a list", html: `<select id=p><option>One<option>` + `hunter2"&amp;&lt;secret&gt;</select>`,
			do: typeSecret(value, whole, parameter)},
		{name: "a parameter's value into a field for dates", html: `<input id=p type=date>`,
			do: typeSecret(value, `"2031-02-03"`, func(t *routine.Typing) { parameter(t); t.Text = "2031-02-03" })},
	}
	for i := range rows {
		rows[i].url = "./after"
		if rows[i].site == nil {
			rows[i].site = map[string]any{}
		}
		rows[i].site["after"] = `<p>after</p>`
	}
	holds(t, rows)
}

// The value of a secret parameter is typed without key events, which a page could divert.
func TestSecretParameterIsTypedWithoutKeys(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": `<input id=p><input id=q><script>var LOG = ''
		for (const n of ['keydown', 'input']) addEventListener(n, e => LOG += n + ':' + e.target.value + ';')</script>`})
	d, _, err := definition.Parse([]byte(`{"name":"n","description":"d","parameters":[{"name":"password","x-secret":true},{"name":"open"}],"operations":[
		{"type":"navigate","url":"` + url + `/"},{"type":"input_text","selector":"#p","text":"{{password}}"},
		{"type":"input_text","selector":"#q","text":"{{open}}"},
		{"type":"js_evaluate","js":"(() => LOG)()","session_storage_key":"log"},{"type":"return","session_storage_key":"log"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: shared})
	e, err := s.RunOnce(testContext(t), routine.Principal{}, d, service.Call{Parameters: []byte(`{"password":"hunter2","open":"x"}`), Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(e.Result.Data), `"input:hunter2;keydown:;input:x;"`; got != want {
		t.Errorf("the page has seen %s, want %s", got, want)
	}
}
