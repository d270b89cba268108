// Package egress decides what a run may reach and carries all its traffic. Each
// run has a forward proxy, whose policy checks the address that is actually
// dialed. A name that resolves to different addresses at different times (DNS
// rebinding) cannot bypass it, because only the address of the connection
// counts.
package egress

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"code.dny.dev/ssrf"

	"rote/routine"
)

// Mode says which hosts are allowed in addition to the listed ones.
type Mode string

const (
	// Public allows addresses of the public internet on ports 80 and 443.
	Public Mode = "public"
	// Listed allows nothing else.
	Listed Mode = "listed"
	// Any allows everything.
	Any Mode = "any"
)

// Policy is what runs may reach. Deny rules override allow rules, and both
// override the mode. It is immutable, but for the addresses of Reserve.
type Policy struct {
	mode        Mode
	allow, deny []routine.HostRule
	// restrictions are further lists, each of which must contain the host too.
	restrictions []restriction
	public       *ssrf.Guardian
	resolver     *net.Resolver // nil: the system's resolver
	reserved     *reservedPlaces
}

// NewPolicy parses the rules with [routine.ParseHostRule].
func NewPolicy(mode Mode, allow, deny []string) (*Policy, error) {
	switch mode {
	case Public, Listed, Any:
	default:
		return nil, fmt.Errorf("egress %q: use public, listed or any", mode)
	}
	p := &Policy{mode: mode, public: ssrf.New(ssrf.WithPorts(80, 443)),
		reserved: &reservedPlaces{names: map[target]int{}, addresses: map[netip.AddrPort]int{}}}
	var err error
	if p.allow, err = parseRules(allow); err != nil {
		return nil, err
	}
	p.deny, err = parseRules(deny)
	return p, err
}

// Narrow returns a copy of p for a run that may reach only these hosts, in the
// syntax of NewPolicy. What p denies stays denied.
func (p *Policy) Narrow(hosts []string) (*Policy, error) {
	rules, err := parseRules(hosts)
	if err != nil {
		return nil, err
	}
	return p.restrict(restriction{rules, reasonOutsideHosts}), nil
}

// restriction is a list of hosts, and why a host that it does not contain is denied.
type restriction struct {
	rules  []routine.HostRule
	reason string
}

// restrict returns a copy of p with one more restriction.
func (p *Policy) restrict(r restriction) *Policy {
	narrow := *p
	narrow.restrictions = append(slices.Clip(p.restrictions), r)
	return &narrow
}

// WithResolver returns a copy of p that resolves names with r instead of the
// system's resolver.
func (p *Policy) WithResolver(r *net.Resolver) *Policy {
	other := *p
	other.resolver = r
	return &other
}

func parseRules(texts []string) ([]routine.HostRule, error) {
	rules := make([]routine.HostRule, 0, len(texts))
	for _, text := range texts {
		r, err := routine.ParseHostRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}
