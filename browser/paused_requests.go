package browser

import (
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// pausedHop is the event of a request, or of a redirect of one, that was paused before it is
// sent.
type pausedHop struct {
	ID   proto.FetchRequestID      `json:"requestId"`
	Type proto.NetworkResourceType `json:"resourceType"`
	// Network is the id of the request in other events, which its redirects share. Redirected
	// is set if it is a redirect.
	Network    string `json:"networkId"`
	Redirected string `json:"redirectedRequestId"`
	Request    struct {
		URL         string            `json:"url"`
		Method      string            `json:"method"`
		Headers     map[string]string `json:"headers"`
		HasPostData bool              `json:"hasPostData"`
		// Body are the pieces of the body. Those of files are missing.
		Body []struct {
			Bytes []byte `json:"bytes"`
		} `json:"postDataEntries"`
	} `json:"request"`
}

// pauseAll matches all requests.
var pauseAll = []*proto.FetchRequestPattern{{URLPattern: "*"}}

// pausePatterns are those of the requests that each session of the run pauses whether it is
// guarded or not; nil if there are none. It takes no lock.
func (p *page) pausePatterns() []*proto.FetchRequestPattern {
	if p.isWatched() {
		return pauseAll
	}
	if b := p.first().blocks.Load(); b != nil {
		return b.patterns
	}
	return nil
}

// ownPausePatterns is pausePatterns for the page's own session. It takes no lock.
func (p *page) ownPausePatterns() []*proto.FetchRequestPattern {
	if p.sending.Load() != nil {
		return pauseAll
	}
	return p.pausePatterns()
}

// pauseOwn is the request after which the page's own session pauses no others than those of
// ownPausePatterns.
func (p *page) pauseOwn() proto.Request {
	if patterns := p.ownPausePatterns(); len(patterns) > 0 {
		return proto.FetchEnable{Patterns: patterns}
	}
	return proto.FetchDisable{}
}

// pauseSession makes a new session of the run pause the requests of pausePatterns.
func (p *page) pauseSession(session proto.TargetSessionID) {
	if patterns := p.pausePatterns(); len(patterns) > 0 {
		p.i.client.Send(session, "Fetch.enable", proto.FetchEnable{Patterns: patterns}).Forget()
	}
}

// answerPaused answers a paused request of a session of the run, unless the guard or
// answerBlank does. It reports whether it did. It runs on the reading goroutine.
func (p *page) answerPaused(session proto.TargetSessionID, params json.RawMessage) bool {
	b, sent := p.first().blocks.Load(), p.sending.Load()
	if b == nil && sent == nil && !p.isWatched() {
		return false
	}
	e, ok := cdp.Decode[pausedHop](params)
	if !ok {
		return false
	}
	p.mu.Lock()
	g, blank := p.guarding.guard, p.storage.blank
	p.mu.Unlock()
	leaked := p.leak(&e)
	switch {
	case b != nil && b.names[e.Type] != "":
		b.add(b.names[e.Type])
	case sent != nil && session == p.session && sent.judge(&e):
	case leaked != nil:
		p.noteLeak(&e, leaked)
	case blank, g != nil && g.IsArmed() && (session == p.session || e.Type == proto.NetworkResourceTypeDocument):
		return false
	default:
		p.i.client.Send(session, "Fetch.continueRequest", proto.FetchContinueRequest{RequestID: e.ID}).Forget()
		return true
	}
	p.i.client.Send(session, "Fetch.failRequest", proto.FetchFailRequest{RequestID: e.ID, ErrorReason: proto.NetworkErrorReasonBlockedByClient}).Forget()
	return true
}
