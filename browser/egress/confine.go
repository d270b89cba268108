package egress

import (
	"net"
	"net/netip"
	"slices"

	"rote/routine"
)

// Confine restricts a run that may have made requests already to these hosts, in addition to the
// policy so far, and closes its connections to others. Hosts are in the syntax of NewPolicy.
// reason is that of the denials. A second call with the same arguments does nothing.
func (p *Proxy) Confine(hosts []string, reason string) error {
	rules, err := parseRules(hosts)
	if err != nil {
		return err
	}
	before := p.policy.Load()
	if slices.ContainsFunc(before.restrictions, func(r restriction) bool { return r.reason == reason && slices.Equal(r.rules, rules) }) {
		return nil
	}
	now := before.restrict(restriction{rules, reason})
	p.policy.Store(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if m, ok := c.(*countingConn); ok && !now.allowsConnection(m) {
			_ = m.Conn.Close()
		}
	}
	return nil
}

// allowsConnection reports whether the policy allows a connection that exists.
func (p *Policy) allowsConnection(m *countingConn) bool {
	host, port, err := net.SplitHostPort(m.address)
	if err != nil {
		return false
	}
	to, err := netip.ParseAddrPort(m.RemoteAddr().String())
	t := target{routine.CanonicalHost(host), port}
	return err == nil && p.checkName(t) == nil && p.checkAddress(t, to) == nil
}

// Deny notes that somebody else has refused a request of the run to a URL, for Denials.
func (p *Proxy) Deny(rawURL, reason string) {
	if host, ok := hostOf(rawURL); ok {
		p.denials.list(routine.Denial{Host: host, Reason: reason, Count: 1})
	}
}
