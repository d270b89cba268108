package browser

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
)

// script serves JavaScript.
func scriptFile(source string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, source)
	}
}

// A page with a service worker, which answers some requests itself and makes others.
const servedPage = `<script>
	navigator.serviceWorker.register('worker.js');
	navigator.serviceWorker.oncontrollerchange = () => say('controlled');
	const get = async (...a) => { const r = await fetch(...a); say(r.status + ' ' + await r.text()) }</script>
	<button id=b onclick="get('api')">x</button>`

var servedSite = map[string]any{
	"worker.js": scriptFile(`oninstall = () => skipWaiting();
		onactivate = e => e.waitUntil(clients.claim());
		const answer = async q => new Response('worker ' + q.method + ' ' + q.headers.get('X-Mine') + ' ' + await q.text(),
			{ status: 418, headers: { 'X-By': 'worker' } });
		onfetch = e => {
			const { pathname, search } = new URL(e.request.url);
			if (/api$/.test(pathname)) e.respondWith(answer(e.request));
			if (/large$/.test(pathname)) e.respondWith(new Response('x'.repeat(3e6)));
			if (/fails$/.test(pathname)) e.respondWith(Promise.reject(new Error('broken')));
			if (/made$/.test(pathname)) e.respondWith(fetch(decodeURIComponent(search.slice(1)), { mode: 'no-cors' }));
			if (/passed$/.test(pathname)) e.respondWith(fetch(e.request));
		}`),
	"api":    status(200, "server"),
	"passed": status(200, "server"),
	"other":  status(200, "server"),
}

// A request of the page, and the operation fetch, are answered by the page's service
// worker where it does that. What the worker asks for is under the same rules for
// hosts.
func TestServiceWorkersAnswer(t *testing.T) {
	t.Parallel()
	controlled := func(a *attempt) error {
		a.want(`LOG`, `"controlled;"`)
		return nil
	}
	// then fetches when the page has its worker, and logs what has come.
	then := func(f routine.Fetch, want string) func(*attempt) error {
		return func(a *attempt) error {
			if err := controlled(a); err != nil {
				return err
			}
			return a.fetches(f, want)
		}
	}
	body, get := "order", routine.Fetch{URL: "api", Method: "GET"}
	rows := []row{
		{name: "the page's own request", do: func(a *attempt) error {
			return all(func() error { return controlled(a) }, func() error { return a.click("#b") })
		},
			log: "controlled;418 worker GET null ;"},
		{name: "fetch", do: then(get, "418 worker GET null ")},
		{name: "with a header and a body", do: then(routine.Fetch{URL: "api", Method: "POST", Headers: map[string]string{"X-Mine": "m"}, Body: &body},
			"418 worker POST m order")},
		{name: "what the worker leaves alone", do: then(routine.Fetch{URL: "other", Method: "GET"}, "200 server")},
		{name: "what the worker passes on", do: then(routine.Fetch{URL: "passed", Method: "GET"}, "200 server")},
		{name: "in pieces", do: then(routine.Fetch{URL: "large", Method: "GET"}, "200 "+strings.Repeat("x", 3e6))},
		{name: "a worker that fails", do: then(routine.Fetch{URL: "fails", Method: "GET"}, ""), code: routine.CodeNetworkError, words: "fails failed"},
		{name: "a worker that asks a refused host", do: then(routine.Fetch{URL: "made?http://192.0.2.1/", Method: "GET"}, ""),
			code: routine.CodeNetworkError, words: "failed"},
		{name: "a worker that passes on to a refused host", do: then(routine.Fetch{URL: "http://192.0.2.1/passed", Method: "GET"}, ""),
			code: routine.CodeEgressDenied, words: "192.0.2.1"},
		{name: "before the worker has the page", html: `<script>navigator.serviceWorker.register('idle.js').then(() => say('registered'))</script>`,
			do: func(a *attempt) error {
				a.want(`LOG`, `"registered;"`)
				return a.fetches(get, "200 server")
			}},
		{name: "a page that replaces fetch and more", html: servedPage + `<script>fetch = Request = Response = FileReader = Blob = null;
			Object.keys = Object.fromEntries = () => [];</script>`, do: then(get, "418 worker GET null ")},
		{name: "after a script that has changed the page", do: func(a *attempt) error {
			if err := controlled(a); err != nil {
				return err
			}
			eval(a.t, a.p, `(() => { document.body.append('x'); setTimeout(() => {}, 50); return 1 })()`)
			return a.fetches(get, "418 worker GET null ")
		}},
		{name: "on the next page after such a script", do: func(a *attempt) error {
			if err := controlled(a); err != nil {
				return err
			}
			eval(a.t, a.p, `(() => { document.body.append('x'); return 1 })()`)
			if _, err := a.p.Navigate(a.ctx, a.site); err != nil {
				return err
			}
			return all(func() error { return a.fetches(get, "418 worker GET null ") }, func() error { return a.click("#b") })
		}, log: "418 worker GET null ;"},
		{name: "the page's own request that a script brings about", do: func(a *attempt) error {
			if err := controlled(a); err != nil {
				return err
			}
			eval(a.t, a.p, `(async () => await get('api'))()`)
			return nil
		}, log: "controlled;418 worker GET null ;"},
		{name: "on a page that the worker has seen come", do: func(a *attempt) error {
			if err := controlled(a); err != nil {
				return err
			}
			if _, err := a.p.Navigate(a.ctx, a.site); err != nil {
				return err
			}
			return a.fetches(get, "418 worker GET null ")
		}},
	}
	idle := scriptFile(`onfetch = e => e.respondWith(new Response('worker'))`)
	for i := range rows {
		if rows[i].html == "" {
			rows[i].html = servedPage
		}
		rows[i].site = map[string]any{"idle.js": idle}
		for path, page := range servedSite {
			rows[i].site[path] = page
		}
		if rows[i].log == "" && rows[i].code == "" {
			rows[i].then, rows[i].is = `1`, `1`
		}
	}
	holds(t, rows)
}

// fetches makes the request and compares what has come.
func (a *attempt) fetches(f routine.Fetch, want string) error {
	r, err := a.p.Fetch(a.ctx, f, 0)
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%d %s", r.Status, r.Body); got != want {
		return fmt.Errorf("got %.100q, want %.100q", got, want)
	}
	return nil
}

// Requests of a script are blocked also if the page has a service worker.
func TestScriptsSendNothingThroughServiceWorkers(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := kind.browser()
			for i, source := range []string{
				`(() => { const i = document.createElement('img'); document.body.append(i); i.src = 'made?TO' })()`,
				`(() => { const i = document.createElement('img'); document.body.append(i); i.src = 'TO/passed' })()`,
				`(async () => await window['fe' + 'tch']('made?TO'))()`,
				`(() => { const x = new window['XMLHttp' + 'Request'](); x.open('GET', 'made?TO'); x.send() })()`,
				`(() => { document.body.style.backgroundImage = 'url(made?TO)' })()`,
				`(() => { document.querySelector('iframe').src = 'made?TO' })()`,
			} {
				if sampledWatched(b, i) {
					continue
				}
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					to := forbidden(t, 1)[0]
					pages := map[string]any{"/{$}": preamble + servedPage + `<iframe src=other></iframe>`}
					for path, page := range servedSite {
						pages["/"+path] = page
					}
					pages["/made"], pages["/passed"] = status(200, ""), status(200, "")
					a := &attempt{t: t, p: mustOpen(t, b), ctx: testContext(t)}
					if _, err := a.p.Navigate(a.ctx, site(t, pages)+"/"); err != nil {
						t.Fatal(err)
					}
					a.want(`LOG`, `"controlled;"`)
					ctx, cancel := context.WithTimeout(a.ctx, testTime/2)
					defer cancel()
					text := strings.ReplaceAll(source, "TO", "http://"+to.tcp.String())
					_, err := a.p.Evaluate(ctx, script(text, testTime/4))
					if err == nil { // it comes after the call: then it is refused, or ends the run
						eventually(t, testTime/4, "a refusal", func() bool {
							return a.p.errBlocked() != nil || strings.Contains(strings.Join(a.p.Warnings(), ""), "not loaded")
						})
					} else {
						wantCode(t, err, routine.CodeScriptBlocked, "")
					}
					if n := to.total(); n > 0 {
						t.Errorf("%d connections of %s", n, text)
					}
				})
			}
		})
	}
}
