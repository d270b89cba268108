package browser

import (
	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// maxRequestTraces bounds the requests that are remembered while an operation makes a
// request.
const maxRequestTraces = 1000

// denials has the requests that the egress policy may have refused, and the URL of the last
// document that was refused because its request had a secret, with the error.
type denials struct {
	leaking  string
	leak     *routine.Error
	document string                   // URL of the main document's last request, redirects included
	requests map[string]*requestTrace // by request id, while an operation makes a request
}

// requestTrace is a request of the page: its first URL, its URL after redirects, and why it
// failed, if it did.
type requestTrace struct {
	first, last string
	failure     loadingFailed
}

// loadingFailed is the part of Network.loadingFailed that says why a request failed.
type loadingFailed struct {
	ID    string `json:"requestId"`
	Error string `json:"errorText"`
	// Canceled reports whether the page stopped the request, not the server.
	Canceled bool   `json:"canceled"`
	Blocked  string `json:"blockedReason"`
	CORS     *struct {
		Error string `json:"corsError"`
	} `json:"corsErrorStatus"`
}

// requestEvent is the part of the events of a request that a page needs of each request.
type requestEvent struct {
	ID      string                    `json:"requestId"`
	Loader  string                    `json:"loaderId"`
	Frame   proto.PageFrameID         `json:"frameId"`
	Type    proto.NetworkResourceType `json:"type"`
	Request struct {
		URL string `json:"url"`
	} `json:"request"`
	Response *struct {
		URL      string `json:"url"`
		Status   int    `json:"status"`
		MIMEType string `json:"mimeType"`
	} `json:"response"`
}

// requestEvent handles the event of a request that is sent, answered or finished.
func (p *page) requestEvent(method string, e *requestEvent) {
	if method == "Network.requestWillBeSent" {
		p.noteRequest(e)
	}
	p.trackRequests(method, e)
	if e.Response == nil {
		return
	}
	if e.Type == proto.NetworkResourceTypeDocument && p.isMain(e.Frame) {
		p.update(func(s *navState) { s.status, s.statusOf = e.Response.Status, e.Loader })
	}
	if e.Response.Status >= 400 {
		p.trace.refused(e.ID, e.Response.URL, e.Response.Status)
	}
}

// noteRequest records the current URL of the page's document and of the requests that
// are made while an operation makes one. Only the browser knows the redirects, so this
// is how a refusal by the egress policy is recognised as that of the operation.
func (p *page) noteRequest(e *requestEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Type == proto.NetworkResourceTypeDocument && p.isMain(e.Frame) {
		p.denials.document = e.Request.URL
	}
	if h, known := p.denials.requests[e.ID]; known {
		h.last = e.Request.URL
	} else if p.denials.requests != nil && len(p.denials.requests) < maxRequestTraces {
		p.denials.requests[e.ID] = &requestTrace{first: e.Request.URL, last: e.Request.URL}
	}
}

// noteFailure records why a remembered request failed, and that the body of the
// document broke off.
func (p *page) noteFailure(e loadingFailed) {
	p.update(func(s *navState) {
		if h, known := p.denials.requests[e.ID]; known {
			h.failure = e
		}
		if e.ID == s.lastStarted {
			s.failure = e.Error
		}
		if e.ID == s.loader && !e.Canceled { // a document's request has its loader's id
			s.bodyBroke = true
		}
	})
}

// traceRequests starts to record requests. The function that it returns stops that and
// returns the request for url.
func (p *page) traceRequests() func(url string) requestTrace {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.denials.requests = map[string]*requestTrace{}
	return func(url string) requestTrace {
		p.mu.Lock()
		defer p.mu.Unlock()
		defer func() { p.denials.requests = nil }()
		for _, h := range p.denials.requests {
			if h.first == url {
				return *h
			}
		}
		return requestTrace{first: url, last: url}
	}
}

// refusedDocument is the refusal of the document that was requested last, by the egress policy
// or because of a secret; nil if it was not refused.
func (p *page) refusedDocument() (*routine.Error, bool) {
	p.mu.Lock()
	url, leak, leaked := p.denials.document, p.denials.leak, p.denials.leaking == p.denials.document
	p.mu.Unlock()
	if leak != nil && leaked {
		return leak, true
	}
	return p.proxy.Denied(url)
}

// Denials are the requests of the page that were refused since the last call.
func (p *page) Denials() []routine.Denial { return p.proxy.Denials() }
