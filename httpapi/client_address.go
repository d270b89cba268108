package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// trustedProxies are the addresses of the reverse proxies whose X-Forwarded-For
// header is trusted.
type trustedProxies []netip.Prefix

// clientAddress returns the address that a request comes from. All limits for
// callers without a token count by it. For IPv6 it is the /64 network, because
// one client usually has all addresses of it.
//
// Each proxy appends the address of its client to X-Forwarded-For, and a client
// can send the header too. So the header is read from its end, as long as the
// addresses are those of trusted proxies.
func (t trustedProxies) clientAddress(r *http.Request) string {
	address, ok := parseAddress(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(forwarded) {
		if !t.trusts(address) {
			break
		}
		before, ok := parseAddress(strings.TrimSpace(text))
		if !ok {
			break
		}
		address = before
	}
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}

func (t trustedProxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(t, func(p netip.Prefix) bool { return p.Contains(address) })
}

// parseAddress parses an address with or without port. It removes the zone, and
// converts an IPv4-mapped IPv6 address to IPv4.
func parseAddress(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		address = withPort.Addr()
	}
	return address.Unmap().WithZone(""), true
}
