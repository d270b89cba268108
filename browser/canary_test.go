package browser

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/browser/egress"
	"rote/routine"
)

// firewalled is a gateway of which browsers reach nothing but its port, at another address of this
// machine than the one that it listens on. With onlyProxy set, they reach it only with requests
// to a proxy.
func firewalled(t *testing.T, onlyProxy bool) *egress.Gateway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("this machine has no second loopback address: ", err)
	}
	g, err := egress.ListenGateway("127.0.0.1:0", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { forward(in, g.Addr().String(), onlyProxy) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); g.Close(); work.Wait() })
	return g
}

// forward carries a connection to an address, unless it begins with a request to a server and only
// those to a proxy are let through.
func forward(in net.Conn, to string, onlyProxy bool) {
	defer in.Close()
	first := make([]byte, 64)
	n, _ := in.Read(first)
	if onlyProxy && bytes.Contains(first[:n], []byte(" /")) {
		return
	}
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	_, _ = out.Write(first[:n])
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
	_, _ = io.Copy(out, in)
	_ = out.Close()
	back.Wait()
}

// rewriting is a connection to a browser to which rote sends another text than it wants.
type rewriting struct {
	cdp.Transport
	from, to string
}

func (r rewriting) Write(messages ...[]byte) error {
	changed := make([][]byte, len(messages))
	for i, m := range messages {
		changed[i] = bytes.ReplaceAll(m, []byte(r.from), []byte(r.to))
	}
	return r.Transport.Write(changed...)
}

// The verification of a browser does not depend on a port that a firewall may close. Where requests
// that get past a proxy could not be noticed, the browser is not verified.
func TestVerificationBehindFirewall(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, executable string, _ bool) {
		address := listening(t, executable, chromium.FlagsElsewhere("127.0.0.2"))
		for _, row := range []struct {
			name       string
			onlyProxy  bool
			from, to   string // replaced in messages to the browser
			unverified bool
			words      string // of the error; empty if it may be used
		}{
			{name: "only the gateway can be reached"},
			{name: "some requests get past the proxy", from: `"<-loopback>"`, to: `"<-loopback>;127.0.0.2"`, words: "came past its proxy"},
			{name: "HTTPS gets past the proxy", from: `"proxyServer":"http://`, to: `"proxyServer":"http=http://`, words: "do not reach its proxy: https://"},
			{name: "requests to a server are not let through", onlyProxy: true, words: "(fetch, socket, image, prefetch) did not reach rote"},
			{name: "unverified", onlyProxy: true, unverified: true},
		} {
			t.Run(row.name, func(t *testing.T) {
				e := &elsewhere{url: address, home: t.TempDir(), far: true}
				if row.from != "" {
					e.between = func(t cdp.Transport) cdp.Transport { return rewriting{t, row.from, row.to} }
				}
				b := New(Config{Egress: shared.config.Egress.WithOwnReservations(), Warm: 1, Gateway: firewalled(t, row.onlyProxy), Unverified: row.unverified})
				defer b.Close()
				b.launcher = e
				p, err := b.Open(testContext(t), routine.PageOptions{})
				if row.words != "" {
					wantCode(t, err, routine.CodeBrowserUnavailable, row.words)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if got := p.(*tabs).first.i.unverified.Load(); got != row.unverified {
					t.Errorf("unverified is %v", got)
				}
			})
		}
	})
}

// A browser of which it is not known whether it confines its pages is not called confined.
func TestJudgeNamesWhatIsUnknown(t *testing.T) {
	b := New(Config{Egress: shared.config.Egress})
	t.Cleanup(b.Close)
	err := b.judge(&instance{}, chromium.FlagFaults{}, leaks{unseen: []string{"fetch"}}, "127.0.0.1")
	if err == nil || !strings.Contains(err.Error(), "cannot be verified") || strings.Contains(err.Error(), "not confined") {
		t.Error(err)
	}
}

// Only the address at which a browser is now stays reserved, however often it moves.
func TestBrowserThatMoves(t *testing.T) {
	host := strings.TrimPrefix(site(t, map[string]any{"/": "x"}), "http://")
	policy := shared.config.Egress.WithOwnReservations()
	b, other := New(Config{Egress: policy}), New(Config{Egress: policy})
	t.Cleanup(b.Close)
	t.Cleanup(other.Close)
	at := func(b *Browser, address string) {
		t.Helper()
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.reserve(a); err != nil {
			t.Fatal(err)
		}
	}
	denied := func(want bool) {
		t.Helper()
		proxy, err := egress.Listen(policy, egress.Limits{}) // a proxy keeps connections that it has made
		if err != nil {
			t.Fatal(err)
		}
		defer proxy.Close()
		transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy.Addr()})}
		defer transport.CloseIdleConnections()
		if r, err := (&http.Client{Transport: transport}).Get("http://" + host + "/"); err == nil {
			_ = r.Body.Close()
		}
		if got := proxy.Refused() > 0; got != want {
			t.Errorf("denied is %v", got)
		}
	}
	denied(false)
	at(b, host)
	at(b, host)
	at(other, host)
	denied(true)
	at(b, "192.0.2.1:9222")
	denied(true) // the other one is still there
	at(other, "192.0.2.2:9222")
	denied(false)
	at(b, host)
	denied(true)
}
