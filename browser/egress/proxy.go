package egress

import (
	"context"
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

// Limits of what one run may move; the zero value of a field means no limit.
type Limits struct {
	// Bytes go to and come from the outside, those of TLS included.
	Bytes int64
	// Time begins with the first connection of the browser.
	Time time.Duration
}

// Proxy is the one way out of a run. Its port is the run's identity.
type Proxy struct {
	limits    Limits
	policy    atomic.Pointer[Policy]
	listener  net.Listener
	transport *http.Transport
	denials   denials
	failures  failures
	moved     atomic.Int64
	stayHere  atomic.Bool     // nothing is fetched ahead
	alive     context.Context // until Close
	end       context.CancelFunc
	done      sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	clock *time.Timer // of Limits.Time
	spent string      // the limit that was reached, from when on everything is refused
}

// Listen starts a proxy on a loopback port.
func Listen(policy *Policy, limits Limits) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{limits: limits, listener: l, conns: map[net.Conn]bool{}}
	p.policy.Store(policy)
	p.alive, p.end = context.WithCancel(context.Background())
	p.transport = &http.Transport{DialContext: p.dial, DisableCompression: true, MaxIdleConnsPerHost: 6, IdleConnTimeout: idleTime}
	p.done.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Narrow limits the run to hosts, within what it may reach so far. It is called
// before the run's first request.
func (p *Proxy) Narrow(hosts []string) error {
	narrow, err := p.policy.Load().Narrow(hosts)
	if err == nil {
		p.policy.Store(narrow)
	}
	return err
}

// FetchAhead tells whether requests may pass that the browser makes for a
// document it does not need yet (Sec-Purpose: prefetch), which it lets nobody
// stop. Inside of TLS they cannot be told from others. They may, at first.
func (p *Proxy) FetchAhead(may bool) { p.stayHere.Store(!may) }

// Denials are the refused requests since the last call.
func (p *Proxy) Denials() []routine.Denial { return p.denials.take() }

// Refused counts the refused requests so far.
func (p *Proxy) Refused() int {
	p.denials.mu.Lock()
	defer p.denials.mu.Unlock()
	return p.denials.total
}

// Denied tells whether the host of an http or https URL was refused, as the
// error of the operation that needed it.
func (p *Proxy) Denied(rawURL string) (*routine.Error, bool) {
	host, ok := hostOf(rawURL)
	if !ok {
		return nil, false
	}
	if d, ok := p.overLimit(host); ok {
		return denied(d), true
	}
	d, ok := p.denials.of(host)
	if !ok {
		return nil, false
	}
	return denied(d), true
}

// hostOf is the host and port that an http or https URL leads to.
func hostOf(rawURL string) (string, bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(canonical(u.Hostname()), port), true
}

// dial connects to the outside and counts what goes over the connection.
func (p *Proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d, ok := p.overLimit(address); ok {
		p.denials.add(d)
		return nil, denied(d)
	}
	conn, err := p.policy.Load().dial(ctx, network, address)
	var r *refusal
	if errors.As(err, &r) {
		p.denials.add(r.denial)
	} else {
		p.failures.note(address, err)
	}
	if err != nil {
		return nil, err
	}
	m := &metered{conn, p, address}
	if !p.hold(m) {
		return nil, errors.Join(net.ErrClosed, m.Close())
	}
	if _, over := p.overLimit(address); over { // meanwhile
		return nil, errors.Join(net.ErrClosed, m.Close())
	}
	return m, nil
}

// overLimit is why a host is refused to a run that has reached a limit.
func (p *Proxy) overLimit(host string) (routine.Denial, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return routine.Denial{Host: host, Reason: p.spent, Count: 1}, p.spent != ""
}

// metered counts the bytes of a connection to the outside. It hides the
// connection's own ways to copy, which would pass the count by.
type metered struct {
	net.Conn
	p       *Proxy
	address string
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.p.count(n, m.address)
	return n, err
}

func (m *metered) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.p.count(n, m.address)
	return n, err
}

func (m *metered) CloseWrite() error { return m.Conn.(*net.TCPConn).CloseWrite() }

func (m *metered) Close() error {
	m.p.drop(m)
	return m.Conn.Close()
}

func (p *Proxy) count(n int, address string) {
	if moved := p.moved.Add(int64(n)); p.limits.Bytes > 0 && moved > p.limits.Bytes {
		p.spend(address, fmt.Sprintf("the run has moved more than %s (--max-traffic)", humanize.IBytes(uint64(p.limits.Bytes))))
	}
}

// spend ends all connections of a run that has reached a limit, and refuses
// what it asks for from now on.
func (p *Proxy) spend(address, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spent != "" {
		return
	}
	p.spent = reason
	p.denials.add(routine.Denial{Host: address, Reason: reason, Count: 1})
	for c := range p.conns {
		_ = raw(c).Close()
	}
}

// raw is a connection whose Close does not take the proxy's lock.
func raw(c net.Conn) net.Conn {
	if m, ok := c.(*metered); ok {
		return m.Conn
	}
	return c
}

// hold remembers a connection that Close must end; false when it has.
func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive.Err() != nil {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// Close ends the proxy and every connection through it, and waits for them.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.end()
	if p.clock != nil {
		p.clock.Stop()
	}
	for c := range p.conns {
		_ = raw(c).Close()
	}
	p.mu.Unlock()
	_ = p.listener.Close()
	p.transport.CloseIdleConnections()
	p.done.Wait()
}
