package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
)

// target is what a connection is asked for. The host is canonical.
type target struct{ host, port string }

// How an operator can change a verdict.
const (
	mayAllow = "the operator can allow it with --allow-host"
	isDenied = "it is denied (--deny-host)"
	outside  = "it is outside the hosts that this caller's runs are limited to"
)

// judgeName refuses what no address could make right, before the name is looked
// up: a look-up is a message to whoever owns the name.
func (p *Policy) judgeName(t target) error {
	if slices.ContainsFunc(p.deny, t.named) {
		return fmt.Errorf("%s", isDenied)
	}
	if _, err := netip.ParseAddr(t.host); err == nil {
		return nil
	}
	for _, list := range p.within {
		if !t.possible(list) {
			return fmt.Errorf("%s", outside)
		}
	}
	if p.mode == Listed && !t.possible(p.allow) {
		return fmt.Errorf("it is not allowed; %s", mayAllow)
	}
	return nil
}

func (t target) named(r rule) bool { return r.matchesName(t.host, t.port) }

// possible tells whether a list could hold the name, by itself or by an address
// of it.
func (t target) possible(list []rule) bool {
	return slices.ContainsFunc(list, func(r rule) bool { return t.named(r) || r.prefix.IsValid() })
}

// judgeAddr judges the address about to be connected to. The error is the
// reason of a refusal.
func (p *Policy) judgeAddr(t target, to netip.AddrPort) error {
	port := strconv.Itoa(int(to.Port()))
	ends := endsOf(to.Addr())
	addr := ends[0]
	for _, r := range p.deny {
		for _, end := range ends {
			if r.matchesAddr(end, port) {
				return fmt.Errorf("%s", isDenied)
			}
		}
	}
	holds := func(list []rule) bool {
		return slices.ContainsFunc(list, func(r rule) bool { return t.named(r) || r.matchesAddr(addr, port) })
	}
	for _, list := range p.within {
		if !holds(list) {
			return fmt.Errorf("%s", outside)
		}
	}
	if p.mode == Any || holds(p.allow) {
		return nil
	}
	if p.mode == Listed {
		return fmt.Errorf("it is not allowed; %s", mayAllow)
	}
	for _, end := range ends {
		if p.public.SafeAddr(end) != nil {
			return fmt.Errorf("that is not a public address; %s", mayAllow)
		}
	}
	if p.public.SafeAddrPort(netip.AddrPortFrom(addr, to.Port())) != nil {
		return fmt.Errorf("port %s is not 80 or 443; %s", port, mayAllow)
	}
	return nil
}

// embedded are the IPv6 ranges that carry an IPv4 address, and the byte it
// begins at. What a translator or tunnel makes of them is judged as well.
var embedded = []struct {
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

// endsOf are the addresses that a connection to addr may end at, itself first.
func endsOf(addr netip.Addr) []netip.Addr {
	addr = addr.Unmap().WithZone("")
	ends := []netip.Addr{addr}
	if addr.Is4() {
		return ends
	}
	b := addr.As16()
	for _, e := range embedded {
		if e.prefix.Contains(addr) {
			ends = append(ends, netip.AddrFrom4([4]byte(b[e.at:])))
		}
	}
	teredo := netip.MustParsePrefix("2001::/32")
	if teredo.Contains(addr) { // its client is written inverted
		ends = append(ends, netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}))
	}
	if isatap := [4]byte(b[8:]); isatap == [4]byte{0, 0, 0x5e, 0xfe} || isatap == [4]byte{2, 0, 0x5e, 0xfe} {
		ends = append(ends, netip.AddrFrom4([4]byte(b[12:])))
	}
	return ends
}
