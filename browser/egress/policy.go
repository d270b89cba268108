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
	"strconv"
	"strings"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
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
	allow, deny []rule
	// restrictions are further lists, each of which must contain the host too.
	restrictions []restriction
	public       *ssrf.Guardian
	resolver     *net.Resolver // nil: the system's resolver
	reserved     *reservedPlaces
}

// NewPolicy parses the rules: "host", "*.host" (all its subdomains),
// "host:port" or a CIDR range. A host may be an address. Allowing a name allows
// all addresses that it resolves to, including private ones.
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
	rules  []rule
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

// rule matches a name or an address and, if set, a port.
type rule struct {
	name       string // lower case, without trailing dot; with subdomains set it starts with a dot
	subdomains bool
	prefix     netip.Prefix
	port       string
}

func parseRules(texts []string) ([]rule, error) {
	rules := make([]rule, 0, len(texts))
	for _, text := range texts {
		r, err := parseRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func parseRule(text string) (rule, error) {
	var r rule
	if prefix, err := netip.ParsePrefix(text); err == nil {
		r.prefix = unmapPrefix(prefix).Masked()
		return r, nil
	}
	if _, rest, ok := strings.Cut(text, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return r, fmt.Errorf("host rule %q: leave out the scheme and the path: write %s", text, host)
	}
	host := text
	if h, port, err := net.SplitHostPort(text); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return r, fmt.Errorf("host rule %q: the port must be a number from 1 to 65535", text)
		}
		host, r.port = h, port
	}
	host = strings.Trim(host, "[]")
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		r.prefix = netip.PrefixFrom(addr, addr.BitLen())
		return r, nil
	}
	name, below := strings.CutPrefix(host, "*.")
	r.name, r.subdomains = canonicalHost(name), below
	if r.name == "" || strings.ContainsAny(r.name, "*/:@? ") {
		return r, fmt.Errorf("host rule %q: write host, *.host, host:port or a CIDR such as 10.0.0.0/8", text)
	}
	if r.subdomains {
		r.name = "." + r.name
	}
	return r, nil
}

// unmapPrefix converts an IPv4-mapped IPv6 prefix to IPv4.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// canonicalHost returns a name as the browser requests it: in lower case and
// ASCII, without trailing dots.
func canonicalHost(host string) string {
	host = strings.TrimRight(strings.ToLower(host), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host // not valid under IDNA, such as "_dmarc.a.test"
}

func (r rule) matchesName(host, port string) bool {
	if r.name == "" || r.port != "" && r.port != port {
		return false
	}
	if r.subdomains {
		return strings.HasSuffix(host, r.name)
	}
	return host == r.name
}

func (r rule) matchesAddr(addr netip.Addr, port string) bool {
	return r.prefix.IsValid() && (r.port == "" || r.port == port) && r.prefix.Contains(addr)
}
