package browser

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// A script can also navigate the page's own frames. Such a navigation has no stack,
// whatever has caused it.

// requestedNavigation is the Page.frameRequestedNavigation event.
type requestedNavigation struct {
	FrameID     string                                `json:"frameId"`
	Reason      string                                `json:"reason"`
	URL         string                                `json:"url"`
	Disposition proto.PageClientNavigationDisposition `json:"disposition"`
}

// navigationRequested records that a frame is about to navigate.
func (g *guard) navigationRequested(session proto.TargetSessionID, v requestedNavigation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if session != "" {
		g.self[v.FrameID] = bare(v.URL)
		return
	}
	g.asked[v.FrameID] = v.Reason
}

// judgeMade decides about a navigation to a document that comes from no server (such
// as a blob: URL). It makes no request that could be paused, and its code has no
// author, so the script is assumed to have created it unless the document had its URL
// before. It runs on the reading goroutine, because the document is shown at once.
func (g *guard) judgeMade(params json.RawMessage) {
	v, ok := decode[requestedNavigation](params)
	if !ok || v.Disposition != proto.PageClientNavigationDispositionCurrentTab || !holdsItself(v.URL) {
		return
	}
	g.mu.Lock()
	made := g.draws && !g.marks.leads[v.URL] && !g.marks.loads[v.URL]
	g.mu.Unlock()
	if made {
		g.block("show a document that it has made (" + routine.ShownURL(v.URL) + ")")
	}
}

// holdsItself reports whether the document with this URL comes from no server.
func holdsItself(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme == "blob" || scheme == "data" || scheme == "filesystem" || url == "about:srcdoc"
}

// bare is the URL without its query and fragment.
func bare(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		return url[:i]
	}
	return url
}

// watch makes the document requests of a frame with a process of its own wait for
// the guard. The page's session does not pause them.
func (v *view) watch() {
	if v.session != v.p.session {
		v.send(proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*", ResourceType: proto.NetworkResourceTypeDocument}}})
	}
}

// maySend reports whether the script may use the location of a frame.
func maySend(s routine.Script) bool { return s.Facts.MayName("location") }

// framePaused continues the document request of such a frame if no script can have
// caused it. Otherwise the request waits until the frame itself is known to have
// asked for it.
func (g *guard) framePaused(v pausedRequest) {
	key := string(v.session) + " " + v.ID // Network, whose ids would be used otherwise, is not enabled in this session
	g.mu.Lock()
	wait := g.sends && v.Redirected == "" && !g.marks.loads[v.Request.URL] && !g.marks.lead(v.Request.URL) && !g.goesItself(v)
	if wait {
		g.held[key] = v
	}
	g.mu.Unlock()
	if !wait {
		g.end(v, pass)
		return
	}
	time.AfterFunc(holdTime, func() { g.post(heldTooLong, json.RawMessage(key)) })
}

// decideFrame ends that wait. If the frame has not asked for the document itself, the
// page or a script has navigated it. A frame nested in it counts as navigated by
// others only if the page's process has reported that.
func (g *guard) decideFrame(v pausedRequest) {
	outermost := g.p.isOutermost(v.session, proto.PageFrameID(v.FrameID))
	g.mu.Lock()
	_, sent := g.asked[v.FrameID]
	delete(g.asked, v.FrameID)
	as := pass
	if !g.goesItself(v) && (sent || outermost) {
		as = refuse
		g.refused++
	}
	g.mu.Unlock()
	g.end(v, as)
}

// goesItself reports whether the frame itself has asked for the document. g.mu is
// held.
func (g *guard) goesItself(v pausedRequest) bool {
	url, known := g.self[v.FrameID]
	return known && url == bare(v.Request.URL)
}

// isOutermost reports whether the frame is the outermost one of its process.
func (p *page) isOutermost(session proto.TargetSessionID, frame proto.PageFrameID) bool {
	return slices.ContainsFunc(p.framesNow(), func(v *view) bool {
		return v.session == session && v.frame == frame && v.parent.session != session
	})
}

// apart fails if a script could act where the guard does not see it: in a frame of
// the page's own origin that is inside a frame of another origin, in one of too many
// frames, or in the window that opened this one.
func (p *page) apart() error {
	if p.reachesOpener {
		return routine.Errorf(routine.CodeScriptBlocked,
			"this popup can reach the window that opened it, where a script cannot be held to the rules of js_evaluate: "+
				"only one that is proved to only read runs here")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames) >= maxFrames {
		return routine.Errorf(routine.CodeScriptBlocked, "the page holds %d frames of other sites or more, among which a script cannot be held to the rules of js_evaluate: only one that is proved to only read runs here", maxFrames)
	}
	for _, v := range p.frames {
		if v.session != p.session && v.origin == p.top.origin {
			return routine.Errorf(routine.CodeScriptBlocked, "the page holds a frame of its own site inside of another site's frame, where a script cannot be held to the rules of js_evaluate: only one that is proved to only read runs here")
		}
	}
	return nil
}
