package browser

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"rote/routine"
	"rote/routine/javascript/facts"
)

// onBoth runs a test on the headless shell and on full Chromium.
func onBoth(t *testing.T, test func(t *testing.T, b *Browser)) {
	t.Run("shell", func(t *testing.T) { test(t, shared) })
	t.Run("full", func(t *testing.T) {
		if testing.Short() {
			t.Skip("on the shell only")
		}
		test(t, full())
	})
}

// sink is a server that a script must not reach though the policy allows it.
// It counts connections and requests.
type sink struct {
	url, host string
	hits      atomic.Int64
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/html")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.hits.Add(1)
		}
	}
	server.Start()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url, s.host = server.URL, strings.TrimPrefix(server.URL, "http://")
	return s
}

// guardSite is a page with some of everything. SINK in it is the sink's URL.
func guardSite(t *testing.T, s *sink) string {
	t.Helper()
	fill := strings.NewReplacer("SINK", s.url)
	return site(t, map[string]any{
		"/": fill.Replace(guardPage), "/next": `<h1>next</h1>`, "/inner": `<p>inner</p><script>window.inner = 1</script>`,
		"/api": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[1,2]}`) },
		"/pic": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/svg+xml")
			fmt.Fprint(w, pixel)
		},
		"/w.js": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/javascript") },
	})
}

const pixel = `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`

const guardPage = `<title>page</title><table id=t><tr><th>name<th>price<tr><td>a<td>1<tr><td>b<td>2</table>
<input id=q><button id=b onclick="window.clicks = (window.clicks || 0) + 1">b</button> <a id=a href="/next">next</a> <a id=j href="javascript:void(window.jumped = 1)">j</a>
<a id=blank href="/next" target=_blank>blank</a> <form id=f action="/next"><input name=x value=1><button id=s>s</button></form>
<iframe id=i src="/inner"></iframe><img id=img src="/pic"><div id=out></div><link id=l rel=stylesheet href="data:text/css,"><style id=css></style>
<script>
window.__STATE__ = { user: { name: 'Ada' }, items: [{ id: 1 }, { id: 2 }] };
window.dataLayer = [{ event: 'purchase', value: 3 }];
sessionStorage.products = JSON.stringify([{ id: 1, name: 'lamp' }]);
document.cookie = 'c=1';
const api = () => fetch('/api').then(r => r.json());
window.app = { load: () => api(), each: (list, f) => list.map(f), later: f => new Promise(r => setTimeout(() => r(f()), 5)), handlers: [],
  on(name, f) { this.handlers.push(f) }, emit() { this.handlers.forEach(f => f()) }, evil: code => (0, eval)(code) };
window.$ = s => ({ val: v => { document.querySelector(s).value = v; return window.$(s) }, trigger: n => document.querySelector(s).dispatchEvent(new Event(n, { bubbles: true })) });
document.getElementById('b').addEventListener('click', async () => { const r = await api(); document.getElementById('out').textContent = r.items.join() });
document.getElementById('q').addEventListener('input', e => { document.getElementById('out').textContent = 'typed ' + e.target.value });
window.route = () => { history.pushState(null, '', '/?route=2'); document.getElementById('out').textContent = 'route' };
setTimeout(() => { window.late = 'came' }, 60);
</script>`

// guardedPage opens the page with everything.
func guardedPage(t *testing.T, b *Browser, url string) *page {
	t.Helper()
	p := mustOpen(t, b)
	if _, err := p.Navigate(testContext(t), url); err != nil {
		t.Fatal(err)
	}
	return p
}

// watchedScript has no more facts than its text proves, and never that it only
// reads: the test is of the guard.
func watchedScript(text string) routine.Script {
	s := script(text, testTime)
	if s.Facts.Reads {
		s.Facts = facts.Facts{}
	}
	return s
}

// attack is a script that must not succeed. SINK in it is the sink's URL, HOST
// its host. Code that it gets to run says RAN on the console.
type attack struct {
	name, body string
	// quiet attacks end without an error: what they start is refused, but may
	// as well be the page's.
	quiet bool
}

func (a attack) script(s *sink) string {
	return "(async () => { " + strings.NewReplacer("SINK", s.url, "HOST", s.host).Replace(a.body) + "\nawait new Promise(r => setTimeout(r, 150)) })()"
}

// repel runs the attacks and fails for each that reaches the sink or runs code.
func repel(t *testing.T, attacks []attack) {
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, a := range attacks {
			if sampledWatched(b, i) {
				continue
			}
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				s := newSink(t)
				p := guardedPage(t, b, guardSite(t, s)+"/")
				e, err := p.Evaluate(testContext(t), watchedScript(a.script(s)))
				if err == nil && !a.quiet { // it may show only after the call
					_, err = p.WaitURL(testContext(t), func(string) (bool, error) { return false, nil })
				}
				if blocked := routine.CodeOf(err) == routine.CodeScriptBlocked; blocked == a.quiet {
					t.Errorf("%v", err)
				}
				if said := strings.Join(e.Console, "\n"); strings.Contains(said, "RAN") {
					t.Errorf("code ran: %s", said)
				}
				p.Close()
				if n := s.hits.Load(); n != 0 {
					t.Errorf("%d connections and requests at the sink", n)
				}
			})
		}
	})
}
