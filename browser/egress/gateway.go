package egress

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of connections that have not given valid credentials yet. Anybody who reaches the
// listener can open such connections.
const (
	// maxTries is how many requests without valid credentials a connection may make.
	maxTries = 3
	// maxUnidentified is how many such connections may be open. With one more, the oldest of those
	// from the address that has the most of them is closed.
	maxUnidentified = 256
	// identifyTimeout is how long a connection may wait with each of its tries.
	identifyTimeout = 30 * time.Second
)

// Gateway is one listener for the proxies of many runs, for browsers that cannot reach a port
// of this machine's loopback. The credentials of a request identify its run. A request without
// valid credentials is answered with status 407, and nothing of it is forwarded.
type Gateway struct {
	listener net.Listener
	address  string // as the browsers see it

	ctx        context.Context // canceled by Close
	cancel     context.CancelFunc
	goroutines sync.WaitGroup

	mu sync.Mutex
	// proxies are those that are open, by the user of their credentials.
	proxies map[string]*Proxy
	// unidentified are the connections without valid credentials so far.
	unidentified []net.Conn // the oldest first
}

// ListenGateway listens on an address of this machine. The browsers reach it at the other
// address, a host and port; empty if that is the same.
func ListenGateway(listen, address string) (*Gateway, error) {
	if _, _, err := net.SplitHostPort(address); address != "" && err != nil {
		return nil, fmt.Errorf("the address for browsers, HOST:PORT: %w", err)
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	if address == "" {
		address = l.Addr().String()
	}
	g := &Gateway{listener: l, address: address, proxies: map[string]*Proxy{}}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.goroutines.Go(func() { acceptAll(g.ctx, l, g.accepted) })
	return g, nil
}

// Addr returns the address on which the gateway listens.
func (g *Gateway) Addr() net.Addr { return g.listener.Addr() }

// Reserve denies the addresses of the gateway to all runs under the policy.
func (g *Gateway) Reserve(policy *Policy) error {
	return errors.Join(policy.Reserve(g.listener.Addr().String()), policy.Reserve(g.address))
}

// Hosts returns the host that the gateway listens on, and the one at which browsers reach it.
func (g *Gateway) Hosts() (listens, reached string) {
	listens, _, _ = net.SplitHostPort(g.listener.Addr().String())
	reached, _, _ = net.SplitHostPort(g.address)
	return listens, reached
}

// Open returns a new proxy, with credentials that are valid until its Disconnect or Close.
func (g *Gateway) Open(policy *Policy, limits Limits) (*Proxy, error) {
	p := newProxy(policy, limits)
	p.entry = &entry{gateway: g, user: rand.Text()[:16], password: rand.Text(), primeHost: strings.ToLower(rand.Text()) + ".invalid"}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		p.cancel()
		return nil, fmt.Errorf("the listener for browsers elsewhere: %w", net.ErrClosed)
	}
	g.proxies[p.entry.user] = p
	return p, nil
}

// Close closes the listener, all connections and all proxies that are still open, and waits
// for their goroutines.
func (g *Gateway) Close() {
	_ = g.listener.Close()
	g.mu.Lock()
	g.cancel()
	var open []*Proxy
	for _, p := range g.proxies {
		open = append(open, p)
	}
	for _, c := range g.unidentified {
		_ = c.Close()
	}
	g.mu.Unlock()
	for _, p := range open {
		p.Close()
	}
	g.goroutines.Wait()
}

// entry is how the requests of a run find its proxy at a gateway.
type entry struct {
	gateway        *Gateway
	user, password string
	// primeHost is the host of the request that makes the browser use the credentials.
	primeHost string
	primed    atomic.Bool
}

// Credentials returns the user and the password that requests to the proxy need. They are
// empty for a proxy with a port of its own, which needs none.
func (p *Proxy) Credentials() (user, password string) {
	if p.entry == nil {
		return "", ""
	}
	return p.entry.user, p.entry.password
}

// PrimeURL returns a URL that the proxy itself answers, once, with status 204 and nothing
// else. A browser that opens it learns that it needs the credentials.
func (p *Proxy) PrimeURL() string { return "http://" + p.entry.primeHost + "/" }

// Primed reports whether PrimeURL was requested with the credentials.
func (p *Proxy) Primed() bool { return p.entry.primed.Load() }

// isPrime reports whether a request is the one of PrimeURL, the first time. Later ones are
// requests like all others, so that no page learns from an answer that it is behind a proxy.
func (p *Proxy) isPrime(q *http.Request) bool {
	return p.entry != nil && q.Method == http.MethodGet && q.Host == p.entry.primeHost && p.entry.primed.CompareAndSwap(false, true)
}

// accepts reports whether a request has the credentials of the proxy, if it needs any.
func (p *Proxy) accepts(q *http.Request) bool {
	if p.entry == nil {
		return true
	}
	user, password := credentialsOf(q)
	return subtle.ConstantTimeCompare([]byte(user), []byte(p.entry.user))&subtle.ConstantTimeCompare([]byte(password), []byte(p.entry.password)) == 1
}

// credentialsOf returns the credentials of a request to a proxy; empty if it has none.
func credentialsOf(q *http.Request) (user, password string) {
	user, password, _ = (&http.Request{Header: http.Header{"Authorization": q.Header["Proxy-Authorization"]}}).BasicAuth()
	return user, password
}

// find returns the proxy that a request has the credentials of; nil if there is none.
func (g *Gateway) find(q *http.Request) *Proxy {
	user, _ := credentialsOf(q)
	g.mu.Lock()
	p := g.proxies[user]
	g.mu.Unlock()
	if p == nil || !p.accepts(q) {
		return nil
	}
	return p
}

// remove makes the credentials of a proxy invalid.
func (g *Gateway) remove(p *Proxy) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.proxies, p.entry.user)
}

// accepted serves a new connection in the background.
func (g *Gateway) accepted(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		_ = conn.Close()
		return
	}
	g.unidentified = append(g.unidentified, conn)
	if len(g.unidentified) > maxUnidentified {
		g.closeUnidentified()
	}
	g.goroutines.Go(func() { g.serve(conn) })
}

// closeUnidentified closes the oldest connection from the address that has the most of those
// without valid credentials, so that a stranger delays no browser. g.mu is held.
func (g *Gateway) closeUnidentified() {
	counts := map[string]int{}
	source := func(c net.Conn) string {
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		return host
	}
	most := ""
	for _, c := range g.unidentified {
		host := source(c)
		if counts[host]++; counts[host] > counts[most] {
			most = host
		}
	}
	n := slices.IndexFunc(g.unidentified, func(c net.Conn) bool { return source(c) == most })
	_ = g.unidentified[n].Close()
	g.unidentified = slices.Delete(g.unidentified, n, n+1)
}

// serve reads requests until one has the credentials of a proxy, which serves the connection
// from then on.
func (g *Gateway) serve(conn net.Conn) {
	c := newBrowserConn(conn)
	p, q := g.identify(c)
	g.mu.Lock()
	if n := slices.Index(g.unidentified, conn); n >= 0 {
		g.unidentified = slices.Delete(g.unidentified, n, n+1)
	}
	g.mu.Unlock()
	if p == nil || !p.adopt(conn) {
		_ = conn.Close()
		return
	}
	defer p.goroutines.Done()
	p.serve(c, q)
}

// identify returns the first request with the credentials of a proxy, and that proxy. It
// returns nil if the connection must be closed.
func (g *Gateway) identify(c *browserConn) (*Proxy, *http.Request) {
	for try := 1; try <= maxTries; try++ {
		_ = c.conn.SetReadDeadline(time.Now().Add(identifyTimeout))
		q, err := c.readRequest()
		if err != nil {
			c.refuseInvalid(err, g.noteDirect)
			return nil, nil
		}
		if p := g.find(q); p != nil {
			return p, q
		}
		if !c.askForCredentials(q, try == maxTries) {
			return nil, nil
		}
	}
	return nil, nil
}

// adopt adds a connection of the gateway, whose goroutine the caller reports as done. It
// returns false if the proxy is closed.
func (p *Proxy) adopt(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.conns[conn] = true
	p.goroutines.Add(1)
	return true
}

// askForCredentials answers a request that lacks valid credentials. It returns false if the
// connection must be closed: it was the last try, or its body would have to be read.
func (c *browserConn) askForCredentials(q *http.Request, last bool) bool {
	last = last || q.Close || q.ContentLength != 0
	connection := "keep-alive"
	if last {
		connection = "close"
	}
	_, err := io.WriteString(c.conn, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"rote\"\r\n"+
		"Content-Length: 0\r\nConnection: "+connection+"\r\n\r\n")
	return err == nil && !last
}

// refuseInvalid answers a request that is not one to a proxy, and calls note with its path.
func (c *browserConn) refuseInvalid(err error, note func(path string)) {
	var direct notProxiedError
	if errors.As(err, &direct) { // otherwise an answer would look like one of the site
		note(direct.path)
		_, _ = io.WriteString(c.conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nthis is a proxy\n")
	}
}
