// Package egress decides what a run may reach and carries all its traffic: a
// forward proxy per run, whose policy judges the address that is really
// dialled. A name that changes its answer between check and use (DNS rebinding)
// cannot pass, because there is no use before the check.
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

// Mode is what is allowed without being listed.
type Mode string

const (
	// Public: addresses of the public internet, on ports 80 and 443.
	Public Mode = "public"
	// Listed: nothing.
	Listed Mode = "listed"
	// Any: everything. For machines that may reach all they can.
	Any Mode = "any"
)

// Policy is what runs may reach. Denied wins over allowed, and both over the
// mode. It does not change.
type Policy struct {
	mode        Mode
	allow, deny []rule
	// within are lists that narrow: each of them must hold the host, too.
	within   [][]rule
	public   *ssrf.Guardian
	resolver *net.Resolver // nil: the system's
}

// NewPolicy reads the rules: "host", "*.host" (the names below it),
// "host:port" or a CIDR, where a host may be an address. An allowed name covers
// whatever address it resolves to, private ones too.
func NewPolicy(mode Mode, allow, deny []string) (*Policy, error) {
	switch mode {
	case Public, Listed, Any:
	default:
		return nil, fmt.Errorf("egress %q: use public, listed or any", mode)
	}
	p := &Policy{mode: mode, public: ssrf.New(ssrf.WithPorts(80, 443))}
	var err error
	if p.allow, err = parseRules(allow); err != nil {
		return nil, err
	}
	p.deny, err = parseRules(deny)
	return p, err
}

// Narrow is p for a run that may reach hosts only, written as for NewPolicy.
// What p refuses stays refused.
func (p *Policy) Narrow(hosts []string) (*Policy, error) {
	rules, err := parseRules(hosts)
	if err != nil {
		return nil, err
	}
	narrow := *p
	narrow.within = append(slices.Clip(p.within), rules)
	return &narrow, nil
}

// WithResolver is p with names resolved by r instead of the system's resolver.
func (p *Policy) WithResolver(r *net.Resolver) *Policy {
	other := *p
	other.resolver = r
	return &other
}

// rule matches by name or by address, and by port when it has one.
type rule struct {
	name   string // lower case, without trailing dot; below: the names under it
	below  bool
	prefix netip.Prefix
	port   string
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
	r.name, r.below = canonical(name), below
	if r.name == "" || strings.ContainsAny(r.name, "*/:@? ") {
		return r, fmt.Errorf("host rule %q: write host, *.host, host:port or a CIDR such as 10.0.0.0/8", text)
	}
	if r.below {
		r.name = "." + r.name
	}
	return r, nil
}

// unmapPrefix turns an IPv4-mapped IPv6 prefix into the IPv4 one it means.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// canonical is a name as the browser asks for it: lower case, without dots at
// its end, in ASCII.
func canonical(host string) string {
	host = strings.TrimRight(strings.ToLower(host), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host // no name of the IDNA rules, as in "_dmarc.a.test"
}

func (r rule) matchesName(host, port string) bool {
	if r.name == "" || r.port != "" && r.port != port {
		return false
	}
	if r.below {
		return strings.HasSuffix(host, r.name)
	}
	return host == r.name
}

func (r rule) matchesAddr(addr netip.Addr, port string) bool {
	return r.prefix.IsValid() && (r.port == "" || r.port == port) && r.prefix.Contains(addr)
}
