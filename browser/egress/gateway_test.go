package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
)

// gateway is a gateway on loopback.
func gateway(t *testing.T) *Gateway {
	t.Helper()
	g, err := ListenGateway("127.0.0.1:0", "proxy.test:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// opened is a proxy of the gateway.
func opened(t *testing.T, g *Gateway, policy *Policy, limits Limits) *Proxy {
	t.Helper()
	p, err := g.Open(policy, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// with returns a client that uses the gateway with these credentials.
func with(t *testing.T, g *Gateway, user *url.Userinfo) *http.Client {
	t.Helper()
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", User: user, Host: g.Addr().String()})}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}

func login(p *Proxy) *url.Userinfo { return url.UserPassword(p.Credentials()) }

// statusOf is the status of a request, 0 if it got no answer.
func statusOf(c *http.Client, address string) int {
	r, err := c.Get("http://" + address)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return r.StatusCode
}

// Only the credentials of a run that is still open open its proxy, and no other.
func TestGatewayKnowsRunsByTheirCredentials(t *testing.T) {
	var forwarded atomic.Int64 // credentials that have left us
	one, hits := sink(t, func(_ http.ResponseWriter, r *http.Request) {
		forwarded.Add(int64(len(r.Header["Proxy-Authorization"])))
	})
	two, otherHits := sink(t, func(http.ResponseWriter, *http.Request) {})
	g := gateway(t)
	a := opened(t, g, policy(t, Listed, []string{one}, nil), Limits{})
	b := opened(t, g, policy(t, Listed, []string{two}, nil), Limits{})
	if a.Addr() != "proxy.test:1" {
		t.Errorf("the browser is told to use %s", a.Addr())
	}
	user, password := a.Credentials()
	if statusOf(with(t, g, login(a)), one) != 200 || hits.Load() != 1 || forwarded.Load() != 0 {
		t.Fatalf("with its credentials: %d requests arrived, want 1; %d had Proxy-Authorization", hits.Load(), forwarded.Load())
	}
	if statusOf(with(t, g, login(b)), one) == 200 || b.Refused() != 1 || a.Refused() != 0 {
		t.Error("the policy of another run held, or its denials were counted")
	}
	otherUser, otherPassword := b.Credentials()
	for name, c := range map[string]*url.Userinfo{
		"none": nil, "another password": url.UserPassword(user, otherPassword), "another user": url.UserPassword(otherUser, password),
		"no password": url.User(user), "a longer password": url.UserPassword(user, password+"x"), "empty": url.UserPassword("", ""),
	} {
		if got := statusOf(with(t, g, c), one); got != http.StatusProxyAuthRequired {
			t.Errorf("credentials %s: status %d, want 407", name, got)
		}
		if _, err := with(t, g, c).Get("https://" + one); err == nil || !strings.Contains(err.Error(), "Proxy Authentication Required") {
			t.Errorf("CONNECT with credentials %s: %v", name, err)
		}
	}
	open := with(t, g, login(a)) // its connection outlives the run
	if statusOf(open, one) != 200 {
		t.Fatal("the run has no network")
	}
	a.Disconnect()
	for _, c := range []*http.Client{open, with(t, g, login(a))} {
		if got := statusOf(c, one); got != http.StatusProxyAuthRequired {
			t.Errorf("after the run: status %d, want 407", got)
		}
	}
	if hits.Load() != 2 || otherHits.Load() != 0 {
		t.Errorf("%d and %d requests arrived, want 2 and 0", hits.Load(), otherHits.Load())
	}
	if statusOf(with(t, g, login(b)), two) != 200 {
		t.Error("the end of one run has ended another")
	}
}

// dialGateway opens a connection and writes to it.
func dialGateway(t *testing.T, g *Gateway, format string, args ...any) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", g.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, format, args...)
	return conn, bufio.NewReader(conn)
}

// A connection that guesses is closed, and one that has got in cannot become that of
// another run.
func TestGatewayClosesConnections(t *testing.T) {
	host, hits := sink(t, func(http.ResponseWriter, *http.Request) {})
	g := gateway(t)
	all := policy(t, Listed, []string{host}, nil)
	a, b := opened(t, g, all, Limits{}), opened(t, g, all, Limits{})
	get := "GET http://" + host + "/ HTTP/1.1\r\nHost: x\r\n"
	authorization := func(p *Proxy) string {
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(p.Credentials())
		return "Proxy-Authorization: " + r.Header.Get("Authorization") + "\r\n"
	}
	for _, row := range []struct {
		name, text string
		statuses   []int
	}{
		{"three guesses", strings.Repeat(get+"Proxy-Authorization: Basic eDp5\r\n\r\n", 4), []int{407, 407, 407}},
		{"a body", "POST http://" + host + "/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc" + get + "\r\n", []int{407}},
		{"a request to a server", "GET / HTTP/1.1\r\nHost: x\r\n\r\n" + get + "\r\n", []int{400}},
		{"a guess, then the credentials", get + "\r\n" + get + authorization(a) + "\r\n" + get + authorization(a) + "Connection: close\r\n\r\n",
			[]int{407, 200, 200}},
		{"the credentials, then none", get + authorization(a) + "\r\n" + get + "\r\n", []int{200, 407}},
		{"the credentials, then those of another run", get + authorization(a) + "\r\n" + get + authorization(b) + "\r\n", []int{200, 407}},
		{"no HTTP", "\x16\x03\x01\x00\x05hello\r\n\r\n", nil},
	} {
		before := hits.Load()
		_, in := dialGateway(t, g, "%s", row.text)
		arrived := int64(0)
		for _, want := range row.statuses {
			r, err := http.ReadResponse(in, nil)
			if err != nil || r.StatusCode != want {
				t.Fatalf("%s: %v %v, want %d", row.name, r, err, want)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if want == 200 {
				arrived++
			}
		}
		if rest, _ := io.ReadAll(in); len(rest) > 0 {
			t.Errorf("%s: the connection is still open: %q", row.name, rest)
		}
		if got := hits.Load() - before; got != arrived {
			t.Errorf("%s: %d requests arrived, want %d", row.name, got, arrived)
		}
	}
}

// The proxy answers its prime URL once, and nothing learns from it that there is a proxy.
func TestPrimeURLIsAnsweredOnce(t *testing.T) {
	g := gateway(t)
	p := opened(t, g, policy(t, Listed, nil, nil), Limits{Time: time.Hour})
	prime := strings.TrimSuffix(strings.TrimPrefix(p.PrimeURL(), "http://"), "/")
	if statusOf(with(t, g, nil), prime) != 407 || p.Primed() {
		t.Fatal("primed without credentials")
	}
	other := opened(t, g, policy(t, Listed, nil, nil), Limits{})
	if statusOf(with(t, g, login(other)), prime) == http.StatusNoContent || p.Primed() {
		t.Fatal("primed by another run")
	}
	if statusOf(with(t, g, login(p)), prime) != http.StatusNoContent || !p.Primed() {
		t.Fatal("not primed")
	}
	p.mu.Lock()
	started := p.timer != nil
	p.mu.Unlock()
	if started || p.Refused() != 0 {
		t.Error("the time of the run has started with the prime, or that counts as a denial")
	}
	if statusOf(with(t, g, login(p)), prime) == http.StatusNoContent || p.Refused() != 1 {
		t.Error("answered twice")
	}
}

// Close ends everything, and further proxies are refused.
func TestGatewayCloses(t *testing.T) {
	g := gateway(t)
	p, err := g.Open(policy(t, Any, nil, nil), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	_, in := dialGateway(t, g, "GET http://x/ HTTP/1.1\r\n\r\n") // waits for credentials
	if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != 407 {
		t.Fatal(r, err)
	}
	g.Close()
	if _, err := in.ReadByte(); err == nil {
		t.Error("a connection is still open")
	}
	if p.ctx.Err() == nil {
		t.Error("a proxy is still open")
	}
	if _, err := g.Open(policy(t, Any, nil, nil), Limits{}); err == nil {
		t.Error("a proxy was opened after Close")
	}
}

// Strangers that open more connections than there may be close only their own.
func TestGatewayBoundsStrangers(t *testing.T) {
	g := gateway(t)
	browser, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).Dial("tcp", g.Addr().String())
	if err != nil {
		t.Skip("this machine has no second loopback address: ", err)
	}
	defer browser.Close()
	_ = browser.SetDeadline(time.Now().Add(10 * time.Second))
	_, oldest := dialGateway(t, g, "")
	for range maxUnidentified {
		dialGateway(t, g, "")
	}
	if _, err := oldest.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest connection of the strangers is still open: %v", err)
	}
	fmt.Fprint(browser, "GET http://x/ HTTP/1.1\r\n\r\n")
	if r, err := http.ReadResponse(bufio.NewReader(browser), nil); err != nil || r.StatusCode != http.StatusProxyAuthRequired {
		t.Errorf("the browser's connection: %v %v, want 407", r, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.unidentified); n > maxUnidentified {
		t.Errorf("%d connections are open, want at most %d", n, maxUnidentified)
	}
}

// No rule allows what rote itself listens on, at whatever address of this machine.
func TestReservedAddresses(t *testing.T) {
	host, hits := sink(t, func(http.ResponseWriter, *http.Request) {})
	_, port, _ := net.SplitHostPort(host)
	for _, reserved := range []string{host, "0.0.0.0:" + port, "[::]:" + port} {
		all := policy(t, Any, []string{"127.0.0.0/8"}, nil)
		narrow, err := all.Narrow([]string{"127.0.0.1", "localhost", "0.0.0.0"})
		if err != nil {
			t.Fatal(err)
		}
		g := gateway(t)
		if err := errors.Join(all.Reserve(reserved), all.Reserve("browsers.internal:9222"), g.Reserve(all)); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{host, "localhost:" + port, "0.0.0.0:" + port, "127.0.0.1:" + port, "browsers.internal:9222", g.Addr().String()} {
			for _, p := range []*Policy{all, narrow} {
				if _, err := p.dial(t.Context(), "tcp", to); routine.CodeOf(err) != routine.CodeEgressDenied {
					t.Errorf("%s with %s reserved: %v", to, reserved, err)
				}
			}
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests arrived", hits.Load())
	}
	free := policy(t, Any, nil, nil)
	if err := free.Reserve("192.0.2.1:" + port); err != nil {
		t.Fatal(err)
	}
	c, err := free.dial(t.Context(), "tcp", host)
	if err != nil {
		t.Fatalf("the same port of another machine: %v", err)
	}
	_ = c.Close()
	narrow, err := free.Narrow([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(free.Reserve(host), free.Reserve(host), free.Release(host),
		free.Reserve("browsers.internal:9222"), free.Release("browsers.internal:9222")); err != nil {
		t.Fatal(err)
	}
	if _, err := narrow.dial(t.Context(), "tcp", host); routine.CodeOf(err) != routine.CodeEgressDenied {
		t.Errorf("reserved twice, released once: %v", err)
	}
	if err := free.Release(host); err != nil {
		t.Fatal(err)
	}
	if c, err = narrow.dial(t.Context(), "tcp", host); err != nil {
		t.Fatalf("released: %v", err)
	}
	_ = c.Close()
	if free.reserved.hasName(target{"browsers.internal", "9222"}) || len(free.reserved.addresses) != 1 || len(free.reserved.names) != 0 {
		t.Errorf("%v is left", free.reserved)
	}
}

// A site cannot make the browser believe that the proxy refuses its credentials.
func TestGatewayForwardsNoProxyStatus(t *testing.T) {
	host, hits := sink(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="rote"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	})
	g := gateway(t)
	p := opened(t, g, policy(t, Listed, []string{host}, nil), Limits{})
	if got := statusOf(with(t, g, login(p)), host); got != 0 || hits.Load() == 0 {
		t.Errorf("status %d, want no answer", got)
	}
	if why, ok := p.Failure("http://" + host); !ok || !strings.Contains(why, "407") {
		t.Errorf("the failure is %q", why)
	}
}
