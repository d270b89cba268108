package main

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"rote/httpapi"
)

// httpFlags limit how often and from where clients may call REST and MCP over
// HTTP.
type httpFlags struct {
	RateLimit  *number  `help:"Calls per minute of each token, or address without one; 0: no limit (600; 0 on loopback)." placeholder:"N"`
	CORSOrigin []string `name:"cors-origin" help:"Origin, as in https://app.example, whose pages may use the service. Repeatable." placeholder:"ORIGIN"`

	TrustedProxy []addressRange `help:"Reverse proxy, as 10.0.0.1 or 10.0.0.0/8, whose X-Forwarded-For tells callers apart. Repeatable." placeholder:"ADDR"`
}

// check rejects values that a browser never sends as Origin, and *, which would
// allow pages of all sites.
func (f *httpFlags) check() error {
	for _, origin := range f.CORSOrigin {
		if u, err := url.Parse(origin); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
			strings.Contains(u.Host, "*") || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("--cors-origin %s is no origin: write it as in https://app.example", origin)
		}
	}
	return nil
}

// defaultRateLimit is the number of calls per minute of a token on a public
// listener.
const defaultRateLimit = 600

// setDefaults sets the defaults that depend on the listener.
func (f *httpFlags) setDefaults(l net.Listener) {
	if f.RateLimit != nil {
		return
	}
	f.RateLimit = new(number(defaultRateLimit))
	if listensOnLoopback(l) {
		f.RateLimit = new(number(0))
	}
}

func (f *httpFlags) apply(c *httpapi.Config) {
	c.RateLimit, c.CORSOrigins = int(*f.RateLimit), f.CORSOrigin
	for _, r := range f.TrustedProxy {
		c.TrustedProxies = append(c.TrustedProxies, netip.Prefix(r))
	}
}
