package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
