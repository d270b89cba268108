package browser

import "testing"

// accepting does an operation during which dialogs are accepted.
func accepting(do func(a *attempt) error) func(a *attempt) error {
	return func(a *attempt) error {
		a.p.tabs.AcceptDialogs(true)
		defer a.p.tabs.AcceptDialogs(false)
		return do(a)
	}
}

// Dialogs that open while an operation accepts them are accepted, wherever they open,
// and no others.
func TestDialogsAreAccepted(t *testing.T) {
	t.Parallel()
	clicked := accepting(func(a *attempt) error { return a.onTab("#b") })
	asks := func(script string) string { return `<button id=b onclick="` + script + `">x</button>` }
	const accepted, dismissed = "which was accepted", "which was dismissed"
	const hear = `<script>onmessage = e => say(e.data)</script>`
	const inner = `<button id=b onclick="top.postMessage(confirm('sure?'), '*')">x</button>`
	holds(t, []row{
		{name: "confirm", html: asks(`say(confirm('sure?'))`), do: clicked, log: "true;", warns: `dialog (confirm), which was accepted: "sure?"`},
		{name: "alert", html: asks(`alert('hi'); say('on')`), do: clicked, log: "on;", warns: `dialog (alert), which was accepted: "hi"`},
		{name: "prompt with its default text", html: asks(`say(prompt('name?', 'Zoë &quot;😀&quot;'))`), do: clicked, log: `Zoë "😀";`, warns: accepted},
		{name: "prompt without a default text", html: asks(`say(prompt('name?') === '')`), do: clicked, log: "true;", warns: accepted},
		{name: "several in a row", html: asks(`say(confirm('1') && confirm('2') && prompt('3', 'p'))`), do: clicked, log: "p;", warns: accepted},
		{name: "in a timer of the click", html: asks(`setTimeout(() => say(confirm('sure?')))`), do: clicked, log: "true;", warns: accepted},
		{name: "in a frame", html: `<iframe src=in></iframe>` + hear, site: map[string]any{"in": inner}, do: clicked, log: "true;", warns: accepted},
		{name: "in a frame of another site", html: `<iframe src="CROSS/in"></iframe>` + hear, site: map[string]any{"in": inner}, do: clicked,
			log: "true;", warns: accepted},
		{name: "in the window that the click opens", html: opens(`window.open('next')`), site: map[string]any{"next": `<script>opener.say(confirm('in'))</script>`},
			do: accepting(func(a *attempt) error { return a.popup("#b") }), log: "true;", warns: accepted},
		{name: "by a key", html: asks(`say(confirm('sure?'))`) + `<script>b.focus()</script>`,
			do: accepting(func(a *attempt) error { return a.p.tabs.Press(a.ctx, "Enter") }), log: "true;", warns: accepted},
		{name: "before a form is sent", html: `<form action=next onsubmit="return confirm('send?')"><input type=hidden name=a value=1><button id=b>x</button></form>`,
			site: map[string]any{"next": `there`}, do: clicked, url: "next?a=1", warns: accepted},
		{name: "before the page is left", html: `<a id=b href=next>x</a><script>onbeforeunload = e => e.preventDefault()</script>`,
			site: map[string]any{"next": `there`}, do: clicked, url: "next"},
		{name: "not by the next operation", html: asks(`say(confirm('sure?'))`), do: func(a *attempt) error {
			if err := clicked(a); err != nil {
				return err
			}
			return a.onTab("#b")
		}, log: "true;false;", warns: dismissed},
		{name: "not by default, and a warning says how", html: asks(`say(confirm('sure?')); say(prompt('name?', 'x'))`),
			do: func(a *attempt) error { return a.onTab("#b") }, log: "false;null;",
			warns: `which was dismissed: "sure?"; "x-dialog": "accept" on the click or press that opens it accepts it`},
		{name: "an alert has no other answer", html: asks(`alert('hi'); say('on')`), do: func(a *attempt) error { return a.onTab("#b") }, log: "on;",
			warns: `dialog (alert), which was dismissed: "hi"`},
	})
}
