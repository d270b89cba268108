package egress

import (
	"maps"
	"slices"
	"strings"
)

// maxDirectRequests bounds how many requests of DirectRequests are kept.
const maxDirectRequests = 100

// DirectURL returns a URL at the address where the browser reaches the proxy. A browser that
// requests it, or a URL below it, through the proxy is denied it like any other URL that the
// policy does not allow. If the request gets past the proxy, DirectRequests lists it.
func (p *Proxy) DirectURL() string { return "http://" + p.Addr() + p.directPath }

// DirectRequests returns the requests for DirectURL and URLs below it that have come past the
// proxy so far, because they were made to its address as to a server: the part of each URL that
// follows DirectURL.
func (p *Proxy) DirectRequests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.directRequests)
}

// noteDirect notes a request that was made to the proxy as to a server.
func (p *Proxy) noteDirect(path string) {
	below, ok := strings.CutPrefix(path, p.directPath)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.directRequests) < maxDirectRequests {
		p.directRequests = append(p.directRequests, below)
	}
}

// noteDirect notes a request that was made to the gateway as to a server, for the proxy whose
// DirectURL it has.
func (g *Gateway) noteDirect(path string) {
	g.mu.Lock()
	open := slices.Collect(maps.Values(g.proxies))
	g.mu.Unlock()
	for _, p := range open {
		p.noteDirect(path)
	}
}
