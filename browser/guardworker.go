package browser

import (
	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// A service worker is between its pages and the network. What it answers or asks for
// itself pauses no page, and nothing tells for whom it asks. So the page does without
// it while a script, or what the script has changed in the document, could make
// requests through it.

// bypassWorkers has the requests of the page go past its service worker if the script
// can make any.
func (g *guard) bypassWorkers(s routine.Script) {
	if s.Facts.Draws() || mayNavigate(s) || mayRequest(s) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.setBypass(true)
	}
}

// setBypass changes whether they do. The lock is held.
func (g *guard) setBypass(on bool) {
	if g.bypasses != on {
		g.bypasses = on
		g.p.send(proto.NetworkSetBypassServiceWorker{Bypass: on})
	}
}

// throughWorker lets a service worker hear of what an operation is about to ask for.
// The caller calls end when the answer has come.
func (p *page) throughWorker() (end func()) {
	g := p.currentGuard()
	if g == nil {
		return func() {}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.bypasses {
		return func() {}
	}
	p.send(proto.NetworkSetBypassServiceWorker{Bypass: false})
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.bypasses { // else another document has come
			p.send(proto.NetworkSetBypassServiceWorker{Bypass: true})
		}
	}
}

// mayRequest reports whether the script can name what makes requests.
func mayRequest(s routine.Script) bool {
	for _, name := range []string{"fetch", "XMLHttpRequest", "sendBeacon", "send", "add", "addAll"} {
		if s.Facts.MayName(name) {
			return true
		}
	}
	return false
}
