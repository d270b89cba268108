// Package egress decides what a run may reach and carries all its traffic: a
// forward proxy per run, whose policy judges the address that is really
// dialled. A name that changes its answer between check and use (DNS rebinding)
// cannot pass, because there is no use before the check.
package egress

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"
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
// mode. It does not change after NewPolicy.
type Policy struct {
	mode        Mode
	allow, deny []rule
	public      *ssrf.Guardian
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
	for _, list := range []struct {
		texts []string
		rules *[]rule
	}{{allow, &p.allow}, {deny, &p.deny}} {
		for _, text := range list.texts {
			r, err := parseRule(text)
			if err != nil {
				return nil, err
			}
			*list.rules = append(*list.rules, r)
		}
	}
	return p, nil
}

// rule matches by name or by address, and by port when it has one.
type rule struct {
	name   string // lower case, without trailing dot; below: the names under it
	below  bool
	prefix netip.Prefix
	port   string
}

func parseRule(text string) (rule, error) {
	var r rule
	if prefix, err := netip.ParsePrefix(text); err == nil {
		r.prefix = unmapPrefix(prefix).Masked()
		return r, nil
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
	r.name = canonical(host)
	r.name, r.below = strings.CutPrefix(r.name, "*.")
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

func canonical(host string) string {
	return strings.TrimSuffix(strings.ToLower(host), ".")
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

// named judges a host by its name alone, before it is resolved: denied, allowed
// whatever it resolves to, or neither yet.
func (p *Policy) named(host, port string) (allowed, denied bool) {
	host = canonical(host)
	for _, r := range p.deny {
		if r.matchesName(host, port) {
			return false, true
		}
	}
	for _, r := range p.allow {
		if r.matchesName(host, port) {
			return true, false
		}
	}
	return false, false
}

// dial judges the address about to be connected to. byName tells that the name
// it came from is allowed. It gives the reason of a refusal.
func (p *Policy) dial(to netip.AddrPort, byName bool) error {
	addr, port := to.Addr().Unmap().WithZone(""), fmt.Sprint(to.Port())
	for _, r := range p.deny {
		if r.matchesAddr(addr, port) {
			return fmt.Errorf("%s is denied", addr)
		}
	}
	if byName || p.mode == Any {
		return nil
	}
	for _, r := range p.allow {
		if r.matchesAddr(addr, port) {
			return nil
		}
	}
	if p.mode == Listed {
		return fmt.Errorf("%s is not allowed", addr)
	}
	if err := p.public.SafeAddr(addr); err != nil {
		return fmt.Errorf("%s is not a public address", addr)
	}
	if err := p.public.SafeAddrPort(netip.AddrPortFrom(addr, to.Port())); err != nil {
		return fmt.Errorf("port %s is not 80 or 443", port)
	}
	return nil
}
