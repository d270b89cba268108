package browser

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// Limits of a request log. The bytes are those of all that it keeps: URLs, headers and
// bodies.
const (
	maxLoggedRequests = 200
	maxLoggedBytes    = 8 << 20
	maxLoggedBody     = 256 << 10
	maxEarlyHeaders   = 50
	// maxKeptBody bounds a body that the browser keeps until it is read.
	maxKeptBody = 1 << 20
)

// requestLog are the requests for data that the pages of a run have made, with their
// answers. It exists only if the run was opened with [routine.PageOptions.Watch]. Requests
// of workers are not in it, except as far as a service worker answers a page.
type requestLog struct {
	ctx  context.Context // ends with the run
	stop context.CancelFunc

	mu      sync.Mutex
	entries []*loggedRequest // oldest first
	// open are the requests whose answer is not complete, by their id in the browser.
	open map[string]*loggedRequest
	// early are headers whose request was not announced yet.
	early []requestHeaders
	// last is the number of the latest request, and bytes the size of all kept texts.
	last, bytes     int
	others, dropped int
	// reading counts the bodies that are being read; read is closed and replaced when one
	// was read.
	reading int
	read    chan struct{}
}

// loggedRequest is a request of the log.
type loggedRequest struct {
	routine.Request
	id string
	// page, session and loader are the page, the session and the document that made it.
	page    *page
	session proto.TargetSessionID
	loader  string
	// foreign reports whether the request may be one to a host that only collects. Then
	// it is not listed unless its answer says otherwise.
	foreign bool
	bytes   int // as counted in requestLog.bytes
}

func newRequestLog() *requestLog {
	l := &requestLog{open: map[string]*loggedRequest{}, read: make(chan struct{})}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// watchRequests starts the log of the run's requests.
func (p *page) watchRequests(ctx context.Context) error {
	p.log.Store(newRequestLog())
	_, err := p.Await(ctx, enableLog(p))
	return err
}

// enableLog makes the browser keep the bodies of a session for the log. Those that are
// kept outside of the renderer can also be read when the page has navigated away; not
// every browser can do that.
func enableLog(s cdp.Session) *cdp.Future {
	s.Send(keepBodies{}).Forget()
	return s.Send(proto.NetworkEnable{MaxTotalBufferSize: new(maxLoggedBytes), MaxResourceBufferSize: new(maxKeptBody), MaxPostDataSize: new(maxLoggedBody)})
}

// keepBodies is a request that rod does not define.
type keepBodies struct{}

func (keepBodies) ProtoReq() string { return "Network.configureDurableMessages" }
func (keepBodies) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]int{"maxTotalBufferSize": maxLoggedBytes, "maxResourceBufferSize": maxKeptBody})
}

// logRequests passes an event of one of the page's sessions to the log, if the run has
// one. It runs on the reading goroutine.
func (p *page) logRequests(session proto.TargetSessionID, method string, params json.RawMessage) {
	l := p.first().log.Load()
	if l == nil {
		return
	}
	switch method {
	case "Network.requestWillBeSent":
		if e, ok := cdp.Decode[requestSent](params); ok {
			l.sent(p, session, &e)
		}
	case "Network.requestWillBeSentExtraInfo":
		if e, ok := cdp.Decode[requestHeaders](params); ok {
			l.sentHeaders(e)
		}
	case "Network.responseReceived":
		if e, ok := cdp.Decode[responseReceived](params); ok {
			l.update(e.ID, func(r *loggedRequest) { r.answered(e.Response) })
		}
	case "Network.dataReceived":
		if e, ok := cdp.Decode[proto.NetworkDataReceived](params); ok {
			l.update(string(e.RequestID), func(r *loggedRequest) { r.AnswerSize += int64(e.DataLength) })
		}
	case "Network.loadingFinished":
		if e, ok := cdp.Decode[proto.NetworkLoadingFinished](params); ok {
			l.finished(p, session, string(e.RequestID))
		}
	case "Network.loadingFailed":
		if e, ok := cdp.Decode[loadingFailed](params); ok {
			l.failed(p, e)
		}
	case "Page.frameNavigated":
		if e, ok := cdp.Decode[proto.PageFrameNavigated](params); ok && session == p.session && e.Frame.ParentID == "" {
			now := string(e.Frame.LoaderID)
			l.abandon(func(r *loggedRequest) bool { return r.page == p && r.loader != now && r.id != now })
		}
	case "Target.detachedFromTarget":
		if e, ok := cdp.Decode[proto.TargetDetachedFromTarget](params); ok {
			l.abandon(func(r *loggedRequest) bool { return r.session == e.SessionID && !r.isDocument() })
		}
	}
}

func (r *loggedRequest) isDocument() bool { return r.Kind == "form" || r.Kind == "document" }

// abandon ends the requests whose page has left or was closed. The browser does not always
// announce their end.
func (l *requestLog) abandon(gone func(*loggedRequest) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range slices.Collect(maps.Values(l.open)) {
		if gone(r) {
			l.breakOff(r, "the page left or cancelled it")
		}
	}
}

// breakOff ends a request whose answer did not arrive, or not as a whole. l.mu is held.
func (l *requestLog) breakOff(r *loggedRequest, why string) {
	if r.Status == 0 {
		r.Error = why
	} else {
		r.AnswerLost = isTextual(r.ContentType) && r.Kind != "eventsource"
	}
	l.complete(r)
	if r.foreign {
		l.hide(r)
	}
}

// responseReceived is the part of the event that the log needs.
type responseReceived struct {
	ID       string       `json:"requestId"`
	Response responseHead `json:"response"`
}

type responseHead struct {
	Status   int    `json:"status"`
	MimeType string `json:"mimeType"`
}

func (r *loggedRequest) answered(h responseHead) { r.Status, r.ContentType = h.Status, h.MimeType }

// sent records a request, if it is one for data. A redirect announces the same request
// again: then what was known of it is the answer to its first part.
func (l *requestLog) sent(p *page, session proto.TargetSessionID, e *requestSent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.open[e.ID]
	if before != nil && e.Redirect != nil {
		before.answered(*e.Redirect)
		l.complete(before)
	}
	kind := e.kind()
	if kind == "" && before != nil && e.Redirect != nil {
		kind = "document" // the answer to a form
	}
	switch {
	case !strings.HasPrefix(e.Request.URL, "http:") && !strings.HasPrefix(e.Request.URL, "https:"): // data and blobs
		return
	case kind == "" && e.Redirect == nil:
		l.others++
		return
	case kind == "":
		return
	}
	l.last++
	r := &loggedRequest{id: e.ID, page: p, session: session, loader: e.Loader, Request: routine.Request{
		Number: l.last, Kind: kind, Method: e.Request.Method, URL: e.Request.URL,
		PageURL: e.DocumentURL, SentAt: time.UnixMicro(int64(e.WallTime * 1e6)), Headers: e.Request.Headers}}
	if r.Headers == nil {
		r.Headers = map[string]string{}
	}
	r.Body, r.BodyTruncated = e.body()
	r.ByOperation = p.isOwnFetch(e)
	r.foreign = !r.ByOperation && !r.isDocument() && p.mayCollect(e)
	if before != nil && e.Redirect != nil {
		r.ByOperation, r.foreign = before.ByOperation, before.foreign
	}
	l.entries = append(l.entries, r)
	l.open[e.ID] = r
	l.early = slices.DeleteFunc(l.early, func(h requestHeaders) bool {
		if h.ID == e.ID {
			r.addHeaders(h)
		}
		return h.ID == e.ID
	})
	l.bound(r)
}

// sentHeaders adds the headers that the browser has added to a request, such as its
// cookies. They are announced before or after the request.
func (l *requestLog) sentHeaders(e requestHeaders) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range slices.Backward(l.entries) {
		if r.id == e.ID {
			r.addHeaders(e)
			l.bound(r)
			return
		}
	}
	l.early = latest(l.early, e, maxEarlyHeaders)
}

// update changes a request whose answer is not complete.
func (l *requestLog) update(id string, change func(*loggedRequest)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.open[id]; r != nil {
		change(r)
	}
}

// failed records why there is no answer, or no complete one.
func (l *requestLog) failed(p *page, e loadingFailed) {
	l.update(e.ID, func(r *loggedRequest) {
		if e.Canceled && !r.isDocument() { // or the page did not read the body
			l.breakOff(r, "the page left or cancelled it")
			return
		}
		if !r.isDocument() || r.Status != 204 && r.Status != 205 { // otherwise the page stays
			r.Error = p.whyFailed(r.URL, e)
			if denied, ok := p.proxy.Denied(r.URL); ok {
				r.Error = denied.Message
			}
		}
		l.complete(r)
		if r.foreign {
			l.hide(r)
		}
	})
}

// complete records that no more of an answer will come. l.mu is held.
func (l *requestLog) complete(r *loggedRequest) {
	if l.open[r.id] == r {
		delete(l.open, r.id)
	}
}

// hide removes a request and counts it among the others. l.mu is held.
func (l *requestLog) hide(r *loggedRequest) {
	l.remove(r)
	l.others++
}

// remove removes a request. l.mu is held.
func (l *requestLog) remove(r *loggedRequest) {
	l.complete(r)
	if at := slices.Index(l.entries, r); at >= 0 {
		l.entries = slices.Delete(l.entries, at, at+1)
		l.bytes -= r.bytes
	}
}

// bound counts what is kept of a request that has changed, and drops the oldest bodies
// and requests that are too many. l.mu is held.
func (l *requestLog) bound(r *loggedRequest) {
	l.count(r)
	for l.bytes > maxLoggedBytes {
		at := slices.IndexFunc(l.entries, func(r *loggedRequest) bool { return r.Body != "" || r.Answer != nil })
		if at < 0 {
			l.drop(l.entries[0])
			continue
		}
		old := l.entries[at]
		old.BodyTruncated = old.BodyTruncated || old.Body != ""
		old.AnswerLost = old.AnswerLost || old.Answer != nil
		old.Body, old.Answer = "", nil
		l.count(old)
	}
	for len(l.entries) > maxLoggedRequests {
		at := max(0, slices.IndexFunc(l.entries, func(r *loggedRequest) bool { return r.foreign }))
		l.drop(l.entries[at])
	}
}

// count counts what is kept of a request. l.mu is held.
func (l *requestLog) count(r *loggedRequest) {
	bytes := len(r.URL) + len(r.PageURL) + len(r.Body) + len(r.Answer)
	for name, value := range r.Headers {
		bytes += len(name) + len(value)
	}
	l.bytes += bytes - r.bytes
	r.bytes = bytes
}

// drop removes a request for which there is no room. l.mu is held.
func (l *requestLog) drop(r *loggedRequest) {
	if r.foreign {
		l.hide(r)
		return
	}
	l.remove(r)
	l.dropped++
}

// list returns the requests with a number above after. It waits a moment for bodies that
// are being read.
func (l *requestLog) list(ctx context.Context, after int) (routine.RequestLog, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for limit := time.After(time.Second); l.reading > 0; {
		read := l.read
		l.mu.Unlock()
		late := false
		select {
		case <-read:
		case <-limit:
			late = true
		case <-ctx.Done():
		}
		l.mu.Lock()
		if ctx.Err() != nil {
			return routine.RequestLog{}, context.Cause(ctx)
		}
		if late {
			break
		}
	}
	listed := routine.RequestLog{Others: l.others, Dropped: l.dropped}
	for _, r := range l.entries {
		if r.foreign {
			listed.Others++
			continue
		}
		if r.Number <= after {
			continue
		}
		if r.Status == 0 && r.Error == "" {
			listed.Pending++
		}
		shown := r.Request
		shown.Headers = maps.Clone(r.Headers)
		listed.Requests = append(listed.Requests, shown)
	}
	return listed, nil
}
