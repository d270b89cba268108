package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/routine"
)

// remoteEndpoint starts a browser that a pool can connect to and returns its endpoint.
func remoteEndpoint(t *testing.T, executable, options string) Endpoint {
	t.Helper()
	return endpointAt(t, listening(t, executable, chromium.FlagsElsewhere("127.0.0.1")), options)
}

func endpointAt(t *testing.T, url, options string) Endpoint {
	t.Helper()
	e, err := ParseEndpoint(url+"#"+options, "")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// testPool connects to endpoints. Its members notice failures soon.
func testPool(t *testing.T, endpoints ...Endpoint) *Pool {
	t.Helper()
	p := newPool(Config{Egress: shared.config.Egress, Warm: 1}, endpoints)
	for _, m := range p.members {
		if l, ok := m.browser.launcher.(*remoteLauncher); ok {
			l.options = cdp.SocketOptions{PingInterval: 100 * time.Millisecond, PingAnswer: time.Second}
		}
		beSlow(m.browser)
		m.browser.lifetime.forget = 200 * time.Millisecond
	}
	t.Cleanup(p.Close)
	p.start()
	return p
}

// openIn opens a page in a pool.
func openIn(t *testing.T, p *Pool) *page {
	t.Helper()
	opened, err := p.Open(testContext(t), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	return opened.(*tabs).first
}

// A run on a browser elsewhere is like one on a browser of ours. Its files need a directory that
// both share.
func TestRemoteBrowser(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, executable string, _ bool) {
		url := listening(t, executable, chromium.FlagsElsewhere("127.0.0.1"))
		pages := site(t, map[string]any{"/form": form, "/": `<a id=b href=f>x</a>`, "/f": sends("a.csv", "text/csv", "a,b")})
		for name, row := range map[string]struct{ options, words string }{
			"with a shared directory":    {"downloads=" + t.TempDir(), ""},
			"without a shared directory": {"", "add #downloads=DIRECTORY"},
		} {
			t.Run(name, func(t *testing.T) {
				p := openIn(t, testPool(t, endpointAt(t, url, row.options)))
				formTask(t, p, pages+"/form")
				a := &attempt{t: t, p: p, ctx: testContext(t)}
				if _, err := p.Navigate(testContext(t), pages+"/"); err != nil {
					t.Fatal(err)
				}
				err := brings("a.csv text/csv a,b")(a)
				if row.words == "" && err != nil {
					t.Fatal(err)
				}
				if row.words != "" {
					wantCode(t, err, routine.CodeBrowserUnavailable, row.words)
				}
			})
		}
	})
}

func TestParseEndpoint(t *testing.T) {
	for text, want := range map[string]string{
		"local":         "local",
		"local#slots=3": "local",
		"ws://h:1/devtools/browser/x?token=hidden":         "ws://h:1 4",
		"wss://user:hidden@h/#slots=7":                     "wss://h 7",
		"wss://h/{token}/x":                                "wss://h 4",
		"wss://user:{token}@h/x":                           "wss://h 4",
		"wss://{token}.h/x":                                "error: no address of a browser",
		"wss://h:1?a={token}":                              "wss://h:1 4",
		"http://h:9222/#slots=2&downloads=/srv/downloads/": "http://h:9222 2 /srv/downloads",
		"wss://h/?token={token}":                           "wss://h 4",
		"h:9222":                                           "error: no address of a browser",
		"ftp://h":                                          "error: no address of a browser",
		"ws://":                                            "error: no address of a browser",
		"ws://h#slots=0":                                   "error: slots=0: write a whole number",
		"ws://h#slots=many":                                "error: slots=many: write a whole number",
		"ws://h#downloads=here":                            "error: absolute path",
		"local#downloads=/here":                            "error: only for a browser elsewhere",
		"ws://h#speed=9":                                   "error: there is no option speed",
		"ws://h#slots=%zz":                                 "error: cannot be read",
	} {
		e, err := ParseEndpoint(text, "hidden/token")
		got := strings.TrimSpace(fmt.Sprintf("%s %d %s", e.Name, e.Slots, e.downloads))
		if e.Name == LocalEndpoint {
			got = e.Name
		}
		if words, bad := strings.CutPrefix(want, "error: "); bad {
			got = want
			if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "hidden") {
				got = fmt.Sprint(err)
			}
		} else if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if _, err := ParseEndpoint("wss://h/{token}", ""); err == nil || !strings.Contains(err.Error(), "ROTE_BROWSER_TOKEN") {
		t.Error(err)
	}
	if e, err := ParseEndpoint("wss://u:{token}@h/{token}/x?token={token}", "a &/b"); err != nil || e.address.Query().Get("token") != "a &/b" ||
		e.address.Path != "/a &/b/x" || e.address.User.String() != "u:a%20&%2Fb" {
		t.Error(e, err)
	}
}

// A breaker opens after three failures, for longer and longer while attempts fail.
func TestBreaker(t *testing.T) {
	b, now := &breaker{}, time.Now()
	fail := func(want time.Duration) {
		t.Helper()
		b.failed(now)
		if got := b.wait(now); got != want {
			t.Fatalf("it waits %v, want %v", got, want)
		}
		now = now.Add(max(want, time.Second))
	}
	fail(0)
	fail(0)
	now = now.Add(breakerWindow) // the two no longer count
	fail(0)
	fail(0)
	for _, want := range []time.Duration{5, 10, 20, 40, 80, 120, 120} {
		fail(want * time.Second)
	}
	b.succeeded(now)
	if b.wait(now) != 0 {
		t.Fatal("open after a success")
	}
	now = now.Add(time.Second)
	fail(0)
	fail(0)
	fail(maxBreakerDelay) // again so soon
	b.succeeded(now)
	now = now.Add(2 * breakerWindow)
	fail(0)
	fail(0)
	fail(breakerDelay)
}
