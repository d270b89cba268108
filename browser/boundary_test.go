package browser

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/browser/chromium"
	"rote/browser/egress"
	"rote/browser/egress/egresstest"
	"rote/routine"
)

// reached counts what arrives where nothing may: connections and packets.
type reached struct {
	tcp, udp     net.Addr
	conns, packs atomic.Int64
}

// forbidden are n places, so that it is known which one was reached.
func forbidden(t *testing.T, n int) []*reached {
	t.Helper()
	var listening sync.WaitGroup
	rs := make([]*reached, n)
	var closers []io.Closer
	t.Cleanup(func() {
		for _, c := range closers {
			_ = c.Close()
		}
		listening.Wait()
	})
	for i := range rs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		u, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		closers = append(closers, l, u)
		r := &reached{tcp: l.Addr(), udp: u.LocalAddr()}
		rs[i] = r
		listening.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				r.conns.Add(1)
				_ = c.Close()
			}
		})
		listening.Go(func() {
			for b := make([]byte, 2000); ; r.packs.Add(1) {
				if _, _, err := u.ReadFrom(b); err != nil {
					return
				}
			}
		})
	}
	return rs
}

func (r *reached) total() int64 { return r.conns.Load() + r.packs.Load() }

// leavers is a site whose pages try the ways out.
func leavers(t *testing.T, rs []*reached) string {
	answer := func(w http.ResponseWriter, kind, text string, args ...any) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprintf(w, text, args...)
	}
	to := func(r *http.Request) string { s, _ := url.QueryUnescape(r.URL.RawQuery); return s }
	return site(t, map[string]any{
		"/": "home",
		"/all": func(w http.ResponseWriter, _ *http.Request) {
			frames, left := "", 0
			for n, way := range ways {
				if !way.top {
					left++
					frames += fmt.Sprintf("<iframe src=/way?%d></iframe>", n)
				}
			}
			answer(w, "text/html", `<!doctype html><link rel=icon href="data:,"><body><script>let left = %d; var done = () => --left || history.replaceState(null, '', '#done')</script>%s`, left, frames)
		},
		"/way": func(w http.ResponseWriter, q *http.Request) {
			n, err := strconv.Atoi(q.URL.RawQuery)
			if err != nil || n >= len(ways) {
				http.NotFound(w, q)
				return
			}
			answer(w, "text/html", `<!doctype html><link rel=icon href="data:,"><body><script>
				const SINK = 'http://%[1]s', TLS = 'https://%[1]s', WS = 'ws://%[1]s', UDP = '%[2]s', HOME = location.origin;
				const add = (tag, set) => { const e = Object.assign(document.createElement(tag), set); document.body.append(e); return e };
				const gathered = p => new Promise(async r => { p.onicegatheringstatechange = () => p.iceGatheringState === 'complete' && r();
					if (!p.localDescription) { p.createDataChannel('y'); await p.setLocalDescription(await p.createOffer()) } });
				onload = async () => { try { %[3]s } catch (e) { console.log(e) } top.done() }
				var done = () => history.replaceState(null, '', '#done')</script>`, rs[n].tcp, rs[n].udp, ways[n].script)
		},
		"/to": func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, to(q), http.StatusFound) },
		"/worker.js": func(w http.ResponseWriter, q *http.Request) {
			answer(w, "text/javascript", `oninstall = e => e.waitUntil(fetch(%q, {mode: 'no-cors'}))`, to(q))
		},
		"/csp": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'none'; report-uri "+to(q))
			answer(w, "text/html", `<img src=/x>`)
		},
		"/xslt": func(w http.ResponseWriter, q *http.Request) {
			answer(w, "text/xml", `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="%s"?><a/>`, html.EscapeString(to(q)))
		},
	})
}

// eachBrowser tries the boundary on the headless shell, which reads some switches
// under other names, and with -whole on full Chromium.
func eachBrowser(t *testing.T, do func(t *testing.T, executable string, full bool)) {
	t.Helper()
	for _, path := range []string{"/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium"} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if filepath.Base(path) == "chromium" {
				onlyWhole(t)
			}
			if _, err := chromium.Find(path); err != nil {
				if filepath.Base(path) == "chromium" {
					skipFull(t)
				}
				if os.Getenv("CI") == "" {
					t.Skipf("%s is missing", path)
				}
				t.Fatal(err)
			}
			do(t, path, filepath.Base(path) == "chromium")
		})
	}
}

func withPolicy(t *testing.T, executable string, mode egress.Mode, allow ...string) *Browser {
	t.Helper()
	policy, err := egress.NewPolicy(mode, allow, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := New(Config{Executable: executable, Egress: policy, Warm: 1})
	t.Cleanup(b.Close)
	return b
}

// eventually waits for a condition.
func eventually(t *testing.T, within time.Duration, what string, done func() bool) bool {
	t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			if what != "" {
				t.Error("waited in vain for ", what)
			}
			return false
		}
	}
	return true
}

// leave opens the pages of all ways in the browser: one with most of them in frames,
// and one each for those that need a page of their own, unless alone is false. It calls told
// until every way that must be reported has been.
func leave(t *testing.T, b *Browser, home string, alone bool, told func(p *page, n int) bool, must func(way) bool) {
	t.Helper()
	visit := func(path string, of func(n int) bool) (unheard []int) {
		p := mustOpen(t, b)
		if _, err := p.Navigate(testContext(t), home+path); err != nil && routine.CodeOf(err) != routine.CodeEgressDenied && routine.CodeOf(err) != routine.CodeNavigationFailed {
			t.Fatal(path, err)
		}
		for n, w := range ways {
			if of(n) && must(w) && !eventually(t, 20*time.Second, "", func() bool { return told(p, n) }) {
				unheard = append(unheard, n)
			}
		}
		if strings.HasSuffix(path, fmt.Sprint(len(ways)-1)) {
			return unheard // it has gone to another page
		}
		if _, err := p.WaitURL(testContext(t), func(u string) (bool, error) { return strings.HasSuffix(u, "#done"), nil }); err != nil {
			t.Fatal(path, err)
		}
		p.Close()
		return unheard
	}
	// Of so many at once Chromium now and then leaves one out: then it has
	// another chance.
	certain := func(path string, of func(n int) bool) {
		unheard := visit(path, of)
		if len(unheard) > 0 {
			unheard = visit(path, func(n int) bool { return slices.Contains(unheard, n) })
		}
		for _, n := range unheard {
			t.Error("waited in vain for ", ways[n].name)
		}
	}
	certain("/all", func(n int) bool { return !ways[n].top })
	for n, w := range ways {
		if w.top && alone {
			certain(fmt.Sprintf("/way?%d", n), func(m int) bool { return m == n })
		}
	}
}

// No way out of a page reaches what the policy denies: not one connection, not
// one packet.
func TestPagesReachNoForbiddenAddress(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, executable string, full bool) {
		rs := forbidden(t, len(ways))
		home := leavers(t, rs)
		b := withPolicy(t, executable, egress.Listed, strings.TrimPrefix(home, "http://"))
		leaveInVain(t, b, home, rs, full, true)
	})
}

// leaveInVain tries the ways out, and wants none of them to get there.
func leaveInVain(t *testing.T, b *Browser, home string, rs []*reached, full, alone bool) {
	t.Helper()
	leave(t, b, home, alone, func(p *page, n int) bool { _, ok := p.proxy.Denied("http://" + rs[n].tcp.String()); return ok },
		func(w way) bool { return w.shows == everywhere || w.shows == inShell && !full })
	for n, r := range rs {
		if r.total() != 0 {
			t.Errorf("%s reached the other side: %d connections, %d packets", ways[n].name, r.conns.Load(), r.packs.Load())
		}
	}
}

// The control: where everything is allowed, the same scripts do arrive.
func TestWaysReachTheSinkWithoutTheProxy(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, executable string, _ bool) {
		rs := forbidden(t, len(ways))
		home := leavers(t, rs)
		leave(t, withPolicy(t, executable, egress.Any), home, true, func(_ *page, n int) bool { return rs[n].total() > 0 },
			func(w way) bool { return w.shows == everywhere })
	})
}

// A page cannot reach a forbidden address, no matter how the address is written.
func TestSpellingsOfAnAddress(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, executable string, _ bool) {
		r := forbidden(t, 1)[0]
		_, port, _ := net.SplitHostPort(r.tcp.String())
		list, _ := json.Marshal(spellings)
		home := site(t, map[string]any{"/": `<script>let left = 0; const end = () => --left || history.replaceState(null, '', '#done');
			for (const s of ` + string(list) + `) for (const scheme of ['http', 'https']) {
				left++; const i = new Image(); i.onload = i.onerror = end; i.src = scheme + '://' + s + ':` + port + `/'
			}</script>`})
		host := strings.TrimPrefix(home, "http://")
		browsers := map[string]*Browser{"listed": withPolicy(t, executable, egress.Listed, host), "public": withPolicy(t, executable, egress.Public, host)}
		if *whole {
			browsers["that rote did not start"] = farAway(t, executable, listed(t, host))
		}
		for mode, b := range browsers {
			p := mustOpen(t, b)
			if _, err := p.Navigate(testContext(t), home+"/"); err != nil {
				t.Fatal(err)
			}
			if _, err := p.WaitURL(testContext(t), func(u string) (bool, error) { return strings.HasSuffix(u, "#done"), nil }); err != nil {
				t.Fatal(err)
			}
			for _, s := range spellings[:4] { // images have tried them all
				if n, err := p.Navigate(testContext(t), "http://"+s+":"+port+"/"); err == nil {
					t.Errorf("%s: %s was opened: %+v", mode, s, n)
				}
			}
		}
		if r.total() != 0 {
			t.Errorf("%d connections got out", r.total())
		}
	})
}

// A site that moves its name to loopback once a page of it is open gets no
// further, and of a name with several addresses only the allowed ones are used.
func TestNamesThatMove(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, executable string, _ bool) {
		port, public, secret := egresstest.TwoSides(t)
		resolver, asked := egresstest.Names(t, func(name string, n int) []string {
			switch {
			case name == "mixed.test":
				return []string{"127.0.0.1", "127.0.0.2", "10.0.0.1"}
			case n == 0:
				return []string{"127.0.0.2"}
			}
			return []string{"127.0.0.1"}
		})
		policy, err := egress.NewPolicy(egress.Listed, []string{"127.0.0.2"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ours := New(Config{Executable: executable, Egress: policy.WithResolver(resolver), Warm: 1})
		t.Cleanup(ours.Close)
		browsers := map[string]*Browser{"moves.test": ours}
		if *whole {
			browsers["moves.elsewhere.test"] = farAway(t, executable, policy.WithResolver(resolver))
		}
		for moves, b := range browsers {
			p := mustOpen(t, b)
			for _, name := range []string{"mixed.test", moves} {
				if _, err := p.Navigate(testContext(t), "http://"+name+":"+port+"/"); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				_, err := p.Fetch(testContext(t), routine.Fetch{URL: "/again", Method: "GET"}, 1000)
				wantCode(t, err, routine.CodeEgressDenied, moves+":"+port+" (127.0.0.1)")
			}
		}
		if asked("moves.test") < 3 || public.Connections() == 0 || secret.Connections() != 0 {
			t.Fatalf("%d look-ups, %d connections to the allowed side, %d to the other", asked("moves.test"), public.Connections(), secret.Connections())
		}
	})
}
