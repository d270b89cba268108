package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"rote/routine"
)

// guard knows which hosts the service goes by. A page of another site that
// makes its own name point here (DNS rebinding) would otherwise reach a
// service on loopback through its visitors' browsers.
type guard struct {
	any   bool
	hosts map[string]bool // name or name:port
	// origins may use the service though they are not it.
	origins map[string]bool
}

func newGuard(allowed, origins []string) guard {
	g := guard{hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, origin := range origins {
		g.origins[strings.ToLower(origin)] = true
	}
	for _, host := range allowed {
		if host == "*" {
			g.any = true
		}
		if _, rest, ok := strings.Cut(host, "://"); ok { // an origin
			host = rest
		}
		host = strings.ToLower(strings.TrimSuffix(host, "/"))
		if name, port := split(host); port == "" {
			host = name
		}
		g.hosts[host] = true
	}
	return g
}

// allows tells whether a host, with or without port, is one of ours.
func (g guard) allows(host string) bool {
	host = strings.ToLower(host)
	name, _ := split(host)
	return g.any || isLoopback(name) || g.hosts[name] || g.hosts[host]
}

// split is a host's name or address, without brackets or a dot at its end, and
// its port.
func split(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ""
	}
	return strings.TrimSuffix(name, "."), port
}

func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// admit refuses requests that name a foreign host, or come from a page of a
// foreign origin.
func (g guard) admit(r *http.Request) error {
	if !g.allows(r.Host) {
		return routine.Errorf(routine.CodeForbidden, "the service does not go by the name in the Host header: start it with --allowed-host to accept it")
	}
	for _, origin := range r.Header.Values("Origin") {
		host := "" // of "null" and of what is no URL
		if u, err := url.Parse(origin); err == nil {
			host = u.Host
		}
		if !g.allows(host) && !g.origins[strings.ToLower(origin)] {
			return routine.Errorf(routine.CodeForbidden, "pages of this Origin may not use the service: start it with --allowed-host to accept them")
		}
	}
	return nil
}

func (a *api) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.door.Admit(r); err != nil {
			fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}
