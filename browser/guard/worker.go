package guard

import (
	"rote/routine"
)

// A service worker sits between its pages and the network. Its answers and its own
// requests pause no page, and nothing says on whose behalf it makes them. So the page
// bypasses it while a script, or what the script has changed in the document, could make
// requests through it.

// bypassWorkers makes the requests of the page bypass its service worker if the script
// can make requests.
func (g *Guard) bypassWorkers(s routine.Script) {
	if s.Facts.Draws() || mayNavigate(s) || mayRequest(s) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.setBypass(true)
	}
}

// setBypass makes the requests of the page go past its service worker, or through it again.
// g.mu is held.
func (g *Guard) setBypass(on bool) {
	if g.bypasses != on {
		g.bypasses = on
		g.page.BypassWorker(on)
	}
}

// ThroughWorker sends the next requests of an operation through the service worker. The
// caller calls end when the answer has arrived.
func (g *Guard) ThroughWorker() (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.bypasses {
		return func() {}
	}
	g.page.BypassWorker(false)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.bypasses { // else another document has come
			g.page.BypassWorker(true)
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
