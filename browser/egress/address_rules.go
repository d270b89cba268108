package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"rote/routine"
)

// target is the destination of a connection. The host is canonical.
type target struct{ host, port string }

// How an operator can change a verdict.
const (
	hintAllowHost      = "the operator can allow it with --allow-host"
	reasonDenied       = "it is denied (--deny-host)"
	reasonOutsideHosts = "it is outside the hosts that this caller's runs are limited to"
)

// checkName returns an error if the name is denied whatever its address is. It
// is called before the name is resolved, because a DNS query already sends a
// message to the owner of the name.
func (p *Policy) checkName(t target) error {
	if p.reserved.hasName(t) {
		return fmt.Errorf("%s", reasonReserved)
	}
	if slices.ContainsFunc(p.deny, t.matchesName) {
		return fmt.Errorf("%s", reasonDenied)
	}
	if _, err := netip.ParseAddr(t.host); err == nil {
		return nil
	}
	for _, r := range p.restrictions {
		if !t.mayMatch(r.rules) {
			return fmt.Errorf("%s", r.reason)
		}
	}
	if p.mode == Listed && !t.mayMatch(p.allow) {
		return fmt.Errorf("it is not allowed; %s", hintAllowHost)
	}
	return nil
}

func (t target) matchesName(r routine.HostRule) bool { return r.MatchesName(t.host, t.port) }

// mayMatch reports whether a list could match the target, by its name or by one
// of its addresses.
func (t target) mayMatch(list []routine.HostRule) bool {
	return slices.ContainsFunc(list, func(r routine.HostRule) bool { return t.matchesName(r) || r.IsAddress() })
}

// checkAddress checks the address of a connection that is about to be made. The
// error is the reason for a denial.
func (p *Policy) checkAddress(t target, to netip.AddrPort) error {
	port := strconv.Itoa(int(to.Port()))
	ends := endpointsOf(to.Addr())
	addr := ends[0]
	if p.reserved.hasAddress(ends, to.Port()) {
		return fmt.Errorf("%s", reasonReserved)
	}
	for _, r := range p.deny {
		for _, end := range ends {
			if r.MatchesAddress(end, port) {
				return fmt.Errorf("%s", reasonDenied)
			}
		}
	}
	holds := func(list []routine.HostRule) bool {
		return slices.ContainsFunc(list, func(r routine.HostRule) bool { return t.matchesName(r) || r.MatchesAddress(addr, port) })
	}
	for _, r := range p.restrictions {
		if !holds(r.rules) {
			return fmt.Errorf("%s", r.reason)
		}
	}
	if p.mode == Any || holds(p.allow) {
		return nil
	}
	if p.mode == Listed {
		return fmt.Errorf("it is not allowed; %s", hintAllowHost)
	}
	for _, end := range ends {
		if p.public.SafeAddr(end) != nil {
			return fmt.Errorf("that is not a public address; %s", hintAllowHost)
		}
	}
	if p.public.SafeAddrPort(netip.AddrPortFrom(addr, to.Port())) != nil {
		return fmt.Errorf("port %s is not 80 or 443; %s", port, hintAllowHost)
	}
	return nil
}

// embeddedIPv4 are the IPv6 ranges that contain an IPv4 address, and the byte
// at which it starts. The IPv4 address to which a translator or tunnel would
// connect is checked too.
var embeddedIPv4 = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // stateless translation
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64 of a site
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
	{netip.MustParsePrefix("2001::/32"), 4},        // Teredo: its server
}

// endpointsOf returns addr and the IPv4 addresses that a connection to it may
// lead to.
func endpointsOf(addr netip.Addr) []netip.Addr {
	addr = addr.Unmap().WithZone("")
	ends := []netip.Addr{addr}
	if addr.Is4() {
		return ends
	}
	b := addr.As16()
	for _, e := range embeddedIPv4 {
		if e.prefix.Contains(addr) {
			ends = append(ends, netip.AddrFrom4([4]byte(b[e.at:])))
		}
	}
	teredo := netip.MustParsePrefix("2001::/32")
	if teredo.Contains(addr) { // the client's address is inverted
		ends = append(ends, netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}))
	}
	if isatap := [4]byte(b[8:]); isatap == [4]byte{0, 0, 0x5e, 0xfe} || isatap == [4]byte{2, 0, 0x5e, 0xfe} {
		ends = append(ends, netip.AddrFrom4([4]byte(b[12:])))
	}
	return ends
}
