package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

const form = `<h1>Order lookup</h1><form id=f onsubmit="return false"><label for=q>Name</label> <input id=q name=q autocomplete=off>
<button id=go type=button>Submit</button></form><p id=result></p><script>
document.getElementById('go').addEventListener('click', async () => {
  const p = document.getElementById('result');
  p.textContent = 'Hello, ' + document.getElementById('q').value + '!'; history.pushState(null, '', '/form?done=1');
});</script>`

// formTask is the five-step task: navigate, type, click, wait for the URL, read.
func formTask(t testing.TB, p *page, url string) {
	t.Helper()
	ctx := t.Context()
	if _, err := p.Navigate(ctx, url); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Type(ctx, routine.Typing{Selector: "#q", Text: "Ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Click(ctx, routine.Click{Selector: "#go", Button: "left", Count: 1, EnsureVisible: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.WaitURL(ctx, func(u string) (bool, error) { return strings.HasSuffix(u, "done=1"), nil }); err != nil {
		t.Fatal(err)
	}
	html, err := p.HTML(ctx, "#result")
	if err != nil || html != `<p id="result">Hello, Ada!</p>` {
		t.Fatal(html, err)
	}
}

func TestFormTask(t *testing.T) {
	formTask(t, openPage(t, ""), site(t, map[string]any{"/form": form})+"/form")
}

func click(selector string) routine.Click {
	return routine.Click{Selector: selector, Button: "left", Count: 1, EnsureVisible: true}
}

// Each row is a promise about what a click does. The page's #log collects what
// happened; a row without wantLog must fail with the code and words.
func TestClick(t *testing.T) {
	const log = `<pre id=log></pre><script>var say = s => document.getElementById('log').textContent += s + ';'</script>`
	const b = `<button id=b onclick="say('b')"`
	rows := []struct {
		name, html string
		click      routine.Click
		wantLog    string
		code       routine.Code
		words      string
	}{
		{name: "an ordinary button", html: b + `>x</button>`, wantLog: "b;"},
		{name: "below the fold is scrolled to", html: `<div style="height:5000px"></div>` + b + `>x</button>`, wantLog: "b;"},
		{name: "inside a scroller", html: `<div style="height:60px;overflow:auto"><div style="height:900px"></div>` + b + `>x</button></div>`, wantLog: "b;"},
		{name: "a double click fires dblclick", html: `<button id=b ondblclick="say('double')">x</button>`, click: routine.Click{Selector: "#b", Button: "left", Count: 2, EnsureVisible: true}, wantLog: "double;"},
		{name: "the right button fires contextmenu", html: `<button id=b oncontextmenu="say('menu')">x</button>`, click: routine.Click{Selector: "#b", Button: "right", Count: 1, EnsureVisible: true}, wantLog: "menu;"},
		{name: "the middle button fires auxclick", html: `<button id=b onauxclick="say('aux'+event.button)">x</button>`, click: routine.Click{Selector: "#b", Button: "middle", Count: 1, EnsureVisible: true}, wantLog: "aux1;"},
		{name: "in an open shadow root", html: `<x-y></x-y><script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML='<button id=b onclick="say(1)">x</button>'</script>`, wantLog: "1;"},
		{name: "in a frame of the same origin", html: `<div style="height:70px"></div><iframe srcdoc="<p>hi</p><button id=b onclick=&quot;parent.say('frame')&quot;>x</button>"></iframe>`, wantLog: "frame;"},
		{name: "a child of the button counts as the button", html: b + `><span style="display:block;padding:9px">x</span></button>`, wantLog: "b;"},
		{name: "a checkbox hidden under its label", html: `<label for=b>pick</label><input id=b type=checkbox style="opacity:0;position:absolute;left:-99px" onchange="say(this.checked)">`, wantLog: "true;"},
		{name: "comes late", html: `<script>setTimeout(()=>document.body.insertAdjacentHTML('beforeend', '<button id=b onclick="say(2)">x</button>'), 300)</script>`, wantLog: "2;"},
		{name: "enabled late", html: b + ` disabled>x</button><script>setTimeout(()=>document.getElementById('b').disabled=false, 300)</script>`, wantLog: "b;"},
		{name: "the cover goes away", html: b + `>x</button><div id=c style="position:fixed;inset:0"></div><script>setTimeout(()=>document.getElementById('c').remove(), 300)</script>`, wantLog: "b;"},
		{name: "moving until it rests", html: `<style>@keyframes k{from{margin-left:0}to{margin-left:300px}}#b{animation:k .4s linear}</style>` + b + `>x</button>`, wantLog: "b;"},
		{name: "the second of two when the first is a trap", html: `<button id=b style="opacity:0" onclick="say('trap')">x</button><br>` + b + `>x</button>`, wantLog: "b;"},

		{name: "nothing matches", html: ``, code: routine.CodeElementNotFound, words: `no element matches "#b"`},
		{name: "display none", html: b + ` style="display:none">x</button>`, code: routine.CodeElementNotActionable, words: "not displayed"},
		{name: "display none of an ancestor", html: `<div style="display:none">` + b + `>x</button></div>`, code: routine.CodeElementNotActionable, words: "not displayed"},
		{name: "visibility hidden", html: b + ` style="visibility:hidden">x</button>`, code: routine.CodeElementNotActionable, words: "visibility: hidden"},
		{name: "opacity 0", html: b + ` style="opacity:0">x</button>`, code: routine.CodeElementNotActionable, words: "transparent"},
		{name: "opacities that multiply to little", html: `<div style="opacity:.3">` + b + ` style="opacity:.3">x</button></div>`, code: routine.CodeElementNotActionable, words: "opacity 0.09"},
		{name: "one pixel", html: b + ` style="width:1px;height:1px;padding:0;border:0;overflow:hidden">x</button>`, code: routine.CodeElementNotActionable, words: "too small"},
		{name: "off screen", html: b + ` style="position:absolute;left:-9999px">x</button>`, code: routine.CodeElementNotActionable, words: "outside the visible page"},
		{name: "clipped away", html: b + ` style="clip-path:inset(100%)">x</button>`, code: routine.CodeElementNotActionable, words: "clipped"},
		{name: "in a box without size", html: `<div style="width:0;height:0;overflow:hidden">` + b + `>x</button></div>`, code: routine.CodeElementNotActionable, words: "#b"},
		{name: "disabled", html: b + ` disabled>x</button>`, code: routine.CodeElementNotActionable, words: "disabled"},
		{name: "in a disabled fieldset", html: `<fieldset disabled>` + b + `>x</button></fieldset>`, code: routine.CodeElementNotActionable, words: "disabled"},
		{name: "inert", html: `<div inert>` + b + `>x</button></div>`, code: routine.CodeElementNotActionable, words: "inert"},
		{name: "no pointer events", html: b + ` style="pointer-events:none">x</button>`, code: routine.CodeElementNotActionable, words: "pointer"},
		{name: "covered", html: b + `>x</button><div class="veil dark" style="position:fixed;inset:0"></div>`, code: routine.CodeElementNotActionable, words: "covered by div.veil.dark"},
		{name: "aria-hidden alone is no proof", html: `<div aria-hidden=true>` + b + `>x</button></div>`, wantLog: "b;"},
		{name: "outside the view without ensure_visible", html: `<div style="height:5000px"></div>` + b + `>x</button>`, click: routine.Click{Selector: "#b", Button: "left", Count: 1}, code: routine.CodeElementNotActionable, words: "outside the visible page"},
		{name: "no selector at all", html: ``, click: click("#b >"), code: routine.CodeElementNotFound, words: "is no CSS selector"},
	}
	pages := map[string]any{}
	for i, r := range rows {
		pages[fmt.Sprintf("/%d", i)] = log + r.html
	}
	url := site(t, pages)
	for i, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, fmt.Sprintf("%s/%d", url, i))
			c := r.click
			if c.Selector == "" {
				c = click("#b")
			}
			ctx := testContext(t)
			if r.code != "" {
				ctx = shortContext(t)
			}
			_, err := p.Click(ctx, c)
			if r.code != "" {
				wantCode(t, err, r.code, r.words)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := eval(t, p, `(() => document.getElementById('log').textContent)()`); got != fmt.Sprintf("%q", r.wantLog) {
				t.Fatalf("log %s, want %q", got, r.wantLog)
			}
		})
	}
}

func TestClickFollowsNavigation(t *testing.T) {
	url := site(t, map[string]any{
		"/":     `<a id=a href="/next">next</a> <a id=hash href="#x">x</a> <form action="/next"><button id=s>go</button></form> <button id=js onclick="location='/next'">j</button> <a id=none href="/204">n</a> <a id=dl href="/file">d</a>`,
		"/next": `<h1 id=h>there</h1>`,
		"/204":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"/file": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=x.bin")
			fmt.Fprint(w, "x")
		},
	})
	for selector, want := range map[string]string{"#a": "/next", "#hash": "/#x", "#s": "/next?", "#js": "/next", "#none": "/", "#dl": "/"} {
		t.Run(selector, func(t *testing.T) {
			p := openPage(t, url+"/")
			start := time.Now()
			if _, err := p.Click(testContext(t), click(selector)); err != nil {
				t.Fatal(err)
			}
			if got, _ := p.URL(t.Context()); got != url+want {
				t.Fatalf("at %s, want %s", got, url+want)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Fatalf("took %v: it waited for what does not come", took)
			}
		})
	}
}

func TestClickThatLeadsNowhereFails(t *testing.T) {
	url := site(t, map[string]any{"/": `<a id=denied href="http://192.0.2.1/">x</a> <a id=gone href="http://127.0.0.1:18998/">x</a>`})
	_, err := openPage(t, url+"/").Click(testContext(t), click("#denied"))
	wantCode(t, err, routine.CodeEgressDenied, "192.0.2.1")
	_, err = openPage(t, url+"/").Click(testContext(t), click("#gone"))
	wantCode(t, err, routine.CodeNavigationFailed, "127.0.0.1:18998")
}

func TestType(t *testing.T) {
	rows := []struct {
		name, html, text string
		clear            bool
		want             string
	}{
		{"an empty field", `<input id=i>`, "Ada", false, "Ada"},
		{"adds at the end", `<input id=i value=ab>`, "cd", false, "abcd"},
		{"clear replaces", `<input id=i value=ab>`, "cd", true, "cd"},
		{"clear with nothing empties", `<input id=i value=ab>`, "", true, ""},
		{"every printable character", `<input id=i>`, "aZ09 ~!@#$%^&*()_+{}|:\"<>?`-=[]\\;',./", false, "aZ09 ~!@#$%^&*()_+{}|:\"<>?`-=[]\\;',./"},
		{"other scripts and emoji", `<input id=i>`, "naïve 日本 🎉", false, "naïve 日本 🎉"},
		{"lines in a textarea", `<textarea id=i></textarea>`, "a\nb", false, "a\nb"},
		{"long text", `<textarea id=i></textarea>`, strings.Repeat("x", 5000), false, strings.Repeat("x", 5000)},
		{"a number", `<input id=i type=number>`, "12.5", false, "12.5"},
		{"an e-mail address", `<input id=i type=email value=a>`, "@b.c", false, "a@b.c"},
		{"a date", `<input id=i type=date>`, "2031-02-03", false, "2031-02-03"},
		{"a choice by its text", `<select id=i><option value=1>One<option value=2>Two</select>`, "Two", false, "2"},
		{"a choice by its value", `<select id=i><option value=1>One<option value=2>Two</select>`, "2", false, "2"},
	}
	pages := map[string]any{}
	for i, r := range rows {
		pages[fmt.Sprintf("/%d", i)] = r.html
	}
	url := site(t, pages)
	for i, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, fmt.Sprintf("%s/%d", url, i))
			found, err := p.Type(testContext(t), routine.Typing{Selector: "#i", Text: r.text, Clear: r.clear})
			if err != nil || found.Differs {
				t.Fatal(found, err)
			}
			var got string
			if err := json.Unmarshal([]byte(eval(t, p, `(() => document.getElementById('i').value)()`)), &got); err != nil || got != r.want {
				t.Fatalf("value %q, want %q (%v)", got, r.want, err)
			}
		})
	}
}

func TestTypeGivesTheEventsOfAPerson(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<input id=i><pre id=log></pre><script>
for (const n of ['keydown','keypress','beforeinput','input','keyup']) i.addEventListener(n, e => log.textContent += n + (e.key ?? e.data) + e.isTrusted + ';')</script>`})+"/")
	if _, err := p.Type(testContext(t), routine.Typing{Selector: "#i", Text: "A"}); err != nil {
		t.Fatal(err)
	}
	if got, want := eval(t, p, `(() => log.textContent)()`), `"keydownAtrue;keypressAtrue;beforeinputAtrue;inputAtrue;keyupAtrue;"`; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestTypeRefuses(t *testing.T) {
	for html, words := range map[string]string{
		`<input id=i type=checkbox>`: "takes no text", `<input id=i readonly>`: "read-only", `<p id=i>x</p>`: "no field for text",
		`<input id=i disabled>`: "disabled", `<input id=i style="position:absolute;left:-999px">`: "outside", `<select id=i><option>One</select>`: "no option",
		`<input id=i type=file>`: "type file", `<input id=i onfocus="o.focus()"><input id=o>`: "gives the focus away",
		`<select id=i><option disabled>x</select>`: "no option",
	} {
		t.Run(html, func(t *testing.T) {
			p := openPage(t, site(t, map[string]any{"/": html})+"/")
			_, err := p.Type(shortContext(t), routine.Typing{Selector: "#i", Text: "x"})
			wantCode(t, err, routine.CodeElementNotActionable, words)
		})
	}
}

func TestTypeSaysWhenThePageChangedTheText(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<input id=i maxlength=2>`})+"/")
	found, err := p.Type(testContext(t), routine.Typing{Selector: "#i", Text: "abc"})
	if err != nil || !found.Differs {
		t.Fatal(found, err)
	}
}

func TestPress(t *testing.T) {
	url := site(t, map[string]any{"/": `<form action="/done"><input id=i name=i value=abc autofocus></form><pre id=log></pre><script>
addEventListener('keydown', e => log.textContent += (e.ctrlKey ? '^' : '') + (e.shiftKey ? '+' : '') + e.key + ' ' + e.code + ';')</script>`, "/done": `ok`})
	for chord, want := range map[string]string{"a": "a KeyA;", "A": "+A KeyA;", "tab": "Tab Tab;", "ESCAPE": "Escape Escape;", "ArrowDown": "ArrowDown ArrowDown;",
		"Control+A": "^Control ControlLeft;^a KeyA;", "Shift+Tab": "+Shift ShiftLeft;+Tab Tab;", "Shift+a": "+Shift ShiftLeft;+A KeyA;", "Shift+1": "+Shift ShiftLeft;+! Digit1;", "+": "++ Equal;"} {
		t.Run(chord, func(t *testing.T) {
			p := openPage(t, url+"/")
			if err := p.Press(testContext(t), chord); err != nil {
				t.Fatal(err)
			}
			got := eval(t, p, `(() => log.textContent)()`)
			if got != `"`+want+`"` {
				t.Fatalf("got %s, want %s", got, want)
			}
		})
	}
	t.Run("Enter submits", func(t *testing.T) {
		p := openPage(t, url+"/")
		if _, err := p.Type(testContext(t), routine.Typing{Selector: "#i", Text: "d"}); err != nil {
			t.Fatal(err)
		}
		if err := p.Press(testContext(t), "Enter"); err != nil {
			t.Fatal(err)
		}
		if got, _ := p.URL(t.Context()); got != url+"/done?i=abcd" {
			t.Fatal(got)
		}
	})
	t.Run("Control+A and Backspace empty a field", func(t *testing.T) {
		p := openPage(t, url+"/")
		if _, err := p.Click(testContext(t), click("#i")); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"Control+a", "Backspace"} {
			if err := p.Press(testContext(t), k); err != nil {
				t.Fatal(err)
			}
		}
		if got := eval(t, p, `(() => i.value)()`); got != `""` {
			t.Fatal(got)
		}
	})
	t.Run("no key", func(t *testing.T) {
		wantCode(t, openPage(t, url+"/").Press(testContext(t), "Entr"), routine.CodeInvalid, "is no key")
	})
}

func TestScroll(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<div id=s style="height:100px;overflow:auto"><div style="height:900px"></div></div><div style="height:5000px;width:3000px"></div>`})+"/")
	n := func(f float64) *float64 { return &f }
	for _, r := range []struct {
		name   string
		scroll routine.Scroll
		want   string
	}{
		{"absolute", routine.Scroll{X: n(10), Y: n(700)}, "[10,700,0]"},
		{"relative", routine.Scroll{DeltaY: n(-100)}, "[10,600,0]"},
		{"smooth is awaited", routine.Scroll{Y: n(1500), Smooth: true}, "[10,1500,0]"},
		{"out of range is no error", routine.Scroll{Y: n(-50)}, "[10,0,0]"},
		{"an element", routine.Scroll{Selector: "#s", DeltaY: n(40)}, "[10,0,40]"},
	} {
		if err := p.Scroll(testContext(t), r.scroll); err != nil {
			t.Fatal(r.name, err)
		}
		if got := eval(t, p, `(() => [scrollX, scrollY, document.getElementById('s').scrollTop])()`); got != r.want {
			t.Fatalf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}
