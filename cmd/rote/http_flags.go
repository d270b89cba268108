package main

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"rote/httpapi"
)

// callerFlags bound how often callers of REST and of MCP over HTTP may call, and from where.
type callerFlags struct {
	RateLimit  *number  `help:"Calls a minute that each token may make, and each address without one; 0: any number (600; 0 on loopback)." placeholder:"N"`
	CORSOrigin []string `name:"cors-origin" help:"Origin, as in https://app.example, whose pages may use the service from a browser. Repeatable." placeholder:"ORIGIN"`

	TrustedProxy []addressRange `help:"Reverse proxy, as 10.0.0.1 or 10.0.0.0/8, whose X-Forwarded-For tells callers apart. Repeatable." placeholder:"ADDR"`
}

// check refuses what a browser never sends as an Origin, and *: a page of any
// site could use the service then.
func (f *callerFlags) check() error {
	for _, origin := range f.CORSOrigin {
		if u, err := url.Parse(origin); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Contains(u.Host, "*") || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("--cors-origin %s is no origin: write it as in https://app.example", origin)
		}
	}
	return nil
}

// usualRate is how many calls a minute a token may make on an open listener.
const usualRate = 600

// suit gives flags that were not set the defaults that suit a listener.
func (f *callerFlags) suit(l net.Listener) {
	if f.RateLimit != nil {
		return
	}
	f.RateLimit = new(number(usualRate))
	if loopback(l) {
		f.RateLimit = new(number(0))
	}
}

func (f *callerFlags) apply(c *httpapi.Config) {
	c.RateLimit, c.CORSOrigins = int(*f.RateLimit), f.CORSOrigin
	for _, r := range f.TrustedProxy {
		c.TrustedProxies = append(c.TrustedProxies, netip.Prefix(r))
	}
}
