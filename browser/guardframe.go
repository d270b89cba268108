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
		g.selfNavigations[v.FrameID] = withoutQuery(v.URL)
		return
	}
	g.navigationReasons[v.FrameID] = v.Reason
}

// judgeLocalDocument decides about a navigation to a document that comes from no server (such
// as a blob: URL). It makes no request that could be paused, and its code has no
// author, so the script is assumed to have created it unless the document had its URL
// before. It runs on the reading goroutine, because the document is shown at once.
func (g *guard) judgeLocalDocument(params json.RawMessage) {
	v, ok := decode[requestedNavigation](params)
	if !ok || v.Disposition != proto.PageClientNavigationDispositionCurrentTab || !isLocalDocument(v.URL) {
		return
	}
	g.mu.Lock()
	made := g.documentChanged && !g.baseline.links[v.URL] && !g.baseline.loads[v.URL]
	g.mu.Unlock()
	if made {
		g.block("show a document that it has made (" + routine.ShownURL(v.URL) + ")")
	}
}

// isLocalDocument reports whether the document with this URL comes from no server.
func isLocalDocument(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme == "blob" || scheme == "data" || scheme == "filesystem" || url == "about:srcdoc"
}

// withoutQuery is the URL without its query and fragment.
func withoutQuery(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		return url[:i]
	}
	return url
}

// pauseDocuments makes the document requests of a frame with a process of its own wait for
// the guard. The page's session does not pause them.
func (v *frameView) pauseDocuments() {
	if v.session != v.p.session {
		v.send(proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*", ResourceType: proto.NetworkResourceTypeDocument}}})
	}
}

// mayNavigate reports whether the script may use the location of a frame.
func mayNavigate(s routine.Script) bool { return s.Facts.MayName("location") }

// frameRequestPaused continues the document request of such a frame if no script can have
// caused it. Otherwise the request waits until the frame itself is known to have
// asked for it.
func (g *guard) frameRequestPaused(v pausedRequest) {
	key := string(v.session) + " " + v.ID // Network, whose ids would be used otherwise, is not enabled in this session
	g.mu.Lock()
	wait := g.mayNavigateFrames && v.Redirected == "" && !g.baseline.loads[v.Request.URL] && !g.baseline.linksTo(v.Request.URL) && !g.navigatesItself(v)
	if wait {
		g.held[key] = v
	}
	g.mu.Unlock()
	if !wait {
		g.answerRequest(v, pass)
		return
	}
	time.AfterFunc(holdTime, func() { g.post(heldTooLong, json.RawMessage(key)) })
}

// decideFrameRequest ends that wait. If the frame has not asked for the document itself, the
// page or a script has navigated it. A frame nested in it counts as navigated by
// others only if the page's process has reported that.
func (g *guard) decideFrameRequest(v pausedRequest) {
	outermost := g.p.isOutermost(v.session, proto.PageFrameID(v.FrameID))
	g.mu.Lock()
	_, sent := g.navigationReasons[v.FrameID]
	delete(g.navigationReasons, v.FrameID)
	as := pass
	if !g.navigatesItself(v) && (sent || outermost) {
		as = refuse
		g.refusedLoads++
	}
	g.mu.Unlock()
	g.answerRequest(v, as)
}

// navigatesItself reports whether the frame itself has asked for the document. g.mu is
// held.
func (g *guard) navigatesItself(v pausedRequest) bool {
	url, known := g.selfNavigations[v.FrameID]
	return known && url == withoutQuery(v.Request.URL)
}

// isOutermost reports whether the frame is the outermost one of its process.
func (p *page) isOutermost(session proto.TargetSessionID, frame proto.PageFrameID) bool {
	return slices.ContainsFunc(p.currentFrames(), func(v *frameView) bool {
		return v.session == session && v.frame == frame && v.parent.session != session
	})
}

// checkFramesGuardable fails if a script could act where the guard does not see it: in a frame of
// the page's own origin that is inside a frame of another origin, in one of too many
// frames, or in the window that opened this one.
func (p *page) checkFramesGuardable() error {
	if p.asPopup.reachesOpener {
		return routine.Errorf(routine.CodeScriptBlocked,
			"this popup can reach the window that opened it, where a script cannot be held to the rules of js_evaluate: "+
				"only one that is proved to only read runs here")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames.isolated) >= maxFrames {
		return routine.Errorf(routine.CodeScriptBlocked, "the page holds %d frames of other sites or more, "+
			"among which a script cannot be held to the rules of js_evaluate: only one that is proved to only read runs here", maxFrames)
	}
	for _, v := range p.frames.isolated {
		if v.session != p.session && v.origin == p.frames.top.origin {
			return routine.Errorf(routine.CodeScriptBlocked, "the page holds a frame of its own site inside of another site's frame, "+
				"where a script cannot be held to the rules of js_evaluate: only one that is proved to only read runs here")
		}
	}
	return nil
}
