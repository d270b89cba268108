package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"rote/routine"
)

// guard decides which Host and Origin headers the service accepts. A page of
// another site could otherwise reach a service on loopback through the browser
// of its visitor: by DNS rebinding (a foreign Host), or by plain requests (a
// foreign Origin). With --auth off no token stops it.
type guard struct {
	any bool // --allowed-host *
	// hosts are accepted as Host, as name or name:port.
	hosts map[string]bool
	// originHosts are accepted as the host of an Origin of any scheme, origins
	// as a whole Origin.
	originHosts, origins map[string]bool
}

func newGuard(allowed, origins []string) guard {
	g := guard{hosts: map[string]bool{}, originHosts: map[string]bool{}, origins: map[string]bool{}}
	for _, origin := range origins {
		g.origins[strings.ToLower(origin)] = true
	}
	for _, entry := range allowed {
		entry = strings.ToLower(strings.TrimSuffix(entry, "/"))
		if entry == "*" {
			g.any = true
		}
		_, host, isOrigin := strings.Cut(entry, "://")
		if !isOrigin {
			host = entry
		}
		if name, port := split(host); port == "" {
			host = name
		}
		g.hosts[host] = true
		if isOrigin {
			g.origins[entry] = true
		} else {
			g.originHosts[host] = true
		}
	}
	return g
}

// allowsHost reports whether a Host header, with or without port, names the
// service. Every loopback name does.
func (g guard) allowsHost(host string) bool {
	name, _ := split(host)
	return g.any || isLoopback(name) || contains(g.hosts, host)
}

// contains reports whether a set of names and name:port has a host.
func contains(set map[string]bool, host string) bool {
	name, _ := split(host)
	return set[name] || set[strings.ToLower(host)]
}

// allowsOrigin reports whether pages of an origin may use the service that a
// request reached under the name host: those of that very host and port, and
// those that are listed. Another port of the same machine is another program,
// which may be serving anybody's pages.
func (g guard) allowsOrigin(origin, host string) bool {
	if g.any || g.origins[strings.ToLower(origin)] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return false // null, or no origin of a page
	}
	return sameHost(u, host) || contains(g.originHosts, u.Host)
}

// sameHost reports whether an origin is that of the service as the request
// names it. A Host without port stands for the default one of the scheme.
func sameHost(origin *url.URL, host string) bool {
	usual := map[string]string{"http": "80", "https": "443"}[origin.Scheme]
	name, port := split(host)
	originName, originPort := split(origin.Host)
	if port == "" {
		port = usual
	}
	if originPort == "" {
		originPort = usual
	}
	return name == originName && port == originPort
}

// split is a host's name or address in lower case, without brackets or a dot at
// its end, and its port.
func split(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ""
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), port
}

func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// admit refuses requests that name a foreign host, or come from a page of a
// foreign origin: CodeForbidden.
func (g guard) admit(r *http.Request) error {
	if !g.allowsHost(r.Host) {
		return routine.Errorf(routine.CodeForbidden, "the service does not go by the name in the Host header: start it with --allowed-host to accept it")
	}
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		if !g.allowsOrigin(origin, r.Host) {
			return routine.Errorf(routine.CodeForbidden,
				"pages of this Origin may not use the service: start it with --cors-origin, or with --allowed-host, and the origin to accept them")
		}
	}
	if len(origins) == 0 && fromForeignPage(r) && !g.allowsReferer(r) {
		return routine.Errorf(routine.CodeForbidden, "the request comes from a page of another origin, which may not use the service. Open the address by itself, "+
			"or start the service with --cors-origin, or with --allowed-host, and the page's origin; the page must send its origin in Origin or Referer")
	}
	return nil
}

// fromForeignPage reports whether a browser says that a page of another origin
// made a request that has no Origin header. Browsers send none with what they
// only read for a page without showing it to the page's scripts, such as images,
// scripts and frames, and none when the user opens a link. To open a link is the
// user's own doing.
func fromForeignPage(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site": // another port is the same site
	default: // same-origin, none, or no browser
		return false
	}
	opened := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !opened
}

// allowsReferer reports whether a request without an Origin header only reads, and
// comes from a page that may use the service. A page can leave out the Referer
// header, but cannot name another page in it.
func (g guard) allowsReferer(r *http.Request) bool {
	if g.any {
		return true
	}
	u, err := url.Parse(r.Referer())
	return err == nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) && g.allowsOrigin(u.Scheme+"://"+u.Host, r.Host)
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
