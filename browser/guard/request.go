package guard

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// sentRequest is the Network.requestWillBeSent event.
type sentRequest struct {
	RequestID string    `json:"requestId"`
	Initiator initiator `json:"initiator"`
	// Type distinguishes more than that of a paused request, such as EventSource from
	// XHR.
	Type    string `json:"type"`
	Request struct {
		URL    string `json:"url"`
		Method string `json:"method"`
	} `json:"request"`
}

// initiator says who has caused a request.
type initiator struct {
	Stack *stack `json:"stack"`
	kind  string // the type of request
}

// pausedRequest is the Fetch.requestPaused event.
type pausedRequest struct {
	ID        string `json:"requestId"`
	NetworkID string `json:"networkId"`
	Type      string `json:"resourceType"`
	FrameID   string `json:"frameId"`
	// Redirected is set if a server has redirected the request.
	Redirected string `json:"redirectedRequestId"`
	session    proto.TargetSessionID
	Request    struct {
		URL     string `json:"url"`
		Method  string `json:"method"`
		Headers struct{ Accept string }
	} `json:"request"`
}

// requestState is what the guard knows about the requests of the document.
type requestState struct {
	// initiators are those of requests under way, by request id. held are the paused
	// requests whose initiator is not known yet.
	initiators map[string]initiator
	held       map[string]pausedRequest
	// mayRequest reports whether any script so far may have called a function that makes
	// requests.
	mayRequest bool
	// refusedLoads counts the loads that were refused without failing the run, since the
	// last warning.
	refusedLoads int
	// bypasses reports whether requests of the page go past its service worker.
	bypasses bool
}

// holdTime is how long a paused request waits for its initiator, which another event
// brings. A request without one belongs to a worker of the page, or was made before
// the guard was armed.
const holdTime = 150 * time.Millisecond

// maxRemembered bounds the scripts and the requests that are remembered per document.
const maxRemembered = 50_000

// heldTooLong is an event that the guard posts to itself after holdTime.
const heldTooLong = "held too long"

// requestSent records who has caused a request, and decides about it if it is paused
// already. It blocks the run if a script has caused it.
func (g *Guard) requestSent(v sentRequest) {
	v.Initiator.kind = v.Type
	if v.Type != "Document" && !isDataLoad(v.Type, v.Request.URL) && g.causedByScript(v.Initiator.Stack) { // whether it is paused or, as a prefetch, not
		g.block("reach " + v.Request.Method + " " + v.Request.URL)
		return
	}
	g.mu.Lock()
	if len(g.initiators) > maxRemembered {
		clear(g.initiators)
	}
	if _, redirected := g.initiators[v.RequestID]; !redirected {
		g.initiators[v.RequestID] = v.Initiator
	}
	held, ok := g.held[v.RequestID]
	delete(g.held, v.RequestID)
	g.mu.Unlock()
	if ok {
		g.decide(held, &v.Initiator)
	}
}

// requestPaused decides about a paused request, or holds it until its initiator is known.
func (g *Guard) requestPaused(v pausedRequest) {
	if v.session != "" {
		g.frameRequestPaused(v)
		return
	}
	g.mu.Lock()
	i, ok := g.initiators[v.NetworkID]
	if !ok && v.NetworkID != "" {
		g.held[v.NetworkID] = v
	}
	g.mu.Unlock()
	switch {
	case ok:
		g.decide(v, &i)
	case v.NetworkID == "":
		g.decide(v, nil)
	default:
		time.AfterFunc(holdTime, func() { g.Post(heldTooLong, json.RawMessage(v.NetworkID)) })
	}
}

// decideHeldRequest decides about a request whose initiator has not become known in time.
// It does nothing if the request was decided meanwhile.
func (g *Guard) decideHeldRequest(id string) {
	g.mu.Lock()
	held, ok := g.held[id]
	delete(g.held, id)
	g.mu.Unlock()
	switch {
	case !ok:
	case held.session != "":
		g.decideFrameRequest(held)
	default:
		g.decide(held, nil)
	}
}

// verdict is the decision about a request.
type verdict int

const (
	pass      verdict = iota // it continues
	refuse                   // it fails, and the run continues
	violation                // it is never answered, and the run ends
)

// decide ends the pause of a request. from is nil if its initiator is not known.
func (g *Guard) decide(v pausedRequest, from *initiator) {
	switch g.judge(v, from) {
	case violation:
		tried := "reach " + v.Request.Method + " " + v.Request.URL
		if v.Type == "Document" {
			tried = "navigate to " + v.Request.URL
		}
		g.block(tried)
	case refuse:
		g.answerRequest(v, refuse)
	default:
		g.answerRequest(v, pass)
	}
}

// answerRequest fails or continues a paused request.
func (g *Guard) answerRequest(v pausedRequest, as verdict) {
	var answer proto.Request = proto.FetchContinueRequest{RequestID: proto.FetchRequestID(v.ID)}
	if as == refuse {
		answer = proto.FetchFailRequest{RequestID: proto.FetchRequestID(v.ID), ErrorReason: proto.NetworkErrorReasonBlockedByClient}
	}
	if v.session == "" {
		g.page.Send(answer)
	} else {
		g.page.SendTo(v.session, answer)
	}
}

// judge decides about a paused request. from is nil if its initiator is not known.
func (g *Guard) judge(v pausedRequest, from *initiator) verdict {
	if from == nil || v.Redirected != "" { // the server, not a script, chooses where it redirects
		return pass
	}
	near := nearestScript(from.Stack, "")
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.Type == "Document" {
		reason := g.navigationReasons[v.FrameID]
		delete(g.navigationReasons, v.FrameID) // the next one may be that of an operation
		if near == "" && g.scriptRunning && g.mayNavigateFrames && v.FrameID == string(g.page.MainFrame()) && (reason == "scriptInitiated" || reason == "reload") {
			return violation // called by the browser itself, such as from a microtask
		}
		submitted := strings.HasPrefix(reason, "formSubmission") && !g.page.Acting()
		if reason == "anchorClick" && g.evaluatedScripts[near] || near == "" && (submitted || reason == "metaTagRefresh") {
			if g.documentChanged && !g.baseline.linksTo(v.Request.URL) {
				return violation
			}
			return pass
		}
	}
	switch {
	case isDataLoad(v.Type, v.Request.URL):
		return pass
	case g.frames[v.FrameID], g.evaluatedScripts[near]:
		return violation
	case near != "":
		return pass
	case g.mayRequest && (from.kind == "Fetch" || from.kind == "XHR" || from.kind == "Ping"):
		// A bound browser function that the browser has called itself, such as from
		// a microtask. Pages do not do this.
		return violation
	case !g.documentChanged || g.baseline.loads[v.Request.URL] || !loadsWithoutStack(v) && (v.Type != "Document" || !g.scriptRunning):
		return pass
	}
	g.refusedLoads++
	return refuse
}

// loadsWithoutStack reports whether the load is of a kind that has no stack, whatever has
// caused it: styles, media, and what loads when it is scrolled to. If its URL was not
// in the document before a script changed it, the script may have added it, even long
// before, or it may come from the page's stylesheets. So it is refused, and the run
// does not fail.
func loadsWithoutStack(v pausedRequest) bool {
	switch v.Type {
	case "Image", "Font", "Media", "Stylesheet", "TextTrack", "Manifest", "Prefetch", "Ping":
		return true
	}
	return v.Type == "Other" && strings.HasPrefix(v.Request.Headers.Accept, "image/") // the favicon
}

// isDataLoad reports whether the load is an image, a font or media in a data: URL, which
// reaches no host and runs no code.
func isDataLoad(kind, url string) bool {
	return strings.HasPrefix(url, "data:") && (kind == "Image" || kind == "Font" || kind == "Media")
}

// linksTo reports whether a link or a form that the document had before leads to the
// URL. Forms put their fields into its query.
func (m *baseline) linksTo(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	return m.links[url] || m.forms[path]
}
