package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"rote/routine"
)

// Limits of a connection to the outside.
const (
	dialTime   = 10 * time.Second
	idleTime   = 90 * time.Second
	headerTime = 10 * time.Second
)

// Proxy is the one way out of a run. Its port is the run's identity.
type Proxy struct {
	policy    *Policy
	listener  net.Listener
	server    *http.Server
	transport *http.Transport
	done      sync.WaitGroup

	mu      sync.Mutex
	denials []Denial
	tunnels map[net.Conn]bool
	closed  bool
}

// Denial is a request that the policy refused.
type Denial struct {
	Host, Reason string
}

// maxDenials are kept of a run, so that a page cannot fill our memory.
const maxDenials = 100

// Listen starts a proxy on a loopback port.
func Listen(policy *Policy) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{policy: policy, listener: l, tunnels: map[net.Conn]bool{}}
	p.transport = &http.Transport{DialContext: p.dial, DisableCompression: true, MaxIdleConnsPerHost: 6, IdleConnTimeout: idleTime}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.In.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as the page wrote it, also where Go cannot parse it
		},
		Transport:     p.transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		// No answer at all, rather than one of ours: it would look like the
		// site's own.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = &http.Server{ReadHeaderTimeout: headerTime, ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect:
			p.tunnel(w, r)
		case r.URL.Scheme == "http" && r.URL.Host != "":
			forward.ServeHTTP(w, r)
		default:
			http.Error(w, "this is a proxy", http.StatusBadRequest)
		}
	})}
	p.done.Go(func() { _ = p.server.Serve(l) })
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// dial connects to the outside. The policy judges the name first and then, in
// the dialler's control hook, each address that is about to be connected to.
func (p *Proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	allowed, denied := p.policy.named(host, port)
	if denied {
		return nil, p.deny(address, "it is denied")
	}
	d := net.Dialer{Timeout: dialTime, ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !strings.HasPrefix(network, "tcp") {
			return fmt.Errorf("%s address %q", network, address)
		}
		if err := p.policy.dial(to, allowed); err != nil {
			return &refusal{err.Error()}
		}
		return nil
	}}
	conn, err := d.DialContext(ctx, network, address)
	var r *refusal
	if errors.As(err, &r) {
		return nil, p.deny(address, r.reason)
	}
	return conn, err
}

// refusal carries the policy's reason through the dialler.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func (p *Proxy) deny(host, reason string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.denials) < maxDenials {
		p.denials = append(p.denials, Denial{host, reason})
	}
	return errors.New(reason)
}

// Denials counts the refused requests so far.
func (p *Proxy) Denials() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.denials)
}

// DeniedSince is the first refusal after a count, as the error of the operation
// that caused it.
func (p *Proxy) DeniedSince(count int) (*routine.Error, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if count >= len(p.denials) {
		return nil, false
	}
	d := p.denials[count]
	return routine.Errorf(routine.CodeEgressDenied, "the egress policy refuses %s: %s; the operator can allow it with --allow-host", d.Host, d.Reason), true
}

// tunnel carries a CONNECT: TLS and WebSocket traffic, whose content we do not
// see.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	out, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, "no connection", http.StatusBadGateway)
		return
	}
	defer out.Close()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer in.Close()
	if !p.hold(in, out) {
		return
	}
	defer p.drop(in, out)
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { copyThenClose(out, buffered) })
	both.Go(func() { copyThenClose(in, out) })
	both.Wait()
}

// copyThenClose ends the direction when its source does, so that the other side
// sees the end.
func copyThenClose(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
}

// hold remembers hijacked connections, which the server no longer closes; false
// when the proxy is closed already.
func (p *Proxy) hold(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	for _, c := range conns {
		p.tunnels[c] = true
	}
	p.done.Add(1)
	return true
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.tunnels, c)
	}
	p.done.Done()
}

// Close ends the proxy and every connection through it, and waits for them.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	for c := range p.tunnels {
		_ = c.Close()
	}
	p.mu.Unlock()
	_ = p.server.Close()
	p.transport.CloseIdleConnections()
	p.done.Wait()
}
