package browser

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

func status(code int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func redirect(to string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

func file(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Disposition", "attachment; filename=x.bin")
	fmt.Fprint(w, "x")
}

func silence(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// broken is a listener whose connections end as do says.
func broken(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			do(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// selfSigned starts a server whose certificate browsers do not trust.
func selfSigned(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestNavigateTable(t *testing.T) {
	t.Parallel()
	to := func(path string, want int) func(*attempt) error {
		return func(a *attempt) error {
			url := path
			if !strings.Contains(path, "://") {
				url = a.site + path
			}
			n, err := a.p.Navigate(a.ctx, url)
			if n.Status != want {
				a.t.Errorf("status %d, want %d", n.Status, want)
			}
			return err
		}
	}
	reset := broken(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 64))
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	mute := broken(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<16)) })
	foreign := broken(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1<<16))
		_, _ = c.Write([]byte("220 mail ready\r\n"))
		_, _ = c.Read(make([]byte, 1<<16))
	})
	closed := broken(t, func(net.Conn) {})
	secure := selfSigned(t)
	failed := routine.CodeNavigationFailed
	holds(t, []row{
		{name: "a page", site: map[string]any{"x": `x`}, do: to("x", 200), url: "x"},
		{name: "redirects are followed", site: map[string]any{"r": redirect("s"), "s": redirect("x?a=1#f"), "x": `x`}, do: to("r", 200), url: "x?a=1#f"},
		{name: "circles of redirects fail", site: map[string]any{"r": redirect("r")}, do: to("r", 0), code: failed, words: "redirects in circles"},
		{name: "a redirect by script while the page loads is followed", site: map[string]any{"r": `<script>location.replace('x')</script>`, "x": `x`}, do: to("r", 200), url: "x"},
		{name: "a fragment of the same page", html: `<p>x</p>`, do: to("#there", 200), url: "#there"},
		{name: "an HTTP error is a page with its status", site: map[string]any{"x": status(404, "<h1>no</h1>")}, do: to("x", 404), url: "x"},
		{name: "an HTTP error without a body", site: map[string]any{"x": status(503, "")}, do: to("x", 503), then: `1`, is: `1`},
		{name: "No Content is no page", site: map[string]any{"x": status(204, "")}, do: to("x", 0), code: failed, words: "nothing to show (status 204)"},
		{name: "a download is no page", site: map[string]any{"x": file}, do: to("x", 0), code: failed, words: "download operation"},
		{name: "a refused connection", do: to("http://127.0.0.1:18998/", 0), code: failed, words: "the connection was refused"},
		{name: "a refused connection with TLS", do: to("https://127.0.0.1:18998/", 0), code: failed, words: "the connection was refused"},
		{name: "a reset connection", do: to("http://"+reset+"/", 0), code: failed, words: "the connection was reset"},
		{name: "a connection closed without an answer", do: to("http://"+mute+"/", 0), code: failed, words: "closed without an answer"},
		{name: "a server that speaks no HTTP", do: to("http://"+foreign+"/", 0), code: failed, words: "no proper answer"},
		{name: "a server that hangs up on TLS", do: to("https://"+closed+"/", 0), code: failed, words: "the connection was"},
		{name: "a certificate from nobody that is known", do: to(secure.URL+"/", 0), code: failed, words: "TLS certificate is not from a known authority"},
		{name: "a port that browsers refuse", do: to("http://127.0.0.1:1/", 0), code: failed, words: "on this port"},
		{name: "what the policy refuses", do: to("http://192.0.2.1/", 0), code: routine.CodeEgressDenied, words: "192.0.2.1"},
		{name: "what the policy refuses, with TLS", do: to("https://192.0.2.1/", 0), code: routine.CodeEgressDenied, words: "192.0.2.1"},
		{name: "a redirect to what the policy refuses", site: map[string]any{"r": redirect("http://192.0.2.1/x")}, do: to("r", 0), code: routine.CodeEgressDenied, words: "192.0.2.1"},
		{name: "an alert on load is dismissed and told", site: map[string]any{"x": `<script>alert('hi'); say('on')</script>`}, do: to("x", 200),
			log: "on;", warns: `dialog (alert), which was dismissed: "hi"`},
		{name: "a confirm is answered no, a prompt with nothing", site: map[string]any{"x": `<script>say(confirm('c?'));
			say(prompt('p?', 'x'))</script>`}, do: to("x", 200), log: "false;null;", warns: "dialog (prompt)"},
		{name: "beforeunload holds no page", html: `<button id=b>b</button><script>addEventListener('beforeunload', e => { e.preventDefault();
			e.returnValue = 'no' })</script>`, site: map[string]any{"x": `x`}, do: func(a *attempt) error {
			if err := a.click("#b"); err != nil {
				return err
			}
			_, err := a.p.Navigate(a.ctx, a.site+"x")
			return err
		}, url: "x"},
		{name: "print and file choosers are ignored", site: map[string]any{"x": `<input id=f type=file><script>print(); f.click(); say('on')</script>`}, do: to("x", 200), log: "on;"},
		{name: "permissions are denied", site: map[string]any{"x": `<script>navigator.geolocation.getCurrentPosition(() => say('given'), e => say(e.code))</script>`}, do: to("x", 200), log: "1;"},
		{name: "a page that hangs after its load event does not hold up the next",
			site: map[string]any{"x": `<script>onload = () => setTimeout(() => { for (;;); })</script>`, "y": `y`}, do: func(a *attempt) error {
				if _, err := a.p.Navigate(a.ctx, strings.Replace(a.site, "127.0.0.1", "localhost", 1)+"x"); err != nil {
					return err
				}
				_, err := a.p.Navigate(a.ctx, a.site+"y")
				return err
			}, url: "y"},
	})
}

func TestClickFollows(t *testing.T) {
	t.Parallel()
	next := map[string]any{"next": `<h1 id=h>there</h1><script>onload = () => say('loaded')</script>`}
	holds(t, []row{
		{name: "a link", html: `<a id=b href="next">x</a>`, site: next, url: "next", log: "loaded;"},
		{name: "a slow link", html: `<a id=b href="slow">x</a>`, site: map[string]any{"slow": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(400 * time.Millisecond):
			case <-r.Context().Done():
			}
			status(200, preamble+"<script>onload = () => say('loaded')</script>")(w, r)
		}}, url: "slow", log: "loaded;"},
		{name: "a fragment", html: `<a id=b href="#x">x</a>`, url: "#x"},
		{name: "a form", html: `<form action="next"><input type=hidden name=a value=1><button id=b>go</button></form>`, site: next, url: "next?a=1", log: "loaded;"},
		{name: "a posted form", html: `<form action="next" method=post><button id=b>go</button></form>`, site: next, url: "next", log: "loaded;"},
		{name: "location set by a handler", html: `<button id=b onclick="location='next'">j</button>`, site: next, url: "next", log: "loaded;"},
		{name: "pushState and then location in one handler", html: `<button id=b onclick="history.pushState(0, '', 'p'); location='next'">j</button>`, site: next, url: "next", log: "loaded;"},
		{name: "location and then pushState in one handler", html: `<button id=b onclick="location='next'; history.pushState(0, '', 'p')">j</button>`, site: next, url: "next", log: "loaded;"},
		{name: "pushState alone", html: `<button id=b onclick="history.pushState(0, '', 'p')">j</button>`, url: "p"},
		{name: "replaceState and the hash", html: `<button id=b onclick="history.replaceState(0, '', 'p'); location.hash='h'">j</button>`, url: "p#h"},
		{name: "history.back to another page", html: `<a id=b href="next">x</a>`, site: map[string]any{"next": `<button id=b onclick="history.back()">x</button>`}, do: func(a *attempt) error {
			if err := a.click("#b"); err != nil {
				return err
			}
			return a.click("#b")
		}, url: "./"},
		{name: "a redirect on the way", html: `<a id=b href="r">x</a>`, site: map[string]any{"r": redirect("next"), "next": next["next"]}, url: "next", log: "loaded;"},
		{name: "a page that goes on by itself", html: `<a id=b href="r">x</a>`, site: map[string]any{"r": `<script>location.replace('next')</script>`, "next": next["next"]}, url: "next", log: "loaded;"},
		{name: "window.open into the same window", html: `<button id=b onclick="window.open('next', '_self')">x</button>`, site: next, url: "next", log: "loaded;"},
		{name: "a popup is not followed, and told of", html: `<a id=b href="next" target=_blank>x</a>`, site: next, url: "./", warns: "the page opened a popup"},
		{name: "No Content leaves the page", html: `<a id=b href="n">x</a>`, site: map[string]any{"n": status(204, "")}, url: "./"},
		{name: "a download leaves the page", html: `<a id=b href="f">x</a>`, site: map[string]any{"f": file}, url: "./"},
		{name: "a mailto link leaves the page", html: `<a id=b href="mailto:a@b.c">x</a>`, url: "./"},
		{name: "a javascript link", html: `<a id=b href="javascript:void say('js')">x</a>`, log: "js;"},
		{name: "an HTTP error is a warning", html: `<a id=b href="e">x</a>`, site: map[string]any{"e": status(500, "<h1>oh</h1>")}, url: "e", warns: "answered with HTTP status 500"},
		{name: "what cannot be reached", html: `<a id=b href="http://127.0.0.1:18998/">x</a>`, code: routine.CodeNavigationFailed, words: "the connection was refused"},
		{name: "what the policy refuses", html: `<a id=b href="http://192.0.2.1/">x</a>`, code: routine.CodeEgressDenied, words: "192.0.2.1"},
		{name: "a page that never answers", html: `<a id=b href="n">x</a>`, site: map[string]any{"n": silence}, do: func(a *attempt) error {
			ctx, cancel := context.WithCancel(a.ctx)
			defer cancel()
			go func() {
				_ = a.p.waitFor(ctx, func(s navState) (bool, error) { return s.current != "", nil })
				cancel()
			}()
			_, err := a.p.Click(ctx, click("#b"))
			return err
		}, code: routine.CodeTimeout, words: "/n, which did not answer"},
		{name: "a renderer that crashes", html: b + `>x</button>`, do: func(a *attempt) error {
			_, _ = a.p.Navigate(a.ctx, "chrome://crash")
			return a.click("#b")
		}, code: routine.CodeBrowserCrashed, words: "crashed"},
	})
}

func TestWaitForURL(t *testing.T) {
	t.Parallel()
	until := func(suffix string) func(*attempt) error {
		return func(a *attempt) error {
			_, err := a.p.WaitURL(a.ctx, func(u string) (bool, error) { return strings.HasSuffix(u, suffix), nil })
			return err
		}
	}
	holds(t, []row{
		{name: "the URL that is there", html: `<p>x</p>`, do: until("/"), url: "./"},
		{name: "pushState later", html: `<script>setTimeout(() => history.pushState(0, '', 'p?q=1'), 150)</script>`, do: until("p?q=1"), url: "p?q=1"},
		{name: "a hash later", html: `<script>setTimeout(() => location.hash = 'h', 150)</script>`, do: until("#h"), url: "#h"},
		{name: "another page later", html: `<script>setTimeout(() => location = 'next', 150)</script>`, site: map[string]any{"next": `x`}, do: until("/next"), url: "next"},
		{name: "history.back later", html: `<script>location.hash = 'a'; setTimeout(() => location.hash = 'b', 150);
			const later = () => setTimeout(() => history.back())</script>`, do: func(a *attempt) error {
			if err := until("#b")(a); err != nil {
				return err
			}
			eval(a.t, a.p, `(() => { later() })()`)
			return until("#a")(a)
		}, url: "#a"},
	})
}

// A page that never finishes loading is used as it is after a time limit: its style
// sheet does not come, or its body does not end. A body that breaks off does not
// wait for the limit.
func TestNavigateUnfinished(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{}, 10)
	url := site(t, map[string]any{
		"/sub": `<img src="/hang"><button id=b onclick="this.id='done'">b</button>`, "/hang": silence,
		"/body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><button id=b onclick="this.id='done'">b</button>`+strings.Repeat(" ", 4096))
			_ = http.NewResponseController(w).Flush()
			silence(w, r)
		},
		"/broken": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Length", "10000")
			fmt.Fprint(w, `<!doctype html><button id=b onclick="this.id='done'">b</button><img src="/seen">`+strings.Repeat(" ", 4096))
			_ = http.NewResponseController(w).Flush()
			select { // a browser may drop what it has not parsed when the body breaks off
			case <-seen:
			case <-r.Context().Done():
			}
		},
		"/seen": func(http.ResponseWriter, *http.Request) { seen <- struct{}{} },
	})
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := New(Config{Executable: kind.executable(t), Egress: shared.config.Egress})
			t.Cleanup(b.Close)
			for path, bound := range map[string]time.Duration{"/sub": 300 * time.Millisecond, "/body": 300 * time.Millisecond, "/broken": 2 * testTime} {
				b.loadBound = bound
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
		})
	}
}
