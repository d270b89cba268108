package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/browser/egress"
	"rote/routine"
)

// testGateway is a gateway on loopback. Its browsers could reach ports of loopback as well, and
// must not.
func testGateway(t *testing.T) *egress.Gateway {
	t.Helper()
	g, err := egress.ListenGateway("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// farAway is a browser that rote has not started and that reaches the proxies of its runs
// through a gateway only.
func farAway(t *testing.T, executable string, policy *egress.Policy) *Browser {
	t.Helper()
	b := New(Config{Egress: policy, Warm: 1, Gateway: testGateway(t)})
	beSlow(b)
	b.launcher = &elsewhere{url: listening(t, executable, chromium.FlagsElsewhere("127.0.0.1")), home: t.TempDir(), far: true}
	t.Cleanup(b.Close)
	return b
}

func listed(t *testing.T, hosts ...string) *egress.Policy {
	t.Helper()
	policy, err := egress.NewPolicy(egress.Listed, hosts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// What holds of a browser of ours holds of one that rote has not started: no way out of a page
// reaches what the policy denies.
func TestPagesOfOtherBrowsersReachNoForbiddenAddress(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, executable string, full bool) {
		rs := forbidden(t, len(ways))
		home := leavers(t, rs)
		b := farAway(t, executable, listed(t, strings.TrimPrefix(home, "http://")))
		leaveInVain(t, b, home, rs, full, *whole)
	})
}

// Pages of a browser behind the gateway look and behave like those of a browser of ours.
func TestPagesBehindTheGateway(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, executable string, _ bool) {
		b := farAway(t, executable, shared.config.Egress.WithOwnReservations())
		t.Run("prime leaves no trace", func(t *testing.T) { primeLeavesNoTrace(t, executable, b) })
		t.Run("no network without credentials", func(t *testing.T) { noNetworkWithoutCredentials(t, b) })
		t.Run("the browser's own port", func(t *testing.T) { noWayToTheBrowser(t, b) })
		t.Run("unreachable gateway", func(t *testing.T) { unreachableGateway(t, b) })
		t.Run("sites get no credentials", func(t *testing.T) { sitesGetNoCredentials(t, b) })
	})
}

// untouchedPage is what a page can see of its own history.
const untouchedPage = `JSON.stringify({length: history.length, state: history.state, referrer: document.referrer, at: location.href.replace(/[0-9]+/g, 'N'),
	entries: navigation.entries().map(e => e.index), activation: navigation.activation && navigation.activation.navigationType,
	resources: performance.getEntriesByType('resource').length, navigations: performance.getEntriesByType('navigation').map(n => [n.type, n.redirectCount]),
	ancestors: location.ancestorOrigins.length, opener, name, visible: document.visibilityState, focus: document.hasFocus()})`

// A page sees nothing of the request that has given its proxy the credentials: it looks like
// one of a browser of ours. Sites see none of the credentials either, nor does an author who
// looks at the requests.
func primeLeavesNoTrace(t *testing.T, executable string, far *Browser) {
	var mu sync.Mutex
	var credentials []string
	page := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		credentials = append(credentials, slices.Concat(r.Header["Proxy-Authorization"], r.Header["Authorization"])...)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><script>go = async () => (await fetch('/data')).text()</script>`)
	}
	refused := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }
	base := site(t, map[string]any{"/": page, "/data": page, "/refused": refused})
	ours := New(Config{Executable: executable, Egress: shared.config.Egress, Warm: 1})
	t.Cleanup(ours.Close)
	var seen [2][]string
	for n, b := range []*Browser{ours, far} {
		p := mustOpenWith(t, b, routine.PageOptions{Watch: true})
		look := func() {
			v, err := cdp.Evaluate(testContext(t), p, proto.RuntimeEvaluate{Expression: untouchedPage})
			if err != nil {
				t.Fatal(err)
			}
			seen[n] = append(seen[n], string(v.Value))
		}
		look()
		if s := p.now(); s.requests != 0 || s.navigating() || s.failure != "" || s.lastStarted != "" {
			t.Errorf("the page's own record begins with %+v", s)
		}
		if _, err := p.Navigate(testContext(t), base+"/"); err != nil {
			t.Fatal(err)
		}
		look()
		eval(t, p, `go()`)
		log, err := p.tabs.Requests(testContext(t), 0)
		if err != nil || len(log.Requests) != 1 {
			t.Fatalf("%d requests on record, %v", len(log.Requests), err)
		}
		if _, password := p.proxy.Credentials(); strings.Contains(fmt.Sprint(log), "Proxy-Auth") || password != "" && strings.Contains(fmt.Sprint(log), password) {
			t.Error("the credentials are in the record of the requests")
		}
		// A site cannot make the browser forget the credentials.
		if r, err := p.Fetch(testContext(t), routine.Fetch{URL: base + "/refused", Method: "GET"}, 1000); err == nil && r.Status != http.StatusProxyAuthRequired {
			t.Error("a site that answers 407: ", r.Status)
		}
		if r, err := p.Fetch(testContext(t), routine.Fetch{URL: base + "/", Method: "GET"}, 1000); err != nil || r.Status != 200 {
			t.Error("after a site has answered 407: ", r.Status, err)
		}
	}
	for k, want := range seen[0] {
		if seen[1][k] != want {
			t.Errorf("a page of the other browser sees\n%s, one of ours\n%s", seen[1][k], want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(credentials) > 0 {
		t.Errorf("the site got %q", credentials)
	}
}

// A context that has not given the credentials has no network, and is not used.
func noNetworkWithoutCredentials(t *testing.T, b *Browser) {
	hits := forbidden(t, 1)[0]
	i := mustOpen(t, b).i
	proxy, err := b.openProxy(i, b.config.Egress)
	if err != nil {
		t.Fatal(err)
	}
	p := blankPage(b, i, proxy)
	if err := p.open(testContext(t), "http://"+proxy.Addr()); err != nil {
		t.Fatal(err)
	}
	gone, err := cdp.Call[proto.PageNavigateResult](testContext(t), p, proto.PageNavigate{URL: "http://" + hits.tcp.String()})
	if err != nil || proxy.Refused() != 0 || hits.total() != 0 {
		t.Errorf("%+v, %v: %d connections, %d requests judged", gone, err, hits.total(), proxy.Refused())
	}
	proxy.Disconnect() // the credentials are no longer valid
	if err := p.prime(testContext(t), primeTime); routine.CodeOf(err) != routine.CodeBrowserUnavailable || !strings.Contains(err.Error(), "--egress-address") {
		t.Error("primed without valid credentials: ", err)
	}
	if err := p.disposeContext(); err != nil {
		t.Error(err)
	}
}

// A page does not reach the port through which rote drives its browser.
func noWayToTheBrowser(t *testing.T, b *Browser) {
	at := b.launcher.(*elsewhere).RemoteAddr().String()
	_, err := mustOpen(t, b).Navigate(testContext(t), "http://"+at+"/json/version")
	wantCode(t, err, routine.CodeEgressDenied, "it belongs to rote")
}

// A browser whose packets to the gateway vanish gets no runs, and the error says why.
func unreachableGateway(t *testing.T, b *Browser) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	g, err := egress.ListenGateway("127.0.0.1:0", silent.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	proxy, err := g.Open(b.config.Egress, egress.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p := blankPage(b, mustOpen(t, b).i, proxy)
	if err := p.open(testContext(t), "http://"+proxy.Addr()); err != nil {
		t.Fatal(err)
	}
	err = p.prime(testContext(t), 100*time.Millisecond)
	wantCode(t, err, routine.CodeBrowserUnavailable, "cannot reach --egress-address "+silent.Addr().String())
	if err := p.disposeContext(); err != nil {
		t.Error(err)
	}
}

// A site that asks for credentials gets none, as on a browser of ours.
func sitesGetNoCredentials(t *testing.T, b *Browser) {
	rows := []row{
		{name: "a page", site: members, do: goes("", "in", 401), then: `who.textContent`, is: `"who are you?"`},
		{name: "a page with credentials", site: members, do: goes("ada:byron@", "member", 200), then: `who.textContent`, is: `"ada"`},
		{name: "a fetch", html: `-`, site: members, do: fetches("in", "", 401, "who are you?"), then: `1`, is: `1`},
		{name: "a frame", html: `<iframe src=CROSS/in onload="say('loaded')"></iframe>`, site: members, do: untouched, log: "loaded;"},
		{name: "a worker's fetch", html: `<script>new Worker('worker.js').onmessage = e => say(e.data)</script>`, site: members, do: untouched, log: "401;"},
	}
	base := site(t, map[string]any{"/": func(w http.ResponseWriter, r *http.Request) { serveRow(w, r, rows) }})
	for i := range rows {
		t.Run(rows[i].name, func(t *testing.T) { rows[i].hold(t, b, fmt.Sprintf("%s/%d/", base, i)) })
	}
}

// liar is a connection to a browser that reports other flags than it has.
type liar struct{ cdp.Transport }

func (l liar) Read() ([]byte, error) {
	b, err := l.Transport.Read()
	if _, rest, found := bytes.Cut(b, []byte(`"commandLine":"`)); found {
		_, rest, _ = bytes.Cut(rest, []byte(`"`))
		line, _ := json.Marshal("/usr/bin/chromium " + strings.Join(chromium.FlagsElsewhere("127.0.0.1"), " ") + " about:blank")
		before, _, _ := bytes.Cut(b, []byte(`"commandLine":"`))
		b = slices.Concat(before, []byte(`"commandLine":`), line, rest)
	}
	return b, err
}

// secretive is a connection to a browser that does not tell its flags.
type secretive struct{ cdp.Transport }

func (s secretive) Read() ([]byte, error) {
	b, err := s.Transport.Read()
	if bytes.Contains(b, []byte(`"commandLine":"`)) {
		answer, _ := cdp.Decode[struct{ ID int }](b)
		b = fmt.Appendf(nil, `{"id":%d,"error":{"code":-32601,"message":"'SystemInfo.getInfo' wasn't found"}}`, answer.ID)
	}
	return b, err
}

// A browser without the flags is refused, and so is one that says it has them. With
// Unverified it may be used unless something gets past the proxy, and is marked.
func TestUnconfinedBrowsersAreRefused(t *testing.T) {
	t.Parallel()
	all := chromium.FlagsElsewhere("127.0.0.1")
	without := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(f string) bool { return strings.HasPrefix(f, "--"+name) })
	}
	lies := func(t cdp.Transport) cdp.Transport { return liar{t} }
	tellsNothing := func(t cdp.Transport) cdp.Transport { return secretive{t} }
	for _, row := range []struct {
		name       string
		flags      []string
		between    func(cdp.Transport) cdp.Transport
		unverified bool
		marked     bool     // runs on it are marked as unverified
		whole      bool     // tried with -whole alone
		words      []string // of the error; none if it may be used
	}{
		{name: "no flags", flags: []string{"--headless=new"}, words: []string{"--site-per-process", "--disable-quic", "--proxy-bypass-list",
			"--webrtc-ip-handling-policy", "--force-webrtc-ip-handling-policy", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", `"rote browser flags"`}},
		{name: "one that lies", flags: []string{"--headless=new"}, between: lies,
			words: []string{"whatever its flags say", "came past its proxy", "WebRTC", "looks up names"}},
		{name: "one that lies about WebRTC", flags: slices.DeleteFunc(without("webrtc"), func(f string) bool { return strings.HasPrefix(f, "--force-webrtc") }),
			between: lies, words: []string{"WebRTC"}, whole: true},
		{name: "one that lies about the resolver", flags: without("host-resolver-rules"), between: lies, words: []string{"looks up names"}, whole: true},
		{name: "a forbidden flag", flags: append(slices.Clone(all), "--disable-web-security"), words: []string{"--disable-web-security"}, whole: true},
		{name: "one that does not tell its flags", flags: all, between: tellsNothing, words: []string{"does not tell with which flags"}, whole: true},
		{name: "unverified", flags: without("site-per-process"), unverified: true, marked: true},
		{name: "unverified, looks up names and does not tell its flags", flags: without("host-resolver-rules"),
			between: tellsNothing, unverified: true, marked: true},
		{name: "unverified, and nothing confines it", flags: []string{"--headless=new"}, unverified: true, whole: true, words: []string{"came past its proxy"}},
		{name: "verified", flags: all, unverified: true, whole: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.whole {
				onlyWhole(t)
			}
			t.Parallel()
			b := New(Config{Egress: shared.config.Egress.WithOwnReservations(), Warm: 1, Gateway: testGateway(t), Unverified: row.unverified})
			t.Cleanup(b.Close)
			b.launcher = &elsewhere{url: listening(t, "", row.flags), home: t.TempDir(), far: true, between: row.between}
			p, err := b.Open(testContext(t), routine.PageOptions{})
			if len(row.words) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if got := p.(*tabs).first.i.unverified.Load(); got != row.marked {
					t.Errorf("unverified is %v", got)
				}
				return
			}
			wantCode(t, err, routine.CodeBrowserUnavailable, "")
			for _, w := range row.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not mention %q", err, w)
				}
			}
		})
	}
}

// A browser on another machine is not used without a way to its proxies, nor one of a kind
// that cannot be verified.
func TestBrowsersThatCannotBeConfined(t *testing.T) {
	b := New(Config{Egress: shared.config.Egress, Unverified: true})
	t.Cleanup(b.Close)
	if err := b.verify(t.Context(), &instance{process: &elsewhere{far: true}}); err == nil || !strings.Contains(err.Error(), "--egress-listen") {
		t.Errorf("on another machine: %v", err)
	}
	type unknown struct{ process }
	if err := b.verify(t.Context(), &instance{process: unknown{}}); err == nil || !strings.Contains(err.Error(), "cannot be verified") {
		t.Errorf("of an unknown kind: %v", err)
	}
}
