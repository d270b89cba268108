package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// trustedProxies are the addresses of the reverse proxies whose X-Forwarded-For
// header is believed.
type trustedProxies []netip.Prefix

// clientAddress is the address that a request comes from. Every limit for callers
// without a token counts by it. Of an IPv6 address it is the network of 64 bits,
// all of which a caller usually has.
//
// Each proxy appends the address that it was called from to X-Forwarded-For, and
// a caller can send the header too. So the header is read from its end, for as
// long as the addresses are those of trusted proxies.
func (t trustedProxies) clientAddress(r *http.Request) string {
	address, ok := parseAddress(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(forwarded) {
		if !t.contains(address) {
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

func (t trustedProxies) contains(address netip.Addr) bool {
	return slices.ContainsFunc(t, func(p netip.Prefix) bool { return p.Contains(address) })
}

// parseAddress reads an address with or without port. The result has no zone, and
// an IPv4 address that is written as IPv6 is IPv4.
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
