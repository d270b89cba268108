package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

func TestNavigate(t *testing.T) {
	url := site(t, map[string]any{
		"/ok":       `<h1 id=h>ok</h1>`,
		"/redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) },
		"/missing": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<h1>no</h1>")
		},
		"/empty":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"/alert":    `<h1 id=h>a</h1><script>alert('hi')</script>`,
		"/noanswer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/file": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=x.bin")
			fmt.Fprint(w, "x")
		},
		"/bye": `<h1>b</h1><script>addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'no' })</script><button id=b>b</button>`,
	})
	for path, want := range map[string]routine.Navigation{
		"/ok": {URL: url + "/ok", Status: 200}, "/redirect": {URL: url + "/ok", Status: 200}, "/missing": {URL: url + "/missing", Status: 404},
		"/empty": {URL: url + "/empty", Status: 500}, "/alert": {URL: url + "/alert", Status: 200},
	} {
		t.Run(path, func(t *testing.T) {
			got, err := openPage(t, "").Navigate(testContext(t), url+path)
			if err != nil || got != want {
				t.Fatalf("got %+v %v, want %+v", got, err, want)
			}
		})
	}
	t.Run("a dialog is dismissed and told", func(t *testing.T) {
		p := openPage(t, url+"/alert")
		if w := p.Warnings(); len(w) != 1 || !strings.Contains(w[0], `dialog (alert), which was dismissed: "hi"`) {
			t.Fatal(w)
		}
	})
	t.Run("beforeunload does not hold a page", func(t *testing.T) {
		p := openPage(t, url+"/bye")
		if _, err := p.Click(testContext(t), click("#b")); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Navigate(testContext(t), url+"/ok"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a download is no page", func(t *testing.T) {
		_, err := openPage(t, "").Navigate(testContext(t), url+"/file")
		wantCode(t, err, routine.CodeNavigationFailed, "download")
	})
	t.Run("a closed port", func(t *testing.T) {
		_, err := openPage(t, "").Navigate(testContext(t), "http://127.0.0.1:1/")
		wantCode(t, err, routine.CodeNavigationFailed, "could not be opened")
	})
	t.Run("a server that never answers ends with the context, and the page lives", func(t *testing.T) {
		p := openPage(t, "")
		if _, err := p.Navigate(shortContext(t), url+"/noanswer"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if _, err := p.Navigate(testContext(t), url+"/ok"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("what the policy does not allow", func(t *testing.T) {
		for _, to := range []string{"http://192.0.2.1/", "https://192.0.2.1/", "http://example.test/"} {
			_, err := openPage(t, "").Navigate(testContext(t), to)
			if to == "http://example.test/" {
				wantCode(t, err, routine.CodeNavigationFailed, "could not be opened")
			} else {
				wantCode(t, err, routine.CodeEgressDenied, "--allow-host")
			}
		}
	})
}

// What never finishes loading is taken as it is after a bound: a stylesheet that
// does not come, a body that does not end.
func TestNavigateUnfinished(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	url := site(t, map[string]any{
		"/sub": `<img src="/hang"><button id=b onclick="this.id='done'">b</button>`, "/hang": hang,
		"/body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><button id=b onclick="this.id='done'">b</button>`+strings.Repeat(" ", 4096))
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		},
	})
	b := own(t)
	b.loadBound = 300 * time.Millisecond
	for _, path := range []string{"/sub", "/body"} {
		p := mustOpen(t, b)
		n, err := p.Navigate(testContext(t), url+path)
		if err != nil || !n.Unfinished || n.Status != 200 {
			t.Fatalf("%s: %+v %v", path, n, err)
		}
		if _, err := p.Click(testContext(t), click("#b")); err != nil {
			t.Fatal(path, err)
		}
		if html, err := p.HTML(testContext(t), "#done"); err != nil || html == "" {
			t.Fatal(path, html, err)
		}
	}
}

func TestEvaluate(t *testing.T) {
	url := site(t, map[string]any{"/": `<p id=p>text</p><script>window.DATA = {a: [1, 2]}</script>`})
	for script, want := range map[string]string{
		`(() => 1)()`: "1", `(() => 'ä"')()`: `"ä\""`, `(() => undefined)()`: "", `(() => null)()`: "null", `(() => NaN)()`: "null",
		`(() => [1, 'a', null, undefined])()`: `[1,"a",null,null]`, `(() => ({d: new Date(0), u: undefined}))()`: `{"d":"1970-01-01T00:00:00.000Z"}`,
		`(async () => { await new Promise(r => setTimeout(r, 20)); return DATA })()`: `{"a":[1,2]}`,
		`(function() { return document.querySelector('#p').textContent })();`:        `"text"`,
		`(() => 9007199254740993n)()`:                                                "9007199254740993", `(() => () => 1)()`: "", `(() => document.body)()`: "{}", `(() => 1e21)()`: "1e+21",
	} {
		e, err := openPage(t, url+"/").Evaluate(testContext(t), script, time.Second)
		if err != nil || string(e.JSON) != want {
			t.Errorf("%s: %s %v, want %s", script, e.JSON, err, want)
		}
	}
	for script, words := range map[string]string{
		`(() => { throw new Error('boom') })()`: "boom", `(async () => { throw 'plain' })()`: "plain", `(() => { const o = {}; o.o = o; return o })()`: "circular",
		"(() => {\n  missing()\n})()": "missing is not defined (line 2, column 3)",
	} {
		_, err := openPage(t, url+"/").Evaluate(testContext(t), script, time.Second)
		wantCode(t, err, routine.CodeScriptError, words)
	}
	t.Run("the console is kept", func(t *testing.T) {
		e, err := openPage(t, url+"/").Evaluate(testContext(t), `(() => { console.log('n', 1, {a: 2}); console.error('bad') })()`, time.Second)
		if err != nil || strings.Join(e.Console, "|") != "log: n 1 Object|error: bad" {
			t.Fatal(e.Console, err)
		}
	})
	for _, script := range []string{`(() => { while (true) {} })()`, `(() => new Promise(() => {}))()`, `(async () => { await new Promise(r => setTimeout(r, 20)); while (true) {} })()`,
		`(() => { for (;;) { try { for (;;) {} } catch {} } })()`} {
		t.Run("ends by its limit: "+script, func(t *testing.T) {
			p := openPage(t, url+"/")
			start := time.Now()
			_, err := p.Evaluate(testContext(t), script, 300*time.Millisecond)
			wantCode(t, err, routine.CodeTimeout, "timeout_seconds of 300ms")
			if took := time.Since(start); took > 3*time.Second {
				t.Fatalf("took %v", took)
			}
			if got := eval(t, p, `(() => 1 + 1)()`); got != "2" {
				t.Fatal("the page is not usable any more: ", got)
			}
		})
	}
}

func TestFetch(t *testing.T) {
	blob := make([]byte, 300_000)
	for i := range blob {
		blob[i] = byte(i * 31)
	}
	url := site(t, map[string]any{
		"/": `<h1>home</h1>`,
		"/echo": func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			c, _ := r.Cookie("sid")
			w.Header().Set("X-Answer", "yes")
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s %s %v %s", r.Method, r.Header.Get("X-Mine"), r.Header.Get("Content-Type"), c, body)
		},
		"/login": func(w http.ResponseWriter, _ *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", HttpOnly: true, Path: "/"})
			fmt.Fprint(w, "in")
		},
		"/blob": func(w http.ResponseWriter, _ *http.Request) { w.Write(blob) },
	})
	body := `{"a":1}`
	p := openPage(t, url+"/login")
	r, err := p.Fetch(testContext(t), routine.Fetch{URL: "/echo", Method: "POST", Headers: map[string]string{"X-Mine": "m", "Content-Type": "application/json"}, Body: &body, Credentials: "same-origin"}, 1<<20)
	if err != nil || r.Status != 418 || r.URL != url+"/echo" || r.Headers["x-answer"] != "yes" || string(r.Body) != `POST m application/json sid=s1 {"a":1}` {
		t.Fatalf("%+v %s %v", r, r.Body, err)
	}
	r, err = openPage(t, "").Fetch(testContext(t), routine.Fetch{URL: url + "/blob", Method: "GET", Credentials: "same-origin"}, 1<<20)
	if err != nil || string(r.Body) != string(blob) {
		t.Fatal("from a blank page: ", len(r.Body), err)
	}
	_, err = p.Fetch(testContext(t), routine.Fetch{URL: "/blob", Method: "GET"}, 1000)
	wantCode(t, err, routine.CodeResultTooLarge, "1000 bytes")
	_, err = p.Fetch(testContext(t), routine.Fetch{URL: "http://127.0.0.1:1/", Method: "GET"}, 1000)
	wantCode(t, err, routine.CodeNetworkError, "failed")
	_, err = openPage(t, "").Fetch(testContext(t), routine.Fetch{URL: "/relative", Method: "GET"}, 1000)
	wantCode(t, err, routine.CodeNavigationFailed, "navigate first")
}

func TestReading(t *testing.T) {
	url := site(t, map[string]any{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", HttpOnly: true, Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "deep", Value: "d", Path: "/deep"})
		fmt.Fprint(w, `<meta name=csrf content=tok><meta property=og:title content=og><p hidden id=p>x</p><script>sessionStorage.k = 'v'; localStorage.l = 'w';
window.APP = {cfg: {key: 'K', n: 42, get live() { return 'called' }}, f() { return 1 }}</script>`)
	}})
	p := openPage(t, url+"/")
	ctx := testContext(t)
	for _, r := range []struct {
		from       routine.Source
		name, want string
		found      bool
	}{
		{routine.FromSessionStorage, "k", "v", true}, {routine.FromSessionStorage, "none", "", false}, {routine.FromLocalStorage, "l", "w", true},
		{routine.FromMeta, "csrf", "tok", true}, {routine.FromMeta, "og:title", "og", true}, {routine.FromMeta, "none", "", false},
		{routine.FromWindow, "APP.cfg.key", "K", true}, {routine.FromWindow, "APP.cfg.n", "42", true}, {routine.FromWindow, "APP.cfg.live", "", false},
		{routine.FromWindow, "APP.f", "", false}, {routine.FromWindow, "APP.f()", "", false}, {routine.FromWindow, "APP.none.x", "", false},
	} {
		got, found, err := p.Lookup(ctx, r.from, r.name)
		if err != nil || got != r.want || found != r.found {
			t.Errorf("%s:%s: %q %v %v", r.from, r.name, got, found, err)
		}
	}
	all, err := p.Cookies(ctx)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	sent, err := p.SentCookies(ctx)
	if err != nil || len(sent) != 1 || sent[0].Name != "sid" || !sent[0].HTTPOnly || sent[0].Expires != -1 {
		t.Fatal(sent, err)
	}
	if err := p.Mirror(ctx, "m", "text"); err != nil || eval(t, p, `(() => sessionStorage.getItem('m'))()`) != `"text"` {
		t.Fatal("not mirrored", err)
	}
	if err := openPage(t, "").Mirror(ctx, "m", "text"); err != nil {
		t.Fatal("a blank page has no storage, which is no error: ", err)
	}
	html, err := p.HTML(ctx, "")
	if err != nil || !strings.HasPrefix(html, "<html><head>") {
		t.Fatal(html, err)
	}
	if html, err = p.HTML(ctx, "#p"); err != nil || html != `<p hidden="" id="p">x</p>` {
		t.Fatal(html, err)
	}
	_, err = p.HTML(shortContext(t), "#none")
	wantCode(t, err, routine.CodeElementNotFound, "#none")
}

func TestContextsShareNothing(t *testing.T) {
	url := site(t, map[string]any{"/set": `<script>document.cookie = 'c=1'; localStorage.l = 1; sessionStorage.s = 1</script>`, "/": `x`})
	a := openPage(t, url+"/set")
	b := openPage(t, url+"/")
	const read = `(() => [document.cookie, localStorage.length, sessionStorage.length])()`
	if got := eval(t, a, read); got != `["c=1",1,1]` {
		t.Fatal(got)
	}
	if got := eval(t, b, read); got != `["",0,0]` {
		t.Fatal("the second context sees what the first has set: ", got)
	}
}

func TestPopups(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<button id=b onclick="for (let i = 0; i < 15; i++) window.open('/p', '_blank')">b</button>`, "/p": `<script>alert(1)</script>`})+"/")
	if _, err := p.Click(testContext(t), click("#b")); err != nil {
		t.Fatal(err)
	}
	if got := eval(t, p, `(() => 1)()`); got != "1" {
		t.Fatal(got)
	}
	if w := strings.Join(p.Warnings(), "\n"); strings.Count(w, "popup") != maxPopups {
		t.Fatalf("%d popups told of, want %d:\n%s", strings.Count(w, "popup"), maxPopups, w)
	}
}

// BenchmarkFormTask is the five-step task in a fresh context each time.
func BenchmarkFormTask(b *testing.B) {
	url := site(b, map[string]any{"/form": form}) + "/form"
	for b.Loop() {
		opened, err := shared.Open(b.Context(), routine.Opening{})
		if err != nil {
			b.Fatal(err)
		}
		formTask(b, opened.(*page), url)
		opened.Close()
	}
}
