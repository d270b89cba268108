package egress

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"

	"rote/routine"
)

// reservedPlaces are hosts and ports of rote itself and of its browsers. No rule allows them: with
// the DevTools port of a browser, a page would control all runs of that browser. The numbers say
// how many calls of Reserve have no Release yet.
type reservedPlaces struct {
	mu        sync.Mutex
	names     map[target]int
	addresses map[netip.AddrPort]int
}

const reasonReserved = "it belongs to rote: pages may not reach the listener of --egress-listen and the browsers of --browser-url"

// Reserve denies a host and port to all runs, whatever the rules say, until as many calls of Release
// have followed. It also holds for policies that were made from p with Narrow, before or after.
func (p *Policy) Reserve(address string) error { return p.reserved.add(address, 1) }

// Release ends what one call of Reserve with the same address has begun.
func (p *Policy) Release(address string) error { return p.reserved.add(address, -1) }

// add changes how often an address is reserved.
func (r *reservedPlaces) add(address string, n int) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("reserve an address: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if to, err := netip.ParseAddrPort(address); err == nil {
		addTo(r.addresses, netip.AddrPortFrom(to.Addr().Unmap().WithZone(""), to.Port()), n)
		return nil
	}
	addTo(r.names, target{routine.CanonicalHost(host), port}, n)
	return nil
}

// addTo adds n to a count, which is at least 0.
func addTo[K comparable](counts map[K]int, key K, n int) {
	if counts[key] += n; counts[key] <= 0 {
		delete(counts, key)
	}
}

// WithOwnReservations returns a copy of p, with the reserved places of p so far. Later calls of
// Reserve on one of them do not change the other.
func (p *Policy) WithOwnReservations() *Policy {
	p.reserved.mu.Lock()
	defer p.reserved.mu.Unlock()
	other := *p
	other.reserved = &reservedPlaces{names: maps.Clone(p.reserved.names), addresses: maps.Clone(p.reserved.addresses)}
	return &other
}

func (r *reservedPlaces) hasName(t target) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[t] > 0
}

// hasAddress reports whether a connection to one of these addresses, at a port, leads to a
// reserved place. A place of this machine may be reached at any address of this machine.
func (r *reservedPlaces) hasAddress(addrs []netip.Addr, port uint16) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for place := range r.addresses {
		if place.Port() == port && slices.ContainsFunc(addrs, func(a netip.Addr) bool {
			return a == place.Addr() || isThisMachine(a) && isThisMachine(place.Addr())
		}) {
			return true
		}
	}
	return false
}

// isThisMachine reports whether an address is one of this machine.
func isThisMachine(a netip.Addr) bool {
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	own, _ := net.InterfaceAddrs() // without them, each reserved address is denied all the same
	return slices.ContainsFunc(own, func(o net.Addr) bool {
		prefix, err := netip.ParsePrefix(o.String())
		return err == nil && prefix.Addr().Unmap() == a
	})
}
