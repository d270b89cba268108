package browser

import (
	"fmt"
	"net/http"
	"testing"
)

// leaves puts something into everything that a page can keep things in.
const leaves = `<script>
  document.cookie = 'c=1; max-age=9999'; localStorage.l = 1; sessionStorage.s = 1; window.name = 'mine';
  const db = new Promise(r => { const q = indexedDB.open('d', 1); q.onupgradeneeded = () => q.result.createObjectStore('o'); q.onsuccess = r });
  const said = new BroadcastChannel('b'); setInterval(() => said.postMessage('of the other'), 5);
  const shared = new SharedWorker('/shared.js'); shared.port.postMessage('of the other');
  onload = async () => { try {
    await db; await (await caches.open('k')).put('/x', new Response('kept'));
    await navigator.serviceWorker.register('/worker.js'); await navigator.serviceWorker.ready;
    await fetch('/cached'); await fetch('/auth', {headers: {Authorization: 'Basic ' + btoa('u:p')}});
    await (await (await navigator.storage.getDirectory()).getFileHandle('f', {create: true})).createWritable();
    for (let i = 0; i < 5; i++) history.pushState(null, '', '#' + i);
    location.hash = 'done' } catch (e) { location.hash = 'failed-' + e } }</script>`

// finds reads everything that another page may have left. It is code of the page,
// because a script may not start a worker.
const finds = `<script>async function look() {
  const heard = []; new BroadcastChannel('b').onmessage = e => heard.push(e.data);
  const shared = new SharedWorker('/shared.js'); const kept = await new Promise(r => { shared.port.onmessage = e => r(e.data); shared.port.postMessage('?') });
  const cached = await (await fetch('/cached')).text();
  const files = []; for await (const name of (await navigator.storage.getDirectory()).keys()) files.push(name);
  return { cookie: document.cookie, local: localStorage.length, session: sessionStorage.length, name: window.name, databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length, workers: (await navigator.serviceWorker.getRegistrations()).length, controlled: !!navigator.serviceWorker.controller,
    heard, kept, cached, auth: (await fetch('/auth')).status, files, history: history.length, notification: Notification.permission } }</script>`

const nothing = `{"cookie":"","local":0,"session":0,"name":"","databases":0,"caches":0,"workers":0,"controlled":false,` +
	`"heard":[],"kept":["?"],"cached":"hit %d","auth":401,"files":[],"history":2,"notification":"denied"}`

// A run sees nothing of another run on the same site: not while both run, not after
// the other has ended, not after it has crashed.
func TestRunsShareNothing(t *testing.T) {
	t.Parallel()
	hits := 0
	url := site(t, map[string]any{"/leave": leaves, "/": finds,
		"/cached": func(w http.ResponseWriter, _ *http.Request) {
			hits++
			w.Header().Set("Cache-Control", "max-age=3600")
			fmt.Fprintf(w, "hit %d", hits)
		},
		"/auth": func(w http.ResponseWriter, r *http.Request) {
			if _, _, ok := r.BasicAuth(); !ok {
				w.WriteHeader(http.StatusUnauthorized)
			}
		},
		"/worker.js": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `onfetch = e => { if (e.request.url.endsWith('/cached')) e.respondWith(new Response('of the other')) }; onactivate = e => e.waitUntil(clients.claim())`)
		},
		"/shared.js": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `const all = []; onconnect = e => e.ports[0].onmessage = m => { all.push(m.data); e.ports[0].postMessage(all) }`)
		}})
	leave := func() *page {
		p := openPage(t, url+"/leave")
		at, err := p.WaitURL(testContext(t), func(u string) (bool, error) { return len(u) > len(url+"/leave#4"), nil })
		if err != nil || at != url+"/leave#done" {
			t.Fatal(at, err)
		}
		return p
	}
	look := func(when string) {
		t.Helper()
		p := openPage(t, url+"/")
		e, err := p.Evaluate(testContext(t), script(`(async () => await look())()`, testTime))
		if err != nil {
			t.Fatal(when, err)
		}
		if want := fmt.Sprintf(nothing, hits); string(e.JSON) != want {
			t.Errorf("%s it sees\n%s, want\n%s", when, e.JSON, want)
		}
		p.Close()
	}
	a := leave()
	look("beside the other")
	a.Close()
	look("after the other")
	b := leave()
	if _, err := b.Navigate(testContext(t), "chrome://crash"); err == nil {
		t.Fatal("no crash")
	}
	look("beside one that has crashed")
	b.Close()
	look("after one that has crashed")
}
