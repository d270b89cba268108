package browser

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

type sentRequest struct {
	RequestID string    `json:"requestId"`
	Initiator initiator `json:"initiator"`
	// Type is finer than a paused request's: an EventSource is no XHR.
	Type    string `json:"type"`
	Request struct {
		URL    string `json:"url"`
		Method string `json:"method"`
	} `json:"request"`
}

type initiator struct {
	Stack *stack `json:"stack"`
	kind  string // the type of request
}

type pausedRequest struct {
	ID        string `json:"requestId"`
	NetworkID string `json:"networkId"`
	Type      string `json:"resourceType"`
	FrameID   string `json:"frameId"`
	// Redirected is set when a server has sent the request on.
	Redirected string `json:"redirectedRequestId"`
	session    proto.TargetSessionID
	Request    struct {
		URL     string `json:"url"`
		Method  string `json:"method"`
		Headers struct{ Accept string }
	} `json:"request"`
}

// holdTime is how long a paused request waits for its initiator, which comes by
// another way. One without belongs to a worker of the page, or is older than
// the watch.
const holdTime = 150 * time.Millisecond

// maxNoted is how many scripts and requests of one document are kept in mind.
const maxNoted = 50_000

// heldTooLong is the guard's own event after holdTime.
const heldTooLong = "held too long"

func (g *guard) requestSent(v sentRequest) {
	v.Initiator.kind = v.Type
	if v.Type != "Document" && !isData(v.Type, v.Request.URL) && g.isOurs(v.Initiator.Stack) { // whether it is paused or, as a prefetch, not
		g.block("reach " + v.Request.Method + " " + v.Request.URL)
		return
	}
	g.mu.Lock()
	if len(g.initiators) > maxNoted {
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

func (g *guard) requestPaused(v pausedRequest) {
	if v.session != "" {
		g.framePaused(v)
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
		time.AfterFunc(holdTime, func() { g.post(heldTooLong, json.RawMessage(v.NetworkID)) })
	}
}

func (g *guard) decideHeld(id string) {
	g.mu.Lock()
	held, ok := g.held[id]
	delete(g.held, id)
	g.mu.Unlock()
	switch {
	case !ok:
	case held.session != "":
		g.decideFrame(held)
	default:
		g.decide(held, nil)
	}
}

// verdict is what becomes of a request.
type verdict int

const (
	pass verdict = iota
	refuse
	violation
)

// decide ends the pause of a request. from is nil when nothing is known of its
// origin.
func (g *guard) decide(v pausedRequest, from *initiator) {
	switch g.judge(v, from) {
	case violation:
		tried := "reach " + v.Request.Method + " " + v.Request.URL
		if v.Type == "Document" {
			tried = "navigate to " + v.Request.URL
		}
		g.block(tried)
	case refuse:
		g.end(v, refuse)
	default:
		g.end(v, pass)
	}
}

// end answers a paused request: it is refused or goes on.
func (g *guard) end(v pausedRequest, as verdict) {
	session := cmp.Or(v.session, g.p.session)
	if as == refuse {
		fail := proto.FetchFailRequest{RequestID: proto.FetchRequestID(v.ID), ErrorReason: proto.NetworkErrorReasonBlockedByClient}
		g.p.i.client.send(session, fail.ProtoReq(), fail)
		return
	}
	on := proto.FetchContinueRequest{RequestID: proto.FetchRequestID(v.ID)}
	g.p.i.client.send(session, on.ProtoReq(), on)
}

func (g *guard) judge(v pausedRequest, from *initiator) verdict {
	if from == nil || v.Redirected != "" { // where a server sends on what has passed is no script's choice
		return pass
	}
	near := nearest(from.Stack, "")
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.Type == "Document" {
		reason := g.asked[v.FrameID]
		delete(g.asked, v.FrameID) // the next may be the run's own
		if near == "" && g.during && g.sends && v.FrameID == string(g.p.target) && (reason == "scriptInitiated" || reason == "reload") {
			return violation // called back by the browser itself, as from a microtask
		}
		submitted := strings.HasPrefix(reason, "formSubmission") && !g.p.acting.Load()
		if reason == "anchorClick" && g.ours[near] || near == "" && (submitted || reason == "metaTagRefresh") {
			if g.draws && !g.marks.lead(v.Request.URL) {
				return violation
			}
			return pass
		}
	}
	switch {
	case isData(v.Type, v.Request.URL):
		return pass
	case g.frames[v.FrameID], g.ours[near]:
		return violation
	case near != "":
		return pass
	case g.requests && (from.kind == "Fetch" || from.kind == "XHR" || from.kind == "Ping"):
		// A function of the browser's that it has called back by itself, as from
		// a microtask. Pages do not do this.
		return violation
	case !g.draws || g.marks.loads[v.Request.URL] || !maybeDrawn(v) && (v.Type != "Document" || !g.during):
		return pass
	}
	g.refused++
	return refuse
}

// maybeDrawn tells the kinds of load that have no stack, whoever has written
// what makes them: styles, media, what waits to be scrolled to. One that was not
// there before a script changed the document may be the script's, also long
// after its call, or come from the page's stylesheets: it is refused without
// blame.
func maybeDrawn(v pausedRequest) bool {
	switch v.Type {
	case "Image", "Font", "Media", "Stylesheet", "TextTrack", "Manifest", "Prefetch", "Ping":
		return true
	}
	return v.Type == "Other" && strings.HasPrefix(v.Request.Headers.Accept, "image/") // the page's icon
}

// isData tells that a load brings its own bytes and runs nothing: a picture, a
// font or a sound that is its URL.
func isData(kind, url string) bool {
	return strings.HasPrefix(url, "data:") && (kind == "Image" || kind == "Font" || kind == "Media")
}

// lead tells that a link or a form of the document's own leads there. A form
// puts its fields behind its path.
func (m *marks) lead(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	return m.leads[url] || m.forms[path]
}
