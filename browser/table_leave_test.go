package browser

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// Rows in which the page is left while an operation is still at work on it: by
// the handler of an event that comes before the operation's last one.
func TestPagesThatLeaveDuringAnOperation(t *testing.T) {
	t.Parallel()
	next := map[string]any{"next": `<h1 id=h>there</h1><script>onload = () => say('loaded')</script>`}
	typed := func(selector, text string) func(*attempt) error {
		return func(a *attempt) error { return a.typed(selector, text) }
	}
	var rows []row
	for _, event := range []string{"mouseover", "mousemove", "pointerdown", "mousedown", "pointerup", "mouseup"} {
		rows = append(rows, row{name: "a click whose " + event + " leaves the page", html: `<button id=b on` + event + `="location = 'next'">x</button>`,
			site: next, url: "next", log: "loaded;"})
	}
	for _, event := range []string{"focus", "mousedown"} {
		rows = append(rows, row{name: "a double click whose " + event + " leaves the page",
			html: `<button id=b on` + event + `="location = 'next'">x</button>`, site: next, url: "next", log: "loaded;",
			do: func(a *attempt) error {
				_, err := a.p.Click(a.ctx, routine.Click{Selector: "#b", Button: "left", Count: 2, EnsureVisible: true})
				return err
			}})
	}
	for _, way := range []string{"location.reload()", "location.replace('next')", "history.pushState(0, '', 'p'); location = 'next'",
		"document.querySelector('form').submit()"} {
		rows = append(rows, row{name: "a press that calls " + way,
			html: `<form action=next></form><button id=b onmousedown="if (!/again/.test(window.name)) { window.name = 'again'; ` + way + ` }">x</button>`,
			site: next, then: `1`, is: `1`})
	}
	rows = append(rows,
		row{name: "blur of a field", html: `<input id=i onblur="location = 'next'"><button id=b>x</button>`, site: next, url: "next", log: "loaded;",
			do: func(a *attempt) error {
				if err := a.typed("#i", "x"); err != nil {
					return err
				}
				return a.click("#b")
			}},
		row{name: "change of a field", html: `<input id=i onchange="location = 'next'"><button id=b>x</button>`, site: next, url: "next", log: "loaded;",
			do: func(a *attempt) error {
				if err := a.typed("#i", "x"); err != nil {
					return err
				}
				return a.click("#b")
			}},
		row{name: "input_text whose focus leaves the page", html: `<input id=i onfocus="location = 'next'">`, site: next, do: typed("#i", "abc"), url: "next",
			log: "loaded;"},
		row{name: "input_text whose keydown leaves the page", html: `<input id=i onkeydown="location = 'next'">`, site: next, do: typed("#i", "abc"),
			url: "next", log: "loaded;"},
		row{name: "input_text whose input leaves the page", html: `<input id=i oninput="location = 'next'">`, site: next, do: typed("#i", "abc"), url: "next",
			log: "loaded;"},
		row{name: "input_text of a date that leaves the page", html: `<input id=i type=date onchange="location = 'next'">`, site: next, do: typed("#i",
			"2031-02-03"), url: "next", log: "loaded;"},
		row{name: "input_text of a choice that leaves the page", html: `<select id=i onchange="location = 'next'"><option>a<option>b</select>`, site: next,
			do: typed("#i", "b"), url: "next", log: "loaded;"},
		row{name: "a key whose keydown leaves the page", html: `<script>onkeydown = () => location = 'next'</script>`, site: next,
			do: func(a *attempt) error { return a.press("a") }, url: "next", log: "loaded;"},
		row{name: "a page that reloads while the mouse is over it",
			html: `<button id=b onmouseover="if (!/again/.test(window.name)) { window.name = 'again'; location.reload() }" onclick="say('b')">x</button>`,
			log:  "b;"},
	)
	holds(t, rows)
}

// delayed serves a page after a while, so that what is done meanwhile is done on
// the page before it.
func delayed(page string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-r.Context().Done():
		}
		status(200, preamble+page+`<script>onload = () => say('loaded')</script>`)(w, r)
	}
}

// Rows in which one operation sends the page to several documents. It is followed
// to the last, and the next operation meets that one, loaded.
func TestSeveralNavigationsAreFollowedToTheLast(t *testing.T) {
	t.Parallel()
	site := func(more map[string]any) map[string]any {
		all := map[string]any{"one": delayed("one"), "two": delayed("two"), "next": delayed("there")}
		maps.Copy(all, more)
		return all
	}
	enter := func(a *attempt) error {
		if err := a.typed("#i", "x"); err != nil {
			return err
		}
		return a.press("Enter")
	}
	var rows []row
	for _, r := range []struct{ name, html, url string }{
		{"a link whose handler goes to the same page", `<a id=b href=next onclick="location.href = 'next'">x</a>`, "next"},
		{"a link whose handler goes to another page", `<a id=b href=next onclick="location.href = 'one'">x</a>`, "next"},
		{"a link whose handler goes to another site", `<a id=b href=next onclick="location.href = 'CROSS/one'">x</a>`, "next"},
		{"a button that sends its form, which it also submits",
			`<form action=next><input name=a value=1><button id=b onclick="this.form.submit()">x</button></form>`, "next?a=1"},
		{"a form whose handler goes to another page", `<form action=next onsubmit="location = 'one'"><button id=b>x</button></form>`, "next?"},
		{"mousedown and click that go to two pages", `<button id=b onmousedown="location = 'one'" onclick="location = 'next'">x</button>`, "next"},
		{"mousedown and a link", `<a id=b href=next onmousedown="location = 'one'">x</a>`, "next"},
		{"a handler that goes to three pages", `<button id=b onclick="location = 'one'; location = 'two'; location.replace('next')">x</button>`, "next"},
		{"a second navigation by a timer", `<button id=b onclick="location = 'one'; setTimeout(() => location = 'next')">x</button>`, "next"},
		{"a second navigation by a later timer", `<button id=b onclick="location = 'one'; setTimeout(() => location = 'next', 40)">x</button>`, "next"},
		{"a reload and then another page", `<button id=b onclick="location.reload(); location = 'next'">x</button>`, "next"},
		{"another page, whose fragment is then set here", `<button id=b onclick="location = 'next'; location.hash = 'h'">x</button>`, "next"},
		{"a timer that is due at once", `<button id=b onclick="setTimeout(() => location = 'next')">x</button>`, "next"},
		{"a page that is left when it is loaded", `<a id=b href=load>x</a>`, "next"},
		{"a page that sends its form when it is loaded", `<a id=b href=send>x</a>`, "next"},
		{"a page that is left by a timer when it is loaded", `<a id=b href=timer>x</a>`, "next"},
		{"a page with a refresh", `<a id=b href=refresh>x</a>`, "next"},
		{"a page with a refresh in its head", `<a id=b href=header>x</a>`, "next"},
	} {
		rows = append(rows, row{name: r.name, html: r.html, url: r.url, log: "loaded;", site: site(map[string]any{
			"load":    `<body onload="location = 'next'">`,
			"send":    `<body onload="document.forms[0].submit()"><form method=post action=next>`,
			"timer":   `<body onload="setTimeout(() => location = 'next')">`,
			"refresh": `<meta http-equiv=refresh content="0;url=next">`,
			"header": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Refresh", "0;url=next")
				status(200, "x")(w, r)
			},
		})})
	}
	rows = append(rows,
		row{name: "Enter in a field whose handler goes to the page of the form",
			html: `<form action=next><input id=i name=a onkeydown="if (event.key === 'Enter') location = 'next?a=x'"></form>`, site: site(nil), do: enter,
			url: "next?a=x", log: "loaded;"},
		row{name: "a navigation that is stopped leaves the page", html: `<button id=b onclick="location = 'next'; stop()">x</button>`, site: site(nil), url: "./"},
		row{name: "another page, after one that was given up before the wait", html: `x`,
			site: site(map[string]any{"hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}), do: leaveTwice,
			url: "next", log: "loaded;"},
		row{name: "a link that is a download, after a page that is given up", html: `<a id=b href=file onclick="location = 'one'">x</a>`,
			site: site(map[string]any{"file": file}), url: "./"},
		row{name: "a page that leads nowhere after one that is given up", html: `<a id=b href="http://127.0.0.1:18998/" onclick="location = 'one'">x</a>`,
			site: site(nil), code: routine.CodeNavigationFailed, words: "the connection was refused"},
		row{name: "navigate to a page with a refresh", site: site(map[string]any{"refresh": `<meta http-equiv=refresh content="0;url=next">`}),
			do: func(a *attempt) error {
				n, err := a.p.Navigate(a.ctx, a.site+"refresh")
				if n.URL != a.site+"next" || n.Status != 200 {
					a.t.Errorf("%+v", n)
				}
				return err
			}, url: "next", log: "loaded;"},
		row{name: "a page that goes on for ever is left alone", html: `<a id=b href=again>x</a>`,
			site: map[string]any{"again": `<script>location.reload()</script>`}, url: "again", warns: "times in a row"},
	)
	holds(t, rows)
}

// leaveTwice navigates to a page that is given up, and then by a timer to another one. Only then
// it waits, as an operation does after its action.
func leaveTwice(a *attempt) error {
	before := a.p.now()
	for _, step := range []struct {
		do         proto.Request
		navigating bool
	}{{proto.RuntimeEvaluate{Expression: "void (location = 'hang')"}, true}, {proto.PageStopLoading{}, false}} {
		if err := cdp.CallAll(a.ctx, a.p, step.do); err != nil {
			return err
		}
		if err := a.p.waitFor(a.ctx, func(s navState) (bool, error) { return (s.current != "") == step.navigating, nil }); err != nil {
			return err
		}
	}
	defer a.p.Send(proto.RuntimeEvaluate{Expression: "setTimeout(() => location = 'next')"}).Forget()
	return a.p.follow(a.ctx, before)
}

// Rows in which the page leaves by itself between two operations: the second one
// waits for the page that comes.
func TestOperationsWaitForPendingNavigation(t *testing.T) {
	t.Parallel()
	const here = `<button id=b onclick="say('here')">x</button><input id=i oninput="say('here')"><p id=p>here</p>`
	const there = `<button id=b onclick="say('b')">x</button><input id=i oninput="say('i')"><p id=p>there</p>
		<script>onkeydown = e => { if (e.key === 'Escape') say('key') }</script>`
	leaving := func(to string, do func(a *attempt) error) func(a *attempt) error {
		return func(a *attempt) error {
			if _, err := cdp.Evaluate(a.ctx, a.p, proto.RuntimeEvaluate{Expression: "void (location = '" + to + "')"}); err != nil {
				return err
			}
			return do(a)
		}
	}
	var rows []row
	for name, r := range map[string]struct {
		do  func(a *attempt) error
		log string
	}{
		"click":      {func(a *attempt) error { return a.click("#b") }, "loaded;b;"},
		"input_text": {func(a *attempt) error { return a.typed("#i", "x") }, "loaded;i;"},
		"press":      {func(a *attempt) error { return a.press("Escape") }, "loaded;key;"},
		"return_html": {func(a *attempt) error {
			html, err := a.p.HTML(a.ctx, "#p")
			if !strings.Contains(html, "there") {
				a.t.Error(html)
			}
			return err
		}, "loaded;"},
		"return_html of the page": {func(a *attempt) error {
			html, err := a.p.HTML(a.ctx, "")
			if !strings.Contains(html, "there") {
				a.t.Error(html)
			}
			return err
		}, "loaded;"},
		"js_evaluate": {func(a *attempt) error {
			if got := eval(a.t, a.p, `(() => document.querySelector('#p').textContent)()`); got != `"there"` {
				a.t.Error(got)
			}
			return nil
		}, "loaded;"},
		"fetch": {func(a *attempt) error {
			r, err := a.p.Fetch(a.ctx, routine.Fetch{URL: "data", Method: "GET"}, 1000)
			if string(r.Body) != "data" {
				a.t.Errorf("%q", r.Body)
			}
			return err
		}, "loaded;"},
		"a placeholder": {func(a *attempt) error {
			got, _, err := a.p.Lookup(a.ctx, routine.FromMeta, "m")
			if got != "there" {
				a.t.Error(got)
			}
			return err
		}, "loaded;"},
	} {
		rows = append(rows, row{name: name, html: here, do: leaving("sub/next", r.do), log: r.log, url: "sub/next",
			site: map[string]any{"sub/next": delayed(`<meta name=m content=there>` + there), "sub/data": status(200, "data")}})
	}
	rows = append(rows,
		row{name: "what cannot be reached is a warning", html: here,
			do: leaving("http://127.0.0.1:18998/", func(a *attempt) error { _, err := a.p.HTML(a.ctx, ""); return err }), then: `1`, is: `1`,
			warns: "the page navigated by itself: http://127.0.0.1:18998/ could not be opened: the connection was refused"},
		row{name: "a download is no page to wait for", html: here, site: map[string]any{"file": file},
			do: leaving("file", func(a *attempt) error { return a.click("#b") }), log: "here;"},
	)
	holds(t, rows)
}

// A click to a page that cannot be opened says why.
func TestClicksToUnreachablePages(t *testing.T) {
	t.Parallel()
	secure := selfSigned(t)
	failed := routine.CodeNavigationFailed
	holds(t, []row{
		{name: "a certificate from nobody that is known", html: `<a id=b href="` + secure.URL + `">x</a>`, code: failed,
			words: "TLS certificate is not from a known authority"},
		{name: "a port that browsers refuse", html: `<a id=b href="http://127.0.0.1:1/">x</a>`, code: failed, words: "on this port"},
		{name: "circles of redirects", html: `<a id=b href=r>x</a>`, site: map[string]any{"r": redirect("r")}, code: failed, words: "redirects in circles"},
	})
}
