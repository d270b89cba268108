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

// Limits of a connection to the outside.
const (
	dialTime   = 10 * time.Second
	tlsTime    = 10 * time.Second
	idleTime   = 90 * time.Second
	headerTime = 10 * time.Second
)

// refusal is a connection that the policy does not allow. Its chain holds a
// routine.Error with CodeEgressDenied.
type refusal struct{ denial routine.Denial }

func (r *refusal) Error() string { return r.Unwrap().Error() }
func (r *refusal) Unwrap() error { return denied(r.denial) }

// denied is a denial as the error of what asked for it.
func denied(d routine.Denial) *routine.Error {
	at := fmt.Sprintf("%.200s", d.Host)
	if d.Address != "" && !strings.Contains(at, d.Address) {
		at += " (" + d.Address + ")"
	}
	return routine.Errorf(routine.CodeEgressDenied, "the egress policy refuses %s: %s", at, d.Reason)
}

// dial connects to host:port. The name is judged first and then, in the
// dialler's control hook, each address that is about to be connected to: what a
// name resolves to at any other time does not matter.
func (p *Policy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	t := target{canonical(host), port}
	refuse := func(addr string, reason error) error {
		return &refusal{routine.Denial{Host: net.JoinHostPort(t.host, port), Address: addr, Reason: reason.Error(), Count: 1}}
	}
	if err := p.judgeName(t); err != nil {
		return nil, refuse("", err)
	}
	d := net.Dialer{Timeout: dialTime, Resolver: p.resolver, ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !strings.HasPrefix(network, "tcp") {
			return fmt.Errorf("%s address %q", network, address)
		}
		if err := p.judgeAddr(t, to); err != nil {
			return refuse(to.Addr().String(), err)
		}
		return nil
	}}
	conn, err := d.DialContext(ctx, network, address)
	var r *refusal
	if errors.As(err, &r) {
		return nil, r // without the dialler's words around it
	}
	return conn, err
}

// Client makes requests of our own process, such as webhooks, under the policy.
// A refused one fails with CodeEgressDenied. Redirects are not followed: they
// are the answer. No proxy of the environment is used, because the policy would
// then judge the proxy's address. The caller sets a Timeout and ends with
// CloseIdleConnections.
func (p *Policy) Client() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: p.dial, TLSHandshakeTimeout: tlsTime, IdleConnTimeout: idleTime, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
