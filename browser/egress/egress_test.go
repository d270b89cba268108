package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"rote/routine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func policy(t *testing.T, mode Mode, allow, deny []string) *Policy {
	t.Helper()
	p, err := NewPolicy(mode, allow, deny)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPolicy(t *testing.T) {
	for _, r := range []struct {
		name        string
		mode        Mode
		allow, deny []string
		host, addr  string // addr is what host resolves to, with port
		want        bool
	}{
		{"public address", Public, nil, nil, "a.test", "93.184.216.34:443", true},
		{"public address, odd port", Public, nil, nil, "a.test", "93.184.216.34:8443", false},
		{"loopback", Public, nil, nil, "a.test", "127.0.0.1:80", false},
		{"all of loopback", Public, nil, nil, "a.test", "127.9.9.9:80", false},
		{"private", Public, nil, nil, "a.test", "10.1.2.3:80", false},
		{"carrier-grade NAT", Public, nil, nil, "a.test", "100.64.0.1:80", false},
		{"link-local, metadata services", Public, nil, nil, "a.test", "169.254.169.254:80", false},
		{"unspecified", Public, nil, nil, "a.test", "0.0.0.0:80", false},
		{"multicast", Public, nil, nil, "a.test", "224.0.0.1:80", false},
		{"IPv6 loopback", Public, nil, nil, "a.test", "[::1]:80", false},
		{"IPv6 unique local", Public, nil, nil, "a.test", "[fd00::1]:80", false},
		{"IPv6 link-local with zone", Public, nil, nil, "a.test", "[fe80::1%eth0]:80", false},
		{"IPv4-mapped loopback", Public, nil, nil, "a.test", "[::ffff:127.0.0.1]:80", false},
		{"IPv4-mapped private", Public, nil, nil, "a.test", "[::ffff:10.0.0.1]:80", false},
		{"NAT64 of loopback", Public, nil, nil, "a.test", "[64:ff9b::7f00:1]:80", false},
		{"6to4 of loopback", Public, nil, nil, "a.test", "[2002:7f00:1::]:80", false},
		{"public IPv6", Public, nil, nil, "a.test", "[2606:2800:220:1:248:1893:25c8:1946]:443", true},
		{"an allowed name covers a private address", Public, []string{"in.test"}, nil, "in.test", "10.1.2.3:8080", true},
		{"in another case and with a dot", Public, []string{"In.Test."}, nil, "iN.tEST.", "10.1.2.3:8080", true},
		{"another name at that address", Public, []string{"in.test"}, nil, "out.test", "10.1.2.3:80", false},
		{"names below", Public, []string{"*.in.test"}, nil, "a.b.in.test", "10.1.2.3:80", true},
		{"the name above them", Public, []string{"*.in.test"}, nil, "in.test", "10.1.2.3:80", false},
		{"a name that only ends alike", Public, []string{"*.in.test"}, nil, "evilin.test", "10.1.2.3:80", false},
		{"an allowed port", Public, []string{"127.0.0.1:8080"}, nil, "127.0.0.1", "127.0.0.1:8080", true},
		{"another port of it", Public, []string{"127.0.0.1:8080"}, nil, "127.0.0.1", "127.0.0.1:8081", false},
		{"a range", Public, []string{"10.0.0.0/8"}, nil, "a.test", "10.1.2.3:8080", true},
		{"a range, mapped", Public, []string{"10.0.0.0/8"}, nil, "a.test", "[::ffff:10.1.2.3]:8080", true},
		{"denied name", Any, nil, []string{"bad.test"}, "bad.test", "93.184.216.34:443", false},
		{"denied address", Any, nil, []string{"93.184.216.34"}, "a.test", "93.184.216.34:443", false},
		{"denied, mapped", Any, nil, []string{"93.184.216.34"}, "a.test", "[::ffff:93.184.216.34]:443", false},
		{"deny wins", Public, []string{"a.test"}, []string{"a.test"}, "a.test", "93.184.216.34:443", false},
		{"a denied range wins over an allowed name", Public, []string{"a.test"}, []string{"10.0.0.0/8"}, "a.test", "10.1.1.1:443", false},
		{"listed", Listed, []string{"a.test"}, nil, "a.test", "93.184.216.34:443", true},
		{"not listed", Listed, []string{"a.test"}, nil, "b.test", "93.184.216.34:443", false},
		{"any", Any, nil, nil, "a.test", "127.0.0.1:22", true},
	} {
		p := policy(t, r.mode, r.allow, r.deny)
		to := netip.MustParseAddrPort(r.addr)
		allowed, denied := p.named(r.host, fmt.Sprint(to.Port()))
		if got := !denied && p.dial(to, allowed) == nil; got != r.want {
			t.Errorf("%s: %v, want %v", r.name, got, r.want)
		}
	}
}

func TestRulesThatMeanNothing(t *testing.T) {
	for _, text := range []string{"", "*", "*.", "http://a.test", "a.test/x", "a b", "a.test:port", "a.test:0", "a.test:70000", "user@a.test", "a.*.test"} {
		if _, err := NewPolicy(Public, []string{text}, nil); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	if _, err := NewPolicy("open", nil, nil); err == nil {
		t.Error("mode open was taken")
	}
}

// sink is a server that counts what reaches it.
func sink(t *testing.T, handle http.HandlerFunc) (string, *atomic.Int64) {
	t.Helper()
	var hits atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hits.Add(1); handle(w, r) }))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), &hits
}

func through(t *testing.T, p *Policy) (*Proxy, *http.Client) {
	t.Helper()
	proxy, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy.Addr()})}
	t.Cleanup(transport.CloseIdleConnections)
	return proxy, &http.Client{Transport: transport}
}

func TestProxyForwards(t *testing.T) {
	host, _ := sink(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %q %q", r.Method, r.URL, r.Host, body, r.Header["Proxy-Connection"], r.Header["X-Forwarded-For"])
	})
	_, client := through(t, policy(t, Listed, []string{host}, nil))
	r, err := client.Post("http://"+host+"/p?q=1&a=2;3&z=100%", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); string(text) != "POST /p?q=1&a=2;3&z=100% "+host+" body [] []" {
		t.Fatalf("%s", text)
	}
}

func TestProxyRefuses(t *testing.T) {
	host, hits := sink(t, func(http.ResponseWriter, *http.Request) {})
	proxy, client := through(t, policy(t, Public, nil, nil))
	if r, err := client.Get("http://" + host + "/"); err == nil {
		t.Fatal("answered: ", r.Status)
	}
	conn, err := net.Dial("tcp", proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", host)
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "502") {
		t.Fatal(line, err)
	}
	if hits.Load() != 0 {
		t.Fatalf("%d requests reached the sink", hits.Load())
	}
	if n := proxy.Denials(); n != 2 {
		t.Fatalf("%d denials on record", n)
	}
	e, ok := proxy.DeniedSince(1)
	if !ok || e.Code != routine.CodeEgressDenied || !strings.Contains(e.Message, host) {
		t.Fatal(e)
	}
	if _, ok := proxy.DeniedSince(2); ok {
		t.Fatal("a denial that was not")
	}
}

// A redirect is the client's next request, judged like the first.
func TestProxyJudgesRedirects(t *testing.T) {
	secret, hits := sink(t, func(http.ResponseWriter, *http.Request) {})
	host, _ := sink(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+secret+"/", http.StatusFound)
	})
	_, client := through(t, policy(t, Listed, []string{host}, nil))
	if _, err := client.Get("http://" + host + "/"); err == nil || hits.Load() != 0 {
		t.Fatal(err, hits.Load())
	}
}

func TestProxyTunnels(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.Copy(c, c)
	}()
	proxy, _ := through(t, policy(t, Listed, []string{l.Addr().String()}, nil))
	conn, err := net.Dial("tcp", proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\nearly", l.Addr())
	in := bufio.NewReader(conn)
	for line := ""; line != "\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprint(conn, " and late")
	echo := make([]byte, len("early and late"))
	if _, err := io.ReadFull(in, echo); err != nil || string(echo) != "early and late" {
		t.Fatalf("%q %v", echo, err)
	}
	proxy.Close()
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Fatal("the tunnel outlives the proxy: ", err)
	}
}

func TestProxyIsNoServer(t *testing.T) {
	proxy, _ := through(t, policy(t, Any, nil, nil))
	r, err := http.Get("http://" + proxy.Addr() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusBadRequest {
		t.Fatal(r.Status)
	}
	http.DefaultClient.CloseIdleConnections()
}
