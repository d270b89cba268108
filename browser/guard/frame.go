package guard

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
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

// navigationState is what the guard knows about the frames of the document.
type navigationState struct {
	// frames are the ids of frames that a js_evaluate script has created.
	frames map[string]bool
	// navigationReasons maps a frame to the reason of its pending navigation, as the page's
	// process reported it. selfNavigations maps a frame with a process of its own to the URL
	// that it said it navigates to.
	navigationReasons, selfNavigations map[string]string
	// mayNavigateFrames reports whether any script so far may have navigated a frame.
	mayNavigateFrames bool
}

// navigationRequested records that a frame is about to navigate.
func (g *Guard) navigationRequested(session proto.TargetSessionID, v requestedNavigation) {
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
func (g *Guard) judgeLocalDocument(params json.RawMessage) {
	v, ok := cdp.Decode[requestedNavigation](params)
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

// PauseFrame makes the guard decide about the documents of a frame that has moved to a
// process of its own. It runs on the reading goroutine.
func (g *Guard) PauseFrame(session proto.TargetSessionID) {
	if g.IsArmed() {
		g.pauseDocuments(session)
	}
}

// pauseDocuments makes the document requests of a frame with a process of its own wait for
// the guard. The page's session does not pause them.
func (g *Guard) pauseDocuments(session proto.TargetSessionID) {
	documents := &proto.FetchRequestPattern{URLPattern: "*", ResourceType: proto.NetworkResourceTypeDocument}
	g.page.SendTo(session, proto.FetchEnable{Patterns: append([]*proto.FetchRequestPattern{documents}, g.page.PausePatterns(session)...)})
}

// mayNavigate reports whether the script may use the location of a frame.
func mayNavigate(s routine.Script) bool { return s.Facts.MayName("location") }

// frameRequestPaused continues the document request of such a frame if no script can have
// caused it. Otherwise the request waits until the frame itself is known to have
// asked for it.
func (g *Guard) frameRequestPaused(v pausedRequest) {
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
	time.AfterFunc(holdTime, func() { g.Post(heldTooLong, json.RawMessage(key)) })
}

// decideFrameRequest ends that wait. If the frame has not asked for the document itself, the
// page or a script has navigated it. A frame nested in it counts as navigated by
// others only if the page's process has reported that.
func (g *Guard) decideFrameRequest(v pausedRequest) {
	outermost := g.page.IsOutermost(v.session, proto.PageFrameID(v.FrameID))
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
func (g *Guard) navigatesItself(v pausedRequest) bool {
	url, known := g.selfNavigations[v.FrameID]
	return known && url == withoutQuery(v.Request.URL)
}
