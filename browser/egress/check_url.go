package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"

	"rote/routine"
)

// Judge returns nil if a request to a URL would be allowed now, or an error
// with the reason. It gives early feedback for a URL that is used later:
// [Policy.Client] checks the address of each connection again.
func (p *Policy) Judge(ctx context.Context, rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return routine.Errorf(routine.CodeInvalid, "give an absolute http or https URL")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return routine.Errorf(routine.CodeInvalid, "port %.20q of the URL is none", port)
	}
	t := target{routine.CanonicalHost(u.Hostname()), port}
	refuse := func(reason error) error {
		return deniedError(routine.Denial{Host: net.JoinHostPort(t.host, port), Reason: reason.Error(), Count: 1})
	}
	if err := p.checkName(t); err != nil {
		return refuse(err)
	}
	resolver := p.resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", resolvedName(t.host, t.host))
	if err != nil {
		return routine.Errorf(routine.CodeNetworkError, "the name %.200s cannot be resolved", t.host)
	}
	reason := fmt.Errorf("it has no address")
	for _, addr := range addrs {
		if reason = p.checkAddress(t, netip.AddrPortFrom(addr.Unmap(), uint16(number))); reason == nil {
			return nil
		}
	}
	return refuse(reason)
}
