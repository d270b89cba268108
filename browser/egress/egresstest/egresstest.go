// Package egresstest has the names and the servers that a hostile site would
// use against an egress policy, on loopback.
package egresstest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// TwoSides are a server on 127.0.0.2, which counts as public, and one
// on 127.0.0.1 at the same port, which nothing may reach.
func TwoSides(t testing.TB) (port string, public, secret *Counted) {
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

// Counted counts the connections that a listener takes; each is served HTTP.
type Counted struct {
	net.Listener
	mu sync.Mutex
	n  int
}

// Accept takes a connection.
func (c *Counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.mu.Lock()
		c.n++
		c.mu.Unlock()
	}
	return conn, err
}

// Connections is how many it has taken.
func (c *Counted) Connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func count(t testing.TB, l net.Listener) *Counted {
	t.Helper()
	c := &Counted{Listener: l}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "served")
	})}
	done := make(chan struct{})
	go func() { _ = s.Serve(c); close(done) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return c
}

// Names starts a name server on loopback. answers returns the addresses of a name
// for the nth look-up, from 0. The returned function says how often a name was
// looked up.
func Names(t testing.TB, answers func(name string, n int) []string) (*net.Resolver, func(string) int) {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[string]int{}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
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
