package browser

import (
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// maxHops bounds the requests that are remembered while an operation makes one
// of its own.
const maxHops = 1000

// hop is a request of the page: what it asked for first and, after redirects,
// last, and why it failed where it did.
type hop struct {
	first, last string
	failure     loadingFailed
}

// loadingFailed is Network.loadingFailed, as far as it says why.
type loadingFailed struct {
	ID    string `json:"requestId"`
	Error string `json:"errorText"`
	// Canceled tells that the page or its end stopped it, not the server.
	Canceled bool   `json:"canceled"`
	Blocked  string `json:"blockedReason"`
	CORS     *struct {
		Error string `json:"corsError"`
	} `json:"corsErrorStatus"`
}

// noteRequest keeps where the page's document, and the requests made while an
// operation makes one of its own, have got to. It is how a refusal of the policy
// is told to be the operation's own: only the browser knows the redirects.
func (p *page) noteRequest(params json.RawMessage) {
	e, ok := decode[struct {
		ID      string                    `json:"requestId"`
		Frame   proto.PageFrameID         `json:"frameId"`
		Type    proto.NetworkResourceType `json:"type"`
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
	}](params)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Type == proto.NetworkResourceTypeDocument && p.isMain(e.Frame) {
		p.document = e.Request.URL
	}
	if h, known := p.hops[e.ID]; known {
		h.last = e.Request.URL
	} else if p.hops != nil && len(p.hops) < maxHops {
		p.hops[e.ID] = &hop{first: e.Request.URL, last: e.Request.URL}
	}
}

// noteFailure keeps why a remembered request failed, and that the document's own
// did.
func (p *page) noteFailure(e loadingFailed) {
	p.update(func(s *state) {
		if h, known := p.hops[e.ID]; known {
			h.failure = e
		}
		if e.ID == s.went {
			s.failure = e.Error
		}
		if e.ID == s.loader && !e.Canceled { // a document's request has its loader's id
			s.broke = true
		}
	})
}

// watchHops begins to remember requests; the function it returns ends that and
// says what became of the one for url.
func (p *page) watchHops() func(url string) hop {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hops = map[string]*hop{}
	return func(url string) hop {
		p.mu.Lock()
		defer p.mu.Unlock()
		defer func() { p.hops = nil }()
		for _, h := range p.hops {
			if h.first == url {
				return *h
			}
		}
		return hop{first: url, last: url}
	}
}

// refused is the policy's refusal of the document that was asked for last.
func (p *page) refused() (*routine.Error, bool) {
	p.mu.Lock()
	url := p.document
	p.mu.Unlock()
	return p.proxy.Denied(url)
}

// Denials are the page's refused requests since the last call.
func (p *page) Denials() []routine.Denial { return p.proxy.Denials() }

func shortURL(url string) string { return routine.Truncate(url, routine.MaxShownURL) }
