package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"rote/routine"
)

// names is a name server on loopback. answers gives the addresses of a name for
// the nth look-up, from 0.
func names(t *testing.T, answers func(name string, n int) []string) (*net.Resolver, func(string) int) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[string]int{}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var q dnsmessage.Message
			if q.Unpack(buffer[:n]) != nil || len(q.Questions) != 1 {
				continue
			}
			q.Response = true
			question := q.Questions[0]
			q.Additionals = nil
			if question.Type == dnsmessage.TypeA {
				name := strings.TrimSuffix(question.Name.String(), ".")
				mu.Lock()
				addresses := answers(name, asked[name])
				asked[name]++
				mu.Unlock()
				for _, a := range addresses {
					q.Answers = append(q.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: question.Name, Class: question.Class},
						Body: &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()}})
				}
			}
			packed, err := q.Pack()
			if err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	count := func(name string) int { mu.Lock(); defer mu.Unlock(); return asked[name] }
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}, count
}

// twoSides are a server on 127.0.0.2, which stands for the public one, and one
// on 127.0.0.1 at the same port, which nothing may reach.
func twoSides(t *testing.T) (port string, public, secret *counted) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	other, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Fatal(err)
	}
	return port, count(t, other), count(t, l)
}

// counted counts the connections that a listener takes; each is served HTTP.
type counted struct {
	net.Listener
	mu sync.Mutex
	n  int
}

func (c *counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.mu.Lock()
		c.n++
		c.mu.Unlock()
	}
	return conn, err
}

func (c *counted) connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func count(t *testing.T, l net.Listener) *counted {
	t.Helper()
	c := &counted{Listener: l}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "served")
	})}
	done := make(chan struct{})
	go func() { _ = s.Serve(c); close(done) }()
	t.Cleanup(func() { s.Close(); <-done })
	return c
}

// A name that resolves to an allowed address first and to loopback afterwards
// passes once and no more: what is judged is what is dialled.
func TestRebinding(t *testing.T) {
	port, public, secret := twoSides(t)
	resolver, asked := names(t, func(_ string, n int) []string {
		if n == 0 {
			return []string{"127.0.0.2"}
		}
		return []string{"127.0.0.1"}
	})
	proxy, client := through(t, policy(t, Listed, []string{"127.0.0.2"}, nil).WithResolver(resolver))
	r, err := client.Get("http://rebind.test:" + port + "/")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	for range 3 {
		if r, err := client.Get("http://rebind.test:" + port + "/"); err == nil {
			t.Fatal("answered: ", r.Status)
		}
	}
	if asked("rebind.test") < 4 || public.connections() != 1 || secret.connections() != 0 {
		t.Fatalf("%d look-ups, %d connections to the allowed side, %d to the other", asked("rebind.test"), public.connections(), secret.connections())
	}
	if d := proxy.Denials(); len(d) != 1 || d[0].Address != "127.0.0.1" || d[0].Host != "rebind.test:"+port {
		t.Fatal(d)
	}
}

// Of a name with several addresses only the allowed ones are connected to, in
// whatever order they come.
func TestMixedAnswers(t *testing.T) {
	port, public, secret := twoSides(t)
	resolver, _ := names(t, func(name string, _ int) []string {
		switch name {
		case "first.test":
			return []string{"127.0.0.2", "127.0.0.1"}
		case "last.test":
			return []string{"127.0.0.1", "127.0.0.2"}
		}
		return []string{"127.0.0.1", "10.0.0.1", "169.254.169.254"}
	})
	_, client := through(t, policy(t, Listed, []string{"127.0.0.2"}, nil).WithResolver(resolver))
	for _, name := range []string{"first.test", "last.test"} {
		r, err := client.Get("http://" + name + ":" + port + "/")
		if err != nil {
			t.Fatal(name, err)
		}
		r.Body.Close()
	}
	if _, err := client.Get("http://none.test:" + port + "/"); err == nil {
		t.Fatal("none.test was answered")
	}
	if public.connections() != 2 || secret.connections() != 0 {
		t.Fatalf("%d connections to the allowed side, %d to the other", public.connections(), secret.connections())
	}
}

// A name that can't be allowed is not looked up: the look-up itself would carry
// data to the name's owner.
func TestRefusedNamesAreNotLookedUp(t *testing.T) {
	resolver, asked := names(t, func(string, int) []string { return []string{"127.0.0.1"} })
	narrow, err := policy(t, Public, nil, nil).WithResolver(resolver).Narrow([]string{"shop.test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Policy{
		policy(t, Listed, []string{"shop.test"}, nil).WithResolver(resolver), narrow,
		policy(t, Any, nil, []string{"*.evil.test"}).WithResolver(resolver),
	} {
		if _, err := p.dial(t.Context(), "tcp", "data.evil.test:80"); routine.CodeOf(err) != routine.CodeEgressDenied {
			t.Fatal(err)
		}
	}
	if n := asked("data.evil.test"); n != 0 {
		t.Fatalf("%d look-ups", n)
	}
}

// However loopback is written, nothing connects to it.
func TestSpellingsOfLoopback(t *testing.T) {
	port, _, secret := twoSides(t)
	for _, mode := range []Mode{Public, Listed} {
		proxy, client := through(t, policy(t, mode, nil, nil))
		for _, host := range []string{
			"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.01",
			"127.000.000.001", "0", "0.0.0.0", "127.0.0.1.", "127.1.", "localhost", "LOCALHOST", "localhost.", "sub.localhost",
			"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]",
			"[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "[::1%25lo]", "[::1%25]", "127。0。0。1", "１２７.0.0.1", "①②⑦.⓪.⓪.①", "loc%61lhost", "ip6-localhost", "127.0.0.1%00", "127.0.0.1.nip.test",
		} {
			if r, err := client.Get("http://" + host + ":" + port + "/"); err == nil {
				t.Errorf("%s: %s was answered: %s", mode, host, r.Status)
			}
			_, in := rawConn(t, proxy, "CONNECT %s:%s HTTP/1.1\r\nHost: x\r\n\r\n", host, port)
			if line, _ := in.ReadString('\n'); strings.Contains(line, "200") {
				t.Errorf("%s: CONNECT %s: %s", mode, host, line)
			}
		}
	}
	if n := secret.connections(); n != 0 {
		t.Fatalf("%d connections reached loopback", n)
	}
}
