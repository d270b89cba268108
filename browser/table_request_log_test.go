package browser

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"rote/routine"
)

// requestRow is what the log has after an act on a page.
type requestRow struct {
	name   string
	html   string
	site   map[string]any
	do     func(a *attempt) error // nil: what the page itself does is enough
	log    []string               // lines, with the site left out
	others int                    // -1: not looked at
}

// clicksB clicks #b, and arrives waits until the page is at a path.
func clicksB(a *attempt) error { return a.click("#b") }

func arrives(path string) func(*attempt) error {
	return func(a *attempt) error {
		_, err := a.p.WaitURL(a.ctx, func(url string) (bool, error) { return strings.HasSuffix(url, path), nil })
		return err
	}
}

// hangs answers when its caller is gone.
func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// CROSS in a row is the same server by a name of another site.
var requestRows = []requestRow{
	{name: "fetch with a JSON body", html: `<script>fetch('/api', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"q":1}'})</script>`,
		site: map[string]any{"/api": answer("application/json", `{"a":"ä"}`)},
		log:  []string{`1 fetch POST /api body "{\"q\":1}" -> 200 application/json "{\"a\":\"ä\"}"`}, others: 1},
	{name: "XHR, read as bytes", html: `<script>const x = new XMLHttpRequest(); x.open('GET', '/api?q=1'); x.responseType = 'arraybuffer'; x.send()</script>`,
		site: map[string]any{"/api": answer("text/csv", "a,b")},
		log:  []string{`1 xhr GET /api?q=1 -> 200 text/csv "a,b"`}, others: 1},
	{name: "images, scripts, styles and beacons are counted", html: `<img src=/i><script src=/s></script>
		<link rel=stylesheet href=/c><script>navigator.sendBeacon('/b', 'x'); fetch('/api')</script>`,
		site: map[string]any{"/i": answer("image/png", ""), "/s": answer("text/javascript", ""), "/c": answer("text/css", ""),
			"/b": answer("text/plain", ""), "/api": answer("text/plain", "t")},
		log: []string{`1 fetch GET /api -> 200 text/plain "t"`}, others: 5},
	{name: "a form, and the document that answers it", html: `<form method=post action=/login><input name=user value=ann><button id=b>go</button></form>`,
		site: map[string]any{"/login": answer("text/html", "hello")}, do: clicksB,
		log: []string{`1 form POST /login body "user=ann" -> 200 text/html "hello"`}, others: -1},
	{name: "a form that redirects", html: `<form method=post action=/login><input name=user value=ann><button id=b>go</button></form>`,
		site: map[string]any{"/login": redirect("/in"), "/in": answer("text/html", "in")}, do: clicksB,
		log: []string{`1 form POST /login body "user=ann" -> 302 `, `2 document GET /in -> 200 text/html "in"`}, others: -1},
	{name: "a redirect", html: `<script>fetch('/r')</script>`, site: map[string]any{"/r": redirect("/api"), "/api": answer("application/json", "1")},
		log: []string{`1 fetch GET /r -> 302 text/html`, `2 fetch GET /api -> 200 application/json "1"`}, others: 1},
	{name: "a 401", html: `<script>fetch('/api')</script>`, site: map[string]any{"/api": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Basic")
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(401)
		fmt.Fprint(w, "who")
	}}, log: []string{`1 fetch GET /api -> 401 text/plain "who"`}, others: 1},
	{name: "no answer", html: `<script>fetch('http://127.0.0.1:1/api')</script>`,
		log: []string{`1 fetch GET http://127.0.0.1:1/api -> 0  error browsers open no pages on this port (ERR_UNSAFE_PORT)`}, others: 1},
	{name: "a refused host", html: `<script>fetch('http://192.0.2.1/api')</script>`, log: nil, others: 2},
	{name: "a refused API", html: `<script>fetch('http://api.test/')</script>`,
		log: []string{`1 fetch GET http://api.test/ -> 0  error its name does not resolve`}, others: 1},
	{name: "cancelled", html: `<script>const c = new AbortController();
		fetch('/slow', {signal: c.signal}).catch(() => {}); setTimeout(() => c.abort(), 50)</script>`,
		site: map[string]any{"/slow": hangs},
		log:  []string{`1 fetch GET /slow -> 0  error the page left or cancelled it`}, others: 1},
	{name: "other sites", html: `<script>
		fetch('CROSS/small.json', {method: 'POST', mode: 'no-cors'}); fetch('CROSS/large.json'); fetch('CROSS/text')</script>`,
		site: map[string]any{"/small.json": answer("application/json", `{"ok":1}`), "/text": answer("text/plain", strings.Repeat("x", 300)),
			"/large.json": answer("application/json", `"`+strings.Repeat("x", 300)+`"`)},
		log: []string{`2 fetch GET CROSS/large.json -> 200 application/json "\"xxxxxxxxxxxxxxxxxxx… 302"`}, others: 3},
	{name: "a preflight is one of the others", html: `<script>fetch('CROSS/x', {method: 'PUT'})</script>`,
		site: map[string]any{"/x": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Methods", "PUT")
			answer("application/json", `"`+strings.Repeat("x", 300)+`"`)(w, r)
		}}, log: []string{`1 fetch PUT CROSS/x -> 200 application/json "\"xxxxxxxxxxxxxxxxxxx… 302"`}, others: 2},
	{name: "bodies of other kinds", html: `<script>(async () => {
		const file = new FormData(), text = new FormData(); file.append('f', new File(['data'], 'f.txt')); text.append('a', 'b');
		for (const body of [file, text, new Uint8Array([255, 254, 0]), 'x'.repeat(300000), 'x'.repeat(100000), new URLSearchParams({a: 'b'}), undefined])
			await (await fetch('/', {method: 'POST', body})).text() })()</script>`,
		site: map[string]any{"/": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusNoContent)
		}}, log: []string{
			`1 fetch POST / body ""+ -> 204 `, `2 fetch POST / body "------WebKitFormBoun… 133" -> 204 `,
			`3 fetch POST / body ""+ -> 204 `, `4 fetch POST / body ""+ -> 204 `,
			`5 fetch POST / body "xxxxxxxxxxxxxxxxxxxx… 100000" -> 204 `,
			`6 fetch POST / body "a=b" -> 204 `, `7 fetch POST / -> 204 `}, others: 1},
	{name: "answers of other kinds", html: `<script>(async () => {
		for (const p of ['/big', '/img', '/zip', '/bytes']) await (await fetch(p)).arrayBuffer() })()</script>`,
		site: map[string]any{"/big": answer("text/plain", strings.Repeat("x", 300000)), "/img": answer("image/png", "x"), "/zip": answer("application/zip", "x"),
			"/bytes": answer("text/plain", "\xff\xfe\xfd")}, log: []string{`1 fetch GET /big -> 200 text/plain lost 300000`, `2 fetch GET /img -> 200 image/png`,
			`3 fetch GET /zip -> 200 application/zip`, `4 fetch GET /bytes -> 200 text/plain lost 3`}, others: 1},
	{name: "an event stream", html: `<script>new EventSource('/e')</script>`, site: map[string]any{"/e": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: x\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}}, log: []string{`1 eventsource GET /e -> 200 text/event-stream`}, others: 1},
	{name: "an answer just before the page leaves", html: `<script>fetch('/api').then(r => r.text()).then(() => location = '/next')</script>`,
		site: map[string]any{"/api": answer("application/json", `{"token":"t"}`), "/next": "next"}, do: arrives("/next"),
		log: []string{`1 fetch GET /api -> 200 application/json "{\"token\":\"t\"}"`}, others: 2},
	{name: "an answer just before the page leaves for another site", html: `<script>fetch('/api').then(r => r.text())
		.then(() => location = 'CROSS/next')</script>`,
		site: map[string]any{"/api": answer("application/json", `{"token":"t"}`), "/next": "next"}, do: arrives("/next"),
		log: []string{`1 fetch GET /api -> 200 application/json "{\"token\":\"t\"}"`}, others: 2},
	{name: "a page that leaves before the answer", html: `<script>fetch('/slow'); setTimeout(() => location = '/next', 50)</script>`,
		site: map[string]any{"/slow": hangs, "/next": "next"}, do: arrives("/next"),
		log: []string{`1 fetch GET /slow -> 0  error the page left or cancelled it`}, others: 2},
	{name: "a page that leaves for another site before the answer", html: `<script>fetch('/slow'); setTimeout(() => location = 'CROSS/next', 50)</script>`,
		site: map[string]any{"/slow": hangs, "/next": "next"}, do: arrives("/next"),
		log: []string{`1 fetch GET /slow -> 0  error the page left or cancelled it`}, others: 2},
	{name: "a popup that closes before the answer", html: `<button id=b onclick="window.open('/popup')">b</button>`, site: map[string]any{
		"/popup": `<script>fetch('/slow'); setTimeout(() => close(), 100)</script>`, "/slow": hangs},
		do: clicksB, log: []string{`1 fetch GET /slow -> 0  error the page left or cancelled it`}, others: -1},
	{name: "a frame of another site that is removed before the answer", html: `<iframe id=f src="CROSS/frame"></iframe>
		<script>onmessage = () => f.remove()</script>`,
		site: map[string]any{"/frame": `<script>fetch('/slow'); setTimeout(() => parent.postMessage('x', '*'), 50)</script>`, "/slow": hangs},
		log:  []string{`1 fetch GET CROSS/slow -> 0  error the page left or cancelled it`}, others: 2},
	{name: "frames of other sites", html: `<iframe src="CROSS/frame"></iframe>`, site: map[string]any{
		"/frame": `<script>fetch('/api', {method: 'POST', body: 'x'})</script>`, "/api": answer("application/json", `{"ok":1}`)},
		log: []string{`1 fetch POST CROSS/api body "x" -> 200 application/json "{\"ok\":1}"`}, others: 2},
	{name: "a form in a frame of another site", html: `<iframe src="CROSS/frame"></iframe>`, site: map[string]any{
		"/frame": `<form method=post action=/in><button id=b name=a value=1>go</button></form>`, "/in": answer("text/html", `hello`)},
		do:  clicksB,
		log: []string{`1 form POST CROSS/in body "a=1" -> 200 text/html "hello"`}, others: 2},
	{name: "popups", html: `<button id=b onclick="window.open('/popup')">b</button>`, site: map[string]any{
		"/popup": `<script>fetch('/api')</script>`, "/api": answer("application/json", `1`)},
		do: clicksB, log: []string{`1 fetch GET /api -> 200 application/json "1"`}, others: -1},
	{name: "cached", html: `<script>(async () => { for (let i = 0; i < 2; i++) await (await fetch('/api')).text() })()</script>`,
		site: map[string]any{"/api": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "max-age=1000")
			fmt.Fprint(w, `{"a":1}`)
		}}, log: []string{`1 fetch GET /api -> 200 application/json "{\"a\":1}"`, `2 fetch GET /api -> 200 application/json "{\"a\":1}"`}, others: 1},
	{name: "the operation fetch", html: `<script>fetch('/page')</script>`,
		site: map[string]any{"/page": answer("text/plain", "p"), "/r": redirect("/own"), "/own": answer("text/plain", "o")},
		do: func(a *attempt) error {
			_, err := a.p.Fetch(a.ctx, routine.Fetch{URL: "/r", Method: "GET"}, 1000)
			return err
		}, log: []string{`1 fetch GET /page -> 200 text/plain "p"`,
			`2 fetch GET /r by operation -> 302 text/html`, `3 fetch GET /own by operation -> 200 text/plain "o"`}, others: 1},
	{name: "data and blobs are no requests", html: `<script>fetch('data:,x'); fetch(URL.createObjectURL(new Blob(['x']))); fetch('/api')</script>`,
		site: map[string]any{"/api": answer("application/json", `1`)},
		log:  []string{`1 fetch GET /api -> 200 application/json "1"`}, others: 1},
	{name: "a form that is answered with a download", html: `<form method=post action=/d><button id=b>go</button></form>`,
		site: map[string]any{"/d": file},
		do:   clicksB,
		log: []string{
			`1 form POST /d -> 200 text/plain error the server sent a download instead of a page: get it with the download operation (ERR_ABORTED)`}, others: 1},
	{name: "a form that is answered with nothing", html: `<form method=post action=/d><button id=b>go</button></form>`,
		site: map[string]any{"/d": status(204, "")},
		do:   clicksB, log: []string{`1 form POST /d -> 204 text/html`}, others: 1},
}
