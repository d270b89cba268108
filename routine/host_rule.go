package routine

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// HostRule is one of the hosts that a run may reach.
type HostRule struct {
	name       string // lower case, without trailing dot; with subdomains set it starts with a dot
	subdomains bool
	prefix     netip.Prefix
	port       string // empty: any
}

// ParseHostRule reads a rule: "host", "*.host" (all its subdomains), "host:port" or a CIDR
// range. A host may be an address. A rule for a name allows all addresses that it resolves to,
// including private ones. Errors say what to write instead.
func ParseHostRule(text string) (HostRule, error) {
	var r HostRule
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
	r.name, r.subdomains = CanonicalHost(name), below
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

// CanonicalHost returns a name as the browser requests it: in lower case and
// ASCII, without trailing dots.
func CanonicalHost(host string) string {
	host = strings.TrimRight(strings.ToLower(host), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host // not valid under IDNA, such as "_dmarc.a.test"
}

// IsAddress reports whether the rule is for addresses, and not for names.
func (r HostRule) IsAddress() bool { return r.prefix.IsValid() }

// MatchesName reports whether the rule is for a canonical name and a port.
func (r HostRule) MatchesName(host, port string) bool {
	if r.name == "" || r.port != "" && r.port != port {
		return false
	}
	if r.subdomains {
		return strings.HasSuffix(host, r.name)
	}
	return host == r.name
}

// MatchesAddress reports whether the rule is for an address and a port.
func (r HostRule) MatchesAddress(addr netip.Addr, port string) bool {
	return r.prefix.IsValid() && (r.port == "" || r.port == port) && r.prefix.Contains(addr)
}

// Covers reports whether r is for everything that other is for. A name is not covered by the
// addresses that it resolves to.
func (r HostRule) Covers(other HostRule) bool {
	if other.IsAddress() {
		return r.MatchesAddress(other.prefix.Addr(), other.port) && r.prefix.Bits() <= other.prefix.Bits()
	}
	if other.subdomains && !r.subdomains {
		return false
	}
	return r.MatchesName(other.name, other.port)
}
