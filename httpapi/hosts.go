package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"rote/routine"
)

// hostPolicy decides which Host and Origin headers the service accepts.
// Otherwise a page of another site could use the browser of its visitor to
// reach a service on loopback: by DNS rebinding (a foreign Host) or by plain
// requests (a foreign Origin). With --auth off, no token would stop it.
type hostPolicy struct {
	any bool // --allowed-host *
	// hosts are the accepted Host headers, as name or name:port.
	hosts map[string]bool
	// originHosts are accepted as the host of an Origin with any scheme, origins as
	// complete origins.
	originHosts, origins map[string]bool
}

func newHostPolicy(allowed, origins []string) hostPolicy {
	g := hostPolicy{hosts: map[string]bool{}, originHosts: map[string]bool{}, origins: map[string]bool{}}
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
		if name, port := splitHost(host); port == "" {
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

// allowsHost reports whether a Host header, with or without port, names this
// service. All loopback names do.
func (g hostPolicy) allowsHost(host string) bool {
	name, _ := splitHost(host)
	return g.any || isLoopbackName(name) || containsHost(g.hosts, host)
}

// containsHost reports whether a set of name and name:port entries contains
// host.
func containsHost(set map[string]bool, host string) bool {
	name, _ := splitHost(host)
	return set[name] || set[strings.ToLower(host)]
}

// allowsOrigin reports whether pages of an origin may call the service under
// the name host. Allowed are pages of the same host and port, and listed
// origins. Another port of the same machine is another program, whose pages are
// not trusted.
func (g hostPolicy) allowsOrigin(origin, host string) bool {
	if g.any || g.origins[strings.ToLower(origin)] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return false // "null" or not a web origin
	}
	return sameHost(u, host) || containsHost(g.originHosts, u.Host)
}

// sameHost reports whether an origin equals the host of the request. A host
// without port has the default port of the scheme.
func sameHost(origin *url.URL, host string) bool {
	usual := map[string]string{"http": "80", "https": "443"}[origin.Scheme]
	name, port := splitHost(host)
	originName, originPort := splitHost(origin.Host)
	if port == "" {
		port = usual
	}
	if originPort == "" {
		originPort = usual
	}
	return name == originName && port == originPort
}

// splitHost returns the name or address of a host in lower case, without
// brackets and trailing dot, and its port.
func splitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ""
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), port
}

// isLoopbackName reports whether a host name or address always means this machine.
func isLoopbackName(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// check returns CodeForbidden for a request whose Host header is not allowed,
// or that comes from a page of another origin.
func (g hostPolicy) check(r *http.Request) error {
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

// fromForeignPage reports whether a request without an Origin header comes from
// a page of another origin, as the Sec-Fetch headers say. Browsers omit Origin
// when they load images, scripts and frames, and when the user opens a link.
// Opening a link is allowed because the page cannot read the result.
func fromForeignPage(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site": // another port counts as the same site
	default: // same-origin, none or not a browser
		return false
	}
	opened := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !opened
}

// allowsReferer reports whether a request without an Origin header only reads
// and comes from an allowed page. A page can omit the Referer header, but it
// cannot name another page.
func (g hostPolicy) allowsReferer(r *http.Request) bool {
	if g.any {
		return true
	}
	u, err := url.Parse(r.Referer())
	return err == nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) && g.allowsOrigin(u.Scheme+"://"+u.Host, r.Host)
}

func (a *api) requireAllowedHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.admission.Admit(r); err != nil {
			writeProblem(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}
