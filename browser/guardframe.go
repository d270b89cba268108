package browser

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// A script can also send the page's own frames somewhere. Such a navigation has
// no stack, whoever has asked for it.

// requestedNavigation is Page.frameRequestedNavigation.
type requestedNavigation struct {
	FrameID     string                                `json:"frameId"`
	Reason      string                                `json:"reason"`
	URL         string                                `json:"url"`
	Disposition proto.PageClientNavigationDisposition `json:"disposition"`
}

// navigationRequested notes where a frame is about to go.
func (g *guard) navigationRequested(session proto.TargetSessionID, v requestedNavigation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if session != "" {
		g.self[v.FrameID] = bare(v.URL)
		return
	}
	g.asked[v.FrameID] = v.Reason
}

// judgeMade judges a document that the page holds itself: it is no request and
// pauses nothing, and its code is nobody's, so the script is taken to have made
// it unless the page had it before. It runs on the reading goroutine, as it is
// there at once.
func (g *guard) judgeMade(params json.RawMessage) {
	v, ok := decode[requestedNavigation](params)
	if !ok || v.Disposition != proto.PageClientNavigationDispositionCurrentTab || !holdsItself(v.URL) {
		return
	}
	g.mu.Lock()
	made := g.draws && !g.marks.leads[v.URL] && !g.marks.loads[v.URL]
	g.mu.Unlock()
	if made {
		g.block("show a document that it has made (" + shortURL(v.URL) + ")")
	}
}

// holdsItself tells the URLs of documents that come from no server.
func holdsItself(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme == "blob" || scheme == "data" || scheme == "filesystem" || url == "about:srcdoc"
}

// bare is a URL without what a form or a link puts behind it.
func bare(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		return url[:i]
	}
	return url
}

// watch makes the documents of a frame with a process of its own wait for the
// guard: the page's session does not pause them.
func (v *view) watch() {
	if v.session != v.p.session {
		v.send(proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*", ResourceType: proto.NetworkResourceTypeDocument}}})
	}
}

// maySend tells that the script can reach for the location of a frame.
func maySend(s routine.Script) bool { return s.Facts.MayName("location") }

// framePaused lets a document of such a frame pass if no script can have asked
// for it, else when the frame itself is known to have.
func (g *guard) framePaused(v pausedRequest) {
	key := string(v.session) + " " + v.ID // the session tells of no network, which has the other ids
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

// decideFrame ends the wait for the frame's own word. Without it the page, or a
// script, has sent the frame there; of one inside of it this must have been told.
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

// goesItself tells that the frame has asked for the document. The lock is held.
func (g *guard) goesItself(v pausedRequest) bool {
	url, known := g.self[v.FrameID]
	return known && url == bare(v.Request.URL)
}

// isOutermost tells that a frame is the one that has got a process of its own,
// and not one inside of it.
func (p *page) isOutermost(session proto.TargetSessionID, frame proto.PageFrameID) bool {
	return slices.ContainsFunc(p.framesNow(), func(v *view) bool {
		return v.session == session && v.frame == frame && v.parent.session != session
	})
}

// apart fails when a script could act in a frame where nothing of it would be
// seen: one of the page's own origin inside of one of another, or one of too many;
// or in the window that has opened this one.
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
