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

// Judge tells whether a request to a URL would be let through now: nil, or an
// Error that says why not. It is a courtesy to whoever gives a URL for later:
// [Policy.Client] judges the address of each connection anew.
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
	t := target{canonical(u.Hostname()), port}
	refuse := func(reason error) error {
		return denied(routine.Denial{Host: net.JoinHostPort(t.host, port), Reason: reason.Error(), Count: 1})
	}
	if err := p.judgeName(t); err != nil {
		return refuse(err)
	}
	resolver := p.resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", t.host)
	if err != nil {
		return routine.Errorf(routine.CodeNetworkError, "the name %.200s cannot be resolved", t.host)
	}
	reason := fmt.Errorf("it has no address")
	for _, addr := range addrs {
		if reason = p.judgeAddr(t, netip.AddrPortFrom(addr.Unmap(), uint16(number))); reason == nil {
			return nil
		}
	}
	return refuse(reason)
}
