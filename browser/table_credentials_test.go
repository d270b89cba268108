package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
)

const (
	basic  = `Basic realm="members"`
	digest = `Digest realm="members", qop="auth", algorithm=MD5, nonce="f00d", opaque="beef"`
)

// challenges answers 401 and asks for HTTP credentials.
func challenges(schemes ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Www-Authenticate"] = schemes
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "<p id=who>who are you?</p>")
	}
}

// member is the page of ada, whose password is byron.
func member(w http.ResponseWriter, r *http.Request) {
	if user, password, _ := r.BasicAuth(); user != "ada" || password != "byron" {
		challenges(basic)(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<p id=who>ada</p>")
}

// members is a site with paths that ask for credentials.
var members = map[string]any{
	"in": challenges(basic), "digest": challenges(digest), "two": challenges(digest, basic), "member": member, "to": redirect("in"),
	"worker.js": scriptFile(`const ask = port => fetch('in').then(r => port.postMessage(r.status))
		self.onconnect = e => ask(e.ports[0]); if (self.postMessage) ask(self)`),
	"service.js": scriptFile(`onmessage = e => fetch('in').then(r => e.source.postMessage(r.status))`),
}

// goes opens a path of the row's site, with the credentials that are not empty,
// and wants its status.
func goes(credentials, path string, status int) func(*attempt) error {
	return func(a *attempt) error {
		n, err := a.p.Navigate(a.ctx, strings.Replace(a.site, "://", "://"+credentials, 1)+path)
		if err == nil && n.Status != status {
			err = fmt.Errorf("status %d, want %d", n.Status, status)
		}
		return err
	}
}

// fetches wants the status and the body of a path of the row's site.
func fetches(path, authorization string, status int, body string) func(*attempt) error {
	return func(a *attempt) error {
		f := routine.Fetch{URL: a.site + path, Method: "GET"}
		if authorization != "" {
			f.Headers = map[string]string{"Authorization": authorization}
		}
		r, err := a.p.Fetch(a.ctx, f, 1000)
		if err == nil && (r.Status != status || !strings.Contains(string(r.Body), body)) {
			err = fmt.Errorf("status %d and %q, want %d and %q", r.Status, r.Body, status, body)
		}
		return err
	}
}

// untouched leaves the page to itself.
func untouched(*attempt) error { return nil }

// A site that asks for HTTP credentials gets none, and the 401 is the answer to
// every kind of request.
func TestChallengesOfOperations(t *testing.T) {
	t.Parallel()
	script := func(text string, then func(*attempt) error) func(*attempt) error {
		return func(a *attempt) error {
			if _, err := a.p.Evaluate(a.ctx, watchedScript(text)); err != nil {
				return err
			}
			return then(a)
		}
	}
	clicks := func(a *attempt) error { return a.click("#b") }
	who, asked := `who.textContent`, `"who are you?"`
	holds(t, []row{
		{name: "a page", site: members, do: goes("", "in", 401), then: who, is: asked},
		{name: "a page by digest", site: members, do: goes("", "digest", 401), then: who, is: asked},
		{name: "a page with two schemes", site: members, do: goes("", "two", 401), then: who, is: asked},
		{name: "a redirect", site: members, do: goes("", "to", 401), url: "in"},
		{name: "a page, again", site: members, do: func(a *attempt) error {
			return all(func() error { return goes("", "in", 401)(a) }, func() error { return goes("", "in?again", 401)(a) })
		}, then: who, is: asked},
		{name: "a fetch", html: `-`, site: members, do: fetches("in", "", 401, "who are you?"), then: `1`, is: `1`},
		{name: "a fetch by digest", html: `-`, site: members, do: fetches("digest", "", 401, "who are you?"), then: `1`, is: `1`},
		{name: "a fetch from a blank page", site: members, do: fetches("in", "", 401, "who are you?"), then: `1`, is: `1`},
		{name: "a fetch after a script", html: `-`, site: members, then: `document.title`, is: `"x"`,
			do: script(`(() => { document.title = 'x' })()`, fetches("in", "", 401, "who are you?"))},
		{name: "a link", html: `<a id=b href=in>x</a>`, site: members, url: "in", warns: "401"},
		{name: "a form", html: `<form method=post action=in><button id=b>x</button></form>`, site: members, url: "in", warns: "401"},
		{name: "a link after a script", html: `<a id=b href=in>x</a>`, site: members, url: "in", warns: "401",
			do: script(`(() => { document.title = 'x' })()`, clicks)},
		{name: "a popup", html: opens(`window.open('in')`), site: members, then: `1`, is: `1`, warns: "401", do: func(a *attempt) error {
			return all(func() error { return a.popup("#b") }, func() error { return a.tells(who, "who are you?") })
		}},
		{name: "a link that downloads", html: `<a id=b href=in download>x</a>`, site: members, do: brings(), code: routine.CodeNetworkError, words: "did not arrive"},
		{name: "a page with wrong credentials", site: members, do: goes("ada:x@", "member", 401), then: who, is: asked},
		{name: "a page with credentials", site: members, do: goes("ada:byron@", "member", 200), then: who, is: `"ada"`},
		{name: "a fetch of such a page", site: members, then: who, is: `"ada"`, do: func(a *attempt) error {
			return all(func() error { return goes("ada:byron@", "member", 200)(a) }, func() error { return fetches("member", "", 200, "ada")(a) })
		}},
		{name: "a fetch with a wrong header", html: `-`, site: members, do: fetches("member", "Basic eDp5", 401, "who"), then: `1`, is: `1`},
		{name: "a fetch with a header", html: `-`, site: members, do: fetches("member", "Basic YWRhOmJ5cm9u", 200, "ada"), then: `1`, is: `1`},
	})
}

func TestChallengesOfPages(t *testing.T) {
	t.Parallel()
	rows := []row{}
	for _, load := range []struct{ name, html, log string }{
		{"an image", `<img src=in onerror="say('none')">`, "none;"},
		{"an image of another site", `<img src=CROSS/in onerror="say('none')">`, "none;"},
		{"a script", `<script src=in onerror="say('none')"></script>`, "none;"},
		{"a stylesheet", `<link rel=stylesheet href=in onerror="say('none')">`, "none;"},
		{"a font", `<script>new FontFace('f', 'url(in)').load().catch(() => say('none'))</script>`, "none;"},
		{"a video", `<video src=in onerror="say('none')"></video>`, "none;"},
		{"an object", `<object data=in onerror="say('none')"></object>`, "none;"},
		{"a module", `<script>import('./in').catch(() => say('none'))</script>`, "none;"},
		{"a frame", `<iframe src=in onload="say(frames[0].who.textContent)"></iframe>`, "who are you?;"},
		{"a frame of another site", `<iframe src=CROSS/in onload="say('loaded')"></iframe>`, "loaded;"},
		{"fetch", `<script>fetch('in').then(r => say(r.status))</script>`, "401;"},
		{"fetch by digest", `<script>fetch('digest').then(r => say(r.status))</script>`, "401;"},
		{"fetch after a redirect", `<script>fetch('to').then(r => say(r.status))</script>`, "401;"},
		{"fetch with a body", `<script>fetch('in', {method: 'POST', body: 'x'}).then(r => say(r.status))</script>`, "401;"},
		{"a request", `<script>const x = new XMLHttpRequest; x.onload = () => say(x.status); x.open('GET', 'in'); x.send()</script>`, "401;"},
		{"a request that blocks", `<script>const x = new XMLHttpRequest; x.open('GET', 'in', false); x.send(); say(x.status)</script>`, "401;"},
		{"a stream of events", `<script>new EventSource('in').onerror = () => say('none')</script>`, "none;"},
		{"a socket", `<script>new WebSocket(location.href.replace('http', 'ws') + 'in').onclose = () => say('none')</script>`, "none;"},
		{"a worker", `<script>new Worker('in').onerror = () => say('none')</script>`, "none;"},
		{"a worker's fetch", `<script>new Worker('worker.js').onmessage = e => say(e.data)</script>`, "401;"},
		{"a shared worker's fetch", `<script>new SharedWorker('worker.js').port.onmessage = e => say(e.data)</script>`, "401;"},
		{"a service worker's fetch", `<script>const s = navigator.serviceWorker; s.onmessage = e => say(e.data); s.register('service.js')
			s.ready.then(r => r.active.postMessage(1))</script>`, "401;"},
	} {
		rows = append(rows, row{name: load.name, html: load.html, site: members, do: untouched, log: load.log})
	}
	rows = append(rows, row{name: "fetch after a script", html: `<script>const ask = () => fetch('in').then(r => say(r.status))</script>`,
		site: members, log: "401;", do: func(a *attempt) error {
			_, err := a.p.Evaluate(a.ctx, watchedScript(`(() => { ask() })()`))
			return err
		}})
	holds(t, rows)
}

// A challenge that one run has met blocks no later run.
func TestChallengeOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]any{"/": `<script>fetch('/in')</script>`, "/in": challenges(basic), "/ok": `fine`})
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			first := mustOpen(t, kind.browser())
			if _, err := first.Navigate(testContext(t), base+"/"); err != nil {
				t.Fatal(err)
			}
			first.Close()
			for range 2 {
				p := mustOpen(t, kind.browser())
				r, err := p.Fetch(testContext(t), routine.Fetch{URL: base + "/in", Method: "GET"}, 1000)
				if err != nil || r.Status != 401 {
					t.Fatal(r.Status, err)
				}
				if r, err = p.Fetch(testContext(t), routine.Fetch{URL: base + "/ok", Method: "GET"}, 1000); err != nil || r.Status != 200 {
					t.Fatal(r.Status, err)
				}
			}
		})
	}
}
