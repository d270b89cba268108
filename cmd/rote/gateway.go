package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"rote/browser"
	"rote/browser/egress"
)

// openGateway opens the listener of --egress-listen, on which browsers that rote has not started
// reach the proxies of their runs. It returns nil without that flag.
func (g *globals) openGateway(endpoints []browser.Endpoint) (*egress.Gateway, error) {
	elsewhere := slices.ContainsFunc(endpoints, func(e browser.Endpoint) bool { return e.Name != browser.LocalEndpoint })
	switch {
	case g.EgressListen+g.EgressAddress != "" && !elsewhere:
		return nil, errors.New("--egress-listen and --egress-address are for browsers that rote did not start: name them with --browser-url, or leave both out")
	case g.BrowserUnverified && !elsewhere:
		return nil, errors.New("--browser-unverified is for browsers that rote did not start: name them with --browser-url, or leave it out")
	}
	if g.EgressListen == "" {
		if g.EgressAddress != "" {
			return nil, errors.New("--egress-address is where browsers reach --egress-listen: give that flag as well")
		}
		return nil, nil
	}
	host, port, err := net.SplitHostPort(g.EgressListen)
	if err != nil || port == "" {
		return nil, fmt.Errorf("--egress-listen %s is no address: write HOST:PORT, as in 0.0.0.0:3130", g.EgressListen)
	}
	address := g.EgressAddress
	if address == "" {
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			return nil, errors.New("--egress-listen is on all addresses of this machine: say with --egress-address HOST:PORT where the browsers reach it")
		}
	} else if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" || port == "0" {
		return nil, fmt.Errorf("--egress-address %s is no address: write HOST:PORT as the browsers see it", address)
	}
	gateway, err := egress.ListenGateway(g.EgressListen, address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--egress-listen %s is in use, by a running rote for example: stop that, or give this command another --egress-listen "+
			"and --egress-address that the browsers can reach", g.EgressListen)
	}
	if err != nil {
		return nil, fmt.Errorf("--egress-listen: %w", err)
	}
	return gateway, nil
}
