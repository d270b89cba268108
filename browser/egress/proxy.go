package egress

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"rote/routine"
)

// Limits restrict the traffic of one run; zero values mean no limit.
type Limits struct {
	// Bytes is the total of both directions, including the bytes of TLS.
	Bytes int64
	// Time starts with the first request of the browser.
	Time time.Duration
}

// Proxy is the only way from a run to the network. Its port identifies the run, or the
// credentials of each request do, if the proxy is one of a [Gateway].
type Proxy struct {
	limits        Limits
	policy        atomic.Pointer[Policy]
	listener      net.Listener // nil if entry is set
	entry         *entry       // at the gateway; nil for a proxy with a port of its own
	transport     *http.Transport
	denials       denials
	failures      failures
	transferred   atomic.Int64
	blockPrefetch atomic.Bool     // reject prefetch requests
	directPath    string          // of DirectURL
	ctx           context.Context // canceled by Close
	cancel        context.CancelFunc
	goroutines    sync.WaitGroup

	mu          sync.Mutex
	conns       map[net.Conn]bool
	timer       *time.Timer // for Limits.Time
	connecting  func(host string) (ended func(error))
	limitReason string // the limit that was exceeded; all further requests are denied
	// directRequests are those of DirectRequests.
	directRequests []string
}

// Listen starts a proxy on a loopback port.
func Listen(policy *Policy, limits Limits) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := newProxy(policy, limits)
	p.listener = l
	p.goroutines.Go(p.accept)
	return p, nil
}

// newProxy returns a proxy without a listener.
func newProxy(policy *Policy, limits Limits) *Proxy {
	p := &Proxy{limits: limits, conns: map[net.Conn]bool{}, directPath: "/" + rand.Text() + "/"}
	p.policy.Store(policy)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.transport = &http.Transport{DialContext: p.dial, DisableCompression: true, MaxIdleConnsPerHost: 6, IdleConnTimeout: idleTimeout}
	return p
}

// Addr returns the address at which the browser reaches the proxy.
func (p *Proxy) Addr() string {
	if p.entry != nil {
		return p.entry.gateway.address
	}
	return p.listener.Addr().String()
}

// Narrow restricts the run to these hosts, in addition to the policy so far. It
// must be called before the run's first request.
func (p *Proxy) Narrow(hosts []string) error {
	narrow, err := p.policy.Load().Narrow(hosts)
	if err == nil {
		p.policy.Store(narrow)
	}
	return err
}

// SetTime replaces the Time of the proxy's Limits. It must be called before the run's first
// request.
func (p *Proxy) SetTime(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits.Time = limit
}

// Observe sets what is called with each host and port to which the run wants to connect; nil
// calls nothing. What it returns is called when that has succeeded or failed. It must be called
// before the run's first request.
func (p *Proxy) Observe(connecting func(host string) (ended func(error))) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connecting = connecting
}

// FetchAhead sets whether prefetch requests (Sec-Purpose: prefetch) are
// allowed, which the browser makes for documents that it does not need yet. The
// browser offers no way to turn them off. In TLS traffic they cannot be
// recognized. They are allowed by default.
func (p *Proxy) FetchAhead(may bool) { p.blockPrefetch.Store(!may) }

// Denials returns the requests that were denied since the last call.
func (p *Proxy) Denials() []routine.Denial { return p.denials.takeAll() }

// Refused returns the number of denied requests so far.
func (p *Proxy) Refused() int {
	p.denials.mu.Lock()
	defer p.denials.mu.Unlock()
	return p.denials.total
}

// Denied reports whether the host of an http or https URL was denied, and
// returns the error for the operation that needed it.
func (p *Proxy) Denied(rawURL string) (*routine.Error, bool) {
	host, ok := hostOf(rawURL)
	if !ok {
		return nil, false
	}
	if d, ok := p.checkLimit(host); ok {
		return deniedError(d), true
	}
	d, ok := p.denials.latest(host)
	if !ok {
		return nil, false
	}
	return deniedError(d), true
}

// hostOf returns the host and port of an http or https URL.
func hostOf(rawURL string) (string, bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(routine.CanonicalHost(u.Hostname()), port), true
}

// dial connects to a server and counts the bytes of the connection.
func (p *Proxy) dial(ctx context.Context, network, address string) (_ net.Conn, err error) {
	p.mu.Lock()
	connecting := p.connecting
	p.mu.Unlock()
	if connecting != nil {
		ended := connecting(address)
		defer func() { ended(err) }()
	}
	if d, ok := p.checkLimit(address); ok {
		p.denials.add(d)
		return nil, deniedError(d)
	}
	policy := p.policy.Load()
	conn, err := policy.dial(ctx, network, address)
	var r *refusal
	if errors.As(err, &r) {
		p.denials.add(r.denial)
	} else {
		p.failures.record(address, err)
	}
	if err != nil {
		return nil, err
	}
	m := &countingConn{conn, p, address}
	if !p.addConn(m) {
		return nil, errors.Join(net.ErrClosed, m.Close())
	}
	_, over := p.checkLimit(address)
	if now := p.policy.Load(); over || now != policy && !now.allowsConnection(m) { // since the dial began
		return nil, errors.Join(net.ErrClosed, m.Close())
	}
	return m, nil
}

// checkLimit returns the denial for a host if the run has exceeded a limit.
func (p *Proxy) checkLimit(host string) (routine.Denial, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return routine.Denial{Host: host, Reason: p.limitReason, Count: 1}, p.limitReason != ""
}

// countingConn counts the bytes of a connection. It hides the connection's own
// ReadFrom and WriteTo methods, which would bypass the count.
type countingConn struct {
	net.Conn
	p       *Proxy
	address string
}

func (m *countingConn) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.p.count(n, m.address)
	return n, err
}

func (m *countingConn) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.p.count(n, m.address)
	return n, err
}

func (m *countingConn) CloseWrite() error { return m.Conn.(*net.TCPConn).CloseWrite() }

func (m *countingConn) Close() error {
	m.p.removeConn(m)
	return m.Conn.Close()
}

func (p *Proxy) count(n int, address string) {
	if moved := p.transferred.Add(int64(n)); p.limits.Bytes > 0 && moved > p.limits.Bytes {
		p.endByLimit(address, fmt.Sprintf("the run has moved more than %s (--max-traffic)", humanize.IBytes(uint64(p.limits.Bytes))))
	}
}

// endByLimit closes all connections of a run that has exceeded a limit and
// denies all its further requests.
func (p *Proxy) endByLimit(address, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limitReason != "" {
		return
	}
	p.limitReason = reason
	p.denials.add(routine.Denial{Host: address, Reason: reason, Count: 1})
	for c := range p.conns {
		_ = unwrapConn(c).Close()
	}
}

// unwrapConn returns a connection whose Close does not lock the proxy's mutex.
func unwrapConn(c net.Conn) net.Conn {
	if m, ok := c.(*countingConn); ok {
		return m.Conn
	}
	return c
}

// addConn adds a connection for Close to close. It returns false if the proxy
// is closed.
func (p *Proxy) addConn(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) removeConn(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// Disconnect closes all connections, and every further one at once. The port stays reserved
// until Close, so that no other proxy gets it while the browser still uses it for this run.
// Credentials become invalid.
func (p *Proxy) Disconnect() {
	if p.entry != nil {
		p.entry.gateway.remove(p)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancel()
	if p.timer != nil {
		p.timer.Stop()
	}
	for c := range p.conns {
		_ = unwrapConn(c).Close()
	}
}

// Close closes the proxy and all its connections and waits for its goroutines.
func (p *Proxy) Close() {
	p.Disconnect()
	if p.listener != nil {
		_ = p.listener.Close()
	}
	p.transport.CloseIdleConnections()
	p.goroutines.Wait()
}
