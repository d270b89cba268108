package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"rote/routine"
)

// Timeouts of connections to servers.
const (
	dialTimeout         = 10 * time.Second
	tlsHandshakeTimeout = 10 * time.Second
	idleTimeout         = 90 * time.Second
	headerTimeout       = 10 * time.Second
)

// refusal is the error for a connection that the policy does not allow. It
// wraps a routine.Error with CodeEgressDenied.
type refusal struct{ denial routine.Denial }

func (r *refusal) Error() string { return r.Unwrap().Error() }
func (r *refusal) Unwrap() error { return deniedError(r.denial) }

// deniedError returns a denial as the error of the operation that made the
// request.
func deniedError(d routine.Denial) *routine.Error {
	at := fmt.Sprintf("%.200s", d.Host)
	if d.Address != "" && !strings.Contains(at, d.Address) {
		at += " (" + d.Address + ")"
	}
	return routine.Errorf(routine.CodeEgressDenied, "the egress policy refuses %s: %s", at, d.Reason)
}

// dial connects to host:port. It checks the name first and then, in the
// dialer's control hook, each address just before the connection is made. What
// the name resolves to at other times does not matter.
func (p *Policy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	t := target{routine.CanonicalHost(host), port}
	refuse := func(addr string, reason error) error {
		return &refusal{routine.Denial{Host: net.JoinHostPort(t.host, port), Address: addr, Reason: reason.Error(), Count: 1}}
	}
	if err := p.checkName(t); err != nil {
		return nil, refuse("", err)
	}
	d := net.Dialer{Timeout: dialTimeout, Resolver: p.resolver, ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !strings.HasPrefix(network, "tcp") {
			return fmt.Errorf("%s address %q", network, address)
		}
		if err := p.checkAddress(t, to); err != nil {
			return refuse(to.Addr().String(), err)
		}
		return nil
	}}
	conn, err := d.DialContext(ctx, network, net.JoinHostPort(resolvedName(t.host, host), port))
	var r *refusal
	if errors.As(err, &r) {
		return nil, r // without the dialer's wrapping
	}
	return conn, err
}

// resolvedName returns the name to look up for a host, given in its canonical spelling
// and as it was requested. Names below localhost are this machine, as in browsers: no
// name server is asked for them, and many know none.
func resolvedName(canonical, requested string) string {
	if strings.HasSuffix(canonical, ".localhost") {
		return "localhost"
	}
	return requested
}

// Client returns a client for requests of this process, such as webhooks, under
// the policy. A denied request fails with CodeEgressDenied. Redirects are
// returned, not followed. Proxies of the environment are ignored, because the
// policy would check the proxy's address instead. The caller must set a Timeout
// and call CloseIdleConnections at the end.
func (p *Policy) Client() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: p.dial, TLSHandshakeTimeout: tlsHandshakeTimeout, IdleConnTimeout: idleTimeout, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
