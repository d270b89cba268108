package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/tracing"
)

// HTTP serves clients over HTTP: streamable HTTP of 2025-11-25, with sessions,
// and of 2026-07-28, without, at /mcp; the older SSE at /sse and /message.
type HTTP struct {
	options    Options
	admission  Admission
	basePath   string
	keepAlives *keepAlives
	sessions   *sessions
	closed     chan struct{}
	close      func()

	mu         sync.Mutex
	streamable map[Peer]*server.StreamableHTTPServer
}

// NewHTTP returns the handler of the protocol's paths below basePath, which is
// empty or as "/rote". Close it to end the streams.
func NewHTTP(o Options, a Admission, basePath string) *HTTP {
	h := &HTTP{options: o, admission: a, basePath: basePath, keepAlives: newKeepAlives(cmp.Or(o.KeepAlive, keepAliveInterval)), sessions: newSessions(),
		closed: make(chan struct{}), streamable: map[Peer]*server.StreamableHTTPServer{}}
	h.close = sync.OnceFunc(func() { close(h.closed) })
	return h
}

// Paths returns the paths that the handler serves.
func (h *HTTP) Paths() []string {
	return []string{h.basePath + "/mcp", h.basePath + "/sse", h.basePath + "/message"}
}

// Close ends the streams that clients hold open for notifications, and the SSE
// sessions with their requests. Other requests end when their runs end.
func (h *HTTP) Close() { h.close() }

// ServeHTTP answers a request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.recoverPanic(r)
	r = r.WithContext(audit.WithRequest(r.Context(), audit.Request{Via: routine.ViaMCP, Client: h.admission.ClientAddress(r)}))
	q := &request{}
	q.record.transport, q.record.started = "http", time.Now()
	if err := h.serve(w, r, q); err != nil {
		h.refuse(w, err)
		q.record.code = routine.CodeOf(err)
		q.record.log(r.Context(), h.options.Log, h.options.Audit, q.principal)
	}
}

func (h *HTTP) serve(w http.ResponseWriter, r *http.Request, q *request) error {
	if err := h.admit(w, r, q); err != nil {
		return err
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	done, err := h.admission.StartRequest(r, q.principal)
	if err != nil {
		return err
	}
	defer done()
	switch path := strings.TrimPrefix(r.URL.Path, h.basePath); path + " " + r.Method {
	case "/mcp POST":
		return h.post(w, r, q)
	case "/mcp GET", "/mcp DELETE":
		return h.handleSession(w, r, q)
	case "/sse GET":
		return h.serveSSE(w, r, q)
	case "/message POST":
		return h.postSSE(w, r, q)
	default:
		w.Header().Set("Allow", map[string]string{"/mcp": "GET, POST, DELETE, OPTIONS", "/sse": "GET, OPTIONS", "/message": "POST, OPTIONS"}[path])
		return errMethod
	}
}

// recoverPanic logs a panic of a handler and closes the connection: part of the
// answer may have been sent already.
func (h *HTTP) recoverPanic(r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		h.options.Log.ErrorContext(r.Context(), "mcp request", "error", routine.PanicError(p))
	}
	panic(http.ErrAbortHandler)
}

// postedMessage has those members of a posted message that decide how it is handled.
type postedMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Version       string          `json:"io.modelcontextprotocol/protocolVersion"`
			ProgressToken json.RawMessage `json:"progressToken"`
			traceMeta
		} `json:"_meta"`
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// post answers one message of a client, as JSON or as a stream of events.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, q *request) error {
	text, err := h.body(w, r)
	if err != nil {
		return err
	}
	var m postedMessage
	_ = json.Unmarshal(text, &m) // mcp-go refuses what is not a message
	if hasNullID(m.ID, m.Method) {
		return errNullID
	}
	cancels := m.Method == string(mcp.MethodNotificationCancelled)
	modern := isModern(r) || mcp.IsModernProtocol(m.Params.Meta.Version)
	if modern && cancels {
		// Without sessions, request ids of different clients can be equal: a client
		// cancels a request by closing its stream.
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !modern {
		if err := h.useSession(r, q, m.Method); err != nil {
			return err
		}
		defer h.sessions.release(q.session)
		if m.Method == string(mcp.MethodInitialize) {
			w.Header().Set(server.HeaderKeySessionID, q.session.id) // now, because the answer may become a stream
		}
		if isCall(m.Method) {
			h.sessions.markCalled(q.session)
		}
		q.calls = &q.session.calls
	}
	if modern && m.Method == string(mcp.MethodSubscriptionsListen) {
		defer q.peer.Listen(ctx)()
		defer h.untilClosed(cancel, nil)()
	}
	q.progressToken = exactToken(m.Params.Meta.ProgressToken)
	id := newRequestID(m.ID)
	if text = id.hide(text, "id"); cancels {
		text = newRequestID(m.Params.RequestID).hide(text, "params", "requestId")
	}
	if len(m.ID) > 0 {
		q.record.id = m.ID
		if q.session != nil {
			q.record.session = q.session.id
		}
		parent := m.Params.Meta.parent()
		if parent.Traceparent == "" {
			parent = tracing.Parent{Traceparent: r.Header.Get("traceparent"), Tracestate: r.Header.Get("tracestate")}
		}
		ctx = q.record.startSpan(ctx, h.options.Tracer, parent)
		defer func() { q.record.log(ctx, h.options.Log, h.options.Audit, q.principal) }()
	}
	h.answer(ctx, cancel, w, r, q, id, text)
	return nil
}

// isModern reports whether the header of a request names a revision of the
// protocol that has no sessions.
func isModern(r *http.Request) bool {
	return mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
}

// isCall reports whether a client sends a request of this method because its user
// wants something. Clients list tools, resources and prompts on their own when
// they begin a session.
func isCall(method string) bool {
	return slices.Contains([]mcp.MCPMethod{mcp.MethodToolsCall, mcp.MethodResourcesRead, mcp.MethodPromptsGet}, mcp.MCPMethod(method))
}

// useSession sets the session that a legacy message belongs to, which initialize
// makes. The caller releases it.
func (h *HTTP) useSession(r *http.Request, q *request, method string) (err error) {
	if method == string(mcp.MethodInitialize) {
		return h.newSession(r.Context(), q, nil)
	}
	id := r.Header.Get(server.HeaderKeySessionID)
	if id == "" {
		return routine.Errorf(routine.CodeInvalid, "the header %s is missing: send the id that initialize gave", server.HeaderKeySessionID)
	}
	q.session, err = h.sessions.use(q.principal, id, false)
	return err
}

// newSession makes the session of a request. mcp-go forgets those that were ended
// for it.
func (h *HTTP) newSession(ctx context.Context, q *request, messages chan sseMessage) error {
	s, ended, err := h.sessions.add(q.principal, q.peer, messages)
	for _, old := range ended {
		h.forget(ctx, old)
	}
	q.session = s
	return err
}

// answer has mcp-go answer a request. Notifications that belong to it go before
// the response. A client that does not read cancels its request.
func (h *HTTP) answer(ctx context.Context, cancel func(), w http.ResponseWriter, r *http.Request, q *request, id requestID, text []byte) {
	keepAlives := h.keepAlives
	if r.Method == http.MethodPost && !strings.Contains(r.Header.Get("Accept"), eventStream) {
		keepAlives = nil
	}
	s := newStream(w, keepAlives, cancel)
	defer s.close()
	s.id, s.code = id, &q.errorCode
	if s.CanStream() {
		q.notify = func(method string, params any) error {
			return s.write(notification{mcp.JSONRPC_VERSION, method, params})
		}
	}
	h.transport(q.peer).Handle(s, &server.HTTPRequest{Method: r.Method, Header: r.Header, Body: text, Context: withRequest(ctx, q)})
}

// transport returns mcp-go's own transport for a peer. It only gets requests that
// were admitted here.
func (h *HTTP) transport(p Peer) *server.StreamableHTTPServer {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.streamable[p]
	if t == nil {
		t = server.NewStreamableHTTPServer(p.Server(), server.WithSessionIdManagerResolver(h.sessions), server.WithStreamableHTTPLogger(h.options.Log))
		h.streamable[p] = t
	}
	return t
}

// forget makes mcp-go drop what it keeps of a session that has ended. It does so
// only for a client's request, so this is one.
func (h *HTTP) forget(ctx context.Context, s *httpSession) {
	header := http.Header{}
	header.Set(server.HeaderKeySessionID, s.id)
	h.transport(s.peer).Handle(discardResponse{}, &server.HTTPRequest{Method: http.MethodDelete, Header: header, Context: withRequest(ctx, &request{session: s})})
}

// discardResponse is a response writer that drops what is written.
type discardResponse struct{}

func (discardResponse) Header() http.Header         { return http.Header{} }
func (discardResponse) Write(b []byte) (int, error) { return len(b), nil }
func (discardResponse) WriteHeader(int)             {}
func (discardResponse) Flush()                      {}
func (discardResponse) CanStream() bool             { return false }

// handleSession answers a GET, which opens the stream over which a session gets
// notifications of changes, or a DELETE, which ends a session.
func (h *HTTP) handleSession(w http.ResponseWriter, r *http.Request, q *request) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !isModern(r) { // mcp-go answers that modern clients have no sessions
		if err := h.useSession(r, q, ""); err != nil {
			return err
		}
		defer h.sessions.release(q.session)
		if r.Method == http.MethodGet {
			defer q.peer.Listen(ctx)()
			defer h.untilClosed(cancel, q.session.ended)()
		}
	}
	h.answer(ctx, cancel, w, r, q, requestID{}, nil)
	return nil
}

// untilClosed calls cancel as soon as the handler is closed or the channel ended
// is, unless stop is called before.
func (h *HTTP) untilClosed(cancel func(), ended <-chan struct{}) (stop func()) {
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-h.closed:
			cancel()
		case <-ended:
			cancel()
		case <-stopped:
		}
	}()
	return func() { close(stopped); <-done }
}
