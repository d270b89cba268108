package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/routine"
)

// Door is what every request over HTTP passes first.
type Door interface {
	// Admit refuses requests that name a foreign host or come from a page of a
	// foreign origin.
	Admit(*http.Request) error
	// Caller is who makes a request; without a token, the anonymous caller. It
	// counts the call: CodeRateLimited.
	Caller(http.ResponseWriter, *http.Request) (routine.Principal, error)
	// Begin counts a request of a caller as open until done is called, and refuses
	// one too many: CodeRateLimited.
	Begin(*http.Request, routine.Principal) (done func(), err error)
	// Refuse gives the status that answers an error, and sets the headers that
	// go with it.
	Refuse(http.Header, error) (status int)
}

// HTTP serves clients over HTTP: streamable HTTP of 2025-11-25, with sessions,
// and of 2026-07-28, without, at /mcp; the older SSE at /sse and /message.
type HTTP struct {
	server   *Server
	door     Door
	base     string
	beats    *beats
	sessions *sessions
	closed   chan struct{}
	close    func()

	mu         sync.Mutex
	streamable map[*organization]*server.StreamableHTTPServer
}

// NewHTTP makes the handler of the three paths below base, which is empty or as
// /rote. Close it to end the streams.
func (s *Server) NewHTTP(door Door, base string) *HTTP {
	h := &HTTP{server: s, door: door, base: base, beats: newBeats(beatInterval), sessions: newSessions(), closed: make(chan struct{}),
		streamable: map[*organization]*server.StreamableHTTPServer{}}
	h.close = sync.OnceFunc(func() { close(h.closed) })
	return h
}

// Paths are those that are served here.
func (h *HTTP) Paths() []string {
	return []string{h.base + "/mcp", h.base + "/sse", h.base + "/message"}
}

// Close ends the streams that clients hold open to be told of changes, and SSE
// sessions with what they wait for. Other requests end with their runs.
func (h *HTTP) Close() { h.close() }

// ServeHTTP answers a request that passes the guards.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.survive(r)
	arrived := time.Now()
	p, o, err := h.enter(w, r)
	if err != nil {
		h.refuse(w, err)
		return
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	done, err := h.door.Begin(r, p)
	if err != nil {
		h.refuse(w, err)
		return
	}
	defer done()
	r = r.WithContext(withPrincipal(r.Context(), p))
	switch route := strings.TrimPrefix(r.URL.Path, h.base) + " " + r.Method; route {
	case "/mcp POST":
		err = h.post(w, r, p, o, arrived)
	case "/mcp GET":
		err = h.listen(w, r, p, o)
	case "/mcp DELETE":
		err = h.end(w, r, p, o)
	case "/sse GET":
		err = h.serveSSE(w, r, p, o)
	case "/message POST":
		err = h.takeMessage(w, r, p)
	default:
		allow := map[string]string{"/mcp": "GET, POST, DELETE, OPTIONS", "/sse": "GET, OPTIONS", "/message": "POST, OPTIONS"}
		w.Header().Set("Allow", allow[strings.TrimPrefix(r.URL.Path, h.base)])
		err = errMethod
	}
	if err != nil {
		h.refuse(w, err)
	}
}

// survive logs a panic, and cuts the connection: what of the answer is out is
// not known.
func (h *HTTP) survive(r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		h.server.log.ErrorContext(r.Context(), "mcp request", "error", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
	panic(http.ErrAbortHandler)
}

// peek is what of a posted message decides how it is handled.
type peek struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Version       string          `json:"io.modelcontextprotocol/protocolVersion"`
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// post answers one message of a client, on a stream of its own if need be.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, p routine.Principal, o *organization, arrived time.Time) error {
	text, err := h.body(w, r)
	if err != nil {
		return err
	}
	var m peek
	_ = json.Unmarshal(text, &m) // what is no message, mcp-go refuses
	if hasNullID(m.ID, m.Method) {
		return errNullID
	}
	cancels := m.Method == string(mcp.MethodNotificationCancelled)
	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) || mcp.IsModernProtocol(m.Params.Meta.Version)
	if modern && cancels {
		// Without sessions, request ids of all clients are alike: only closing
		// the stream of a request cancels it.
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !modern {
		s, err := h.session(r, p, o, m.Method)
		if err != nil {
			return err
		}
		defer h.sessions.release(s)
		if m.Method == string(mcp.MethodInitialize) {
			w.Header().Set(server.HeaderKeySessionID, s.id) // should the answer take long and become a stream
		}
		if isCall(m.Method) {
			h.sessions.noteCall(s)
		}
		ctx = withCalls(context.WithValue(ctx, sessionKey{}, s), &s.calls)
	}
	if modern && m.Method == string(mcp.MethodSubscriptionsListen) {
		defer o.listen(ctx)()
		defer h.untilClosed(cancel, nil)()
	}
	id := newRequestID(m.ID)
	if text = id.hide(text, "id"); cancels {
		text = newRequestID(m.Params.RequestID).hide(text, "params", "requestId")
	}
	h.answer(withArrival(withToken(ctx, m.Params.Meta.ProgressToken), arrived), cancel, w, r, o, asked{id, text})
	return nil
}

// isCall reports whether a method asks for something that a client's user wants.
// Clients list tools, resources and prompts as soon as they have begun a session.
func isCall(method string) bool {
	return slices.Contains([]mcp.MCPMethod{mcp.MethodToolsCall, mcp.MethodResourcesRead, mcp.MethodPromptsGet}, mcp.MCPMethod(method))
}

// session finds the session of a legacy message, or makes it.
func (h *HTTP) session(r *http.Request, p routine.Principal, o *organization, method string) (*httpSession, error) {
	if method == string(mcp.MethodInitialize) {
		return h.begin(r.Context(), p, o, nil)
	}
	id := r.Header.Get(server.HeaderKeySessionID)
	if id == "" {
		return nil, routine.Errorf(routine.CodeInvalid, "the header %s is missing: send the id that initialize gave", server.HeaderKeySessionID)
	}
	return h.sessions.use(p, id, false)
}

func (h *HTTP) begin(ctx context.Context, p routine.Principal, o *organization, messages chan posted) (*httpSession, error) {
	s, gone, err := h.sessions.begin(p, o, messages)
	for _, old := range gone {
		h.forget(ctx, old)
	}
	return s, err
}

// asked is the message of a POST, for mcp-go.
type asked struct {
	id   requestID
	text []byte
}

// answer has mcp-go answer, on a stream that takes what else the request gives.
// A client that takes no more cancels it.
func (h *HTTP) answer(ctx context.Context, cancel func(), w http.ResponseWriter, r *http.Request, o *organization, a asked) {
	beats := h.beats
	if r.Method == http.MethodPost && !strings.Contains(r.Header.Get("Accept"), eventStream) {
		beats = nil
	}
	s := newStream(w, beats, cancel)
	defer s.close()
	s.id = a.id
	ctx, s.code = withErrorCode(ctx)
	if s.CanStream() {
		ctx = withNotifier(ctx, func(method string, params any) error {
			return s.write(notification{mcp.JSONRPC_VERSION, method, params})
		})
	}
	h.transport(o).Handle(s, &server.HTTPRequest{Method: r.Method, Header: r.Header, Body: a.text, Context: ctx})
}

// transport is mcp-go's own, behind our guards.
func (h *HTTP) transport(o *organization) *server.StreamableHTTPServer {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.streamable[o]
	if t == nil {
		t = server.NewStreamableHTTPServer(o.protocol, server.WithSessionIdManagerResolver(h.sessions), server.WithStreamableHTTPLogger(h.server.log))
		h.streamable[o] = t
	}
	return t
}

// forget has mcp-go drop what it keeps of a session that has ended. It does so
// only for a client's request, so this is one.
func (h *HTTP) forget(ctx context.Context, s *httpSession) {
	header := http.Header{}
	header.Set(server.HeaderKeySessionID, s.id)
	h.transport(s.of).Handle(unread{}, &server.HTTPRequest{Method: http.MethodDelete, Header: header, Context: context.WithValue(ctx, sessionKey{}, s)})
}

// unread is an answer that nobody waits for.
type unread struct{}

func (unread) Header() http.Header         { return http.Header{} }
func (unread) Write(b []byte) (int, error) { return len(b), nil }
func (unread) WriteHeader(int)             {}
func (unread) Flush()                      {}
func (unread) CanStream() bool             { return false }

// listen opens the stream on which a session is told of changes.
func (h *HTTP) listen(w http.ResponseWriter, r *http.Request, p routine.Principal, o *organization) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) { // else mcp-go says that there is no such stream
		s, err := h.session(r, p, o, "")
		if err != nil {
			return err
		}
		defer h.sessions.release(s)
		ctx = context.WithValue(ctx, sessionKey{}, s)
		defer o.listen(ctx)()
		defer h.untilClosed(cancel, s.ended)()
	}
	h.answer(ctx, cancel, w, r, o, asked{})
	return nil
}

// end ends a session at its owner's wish.
func (h *HTTP) end(w http.ResponseWriter, r *http.Request, p routine.Principal, o *organization) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) { // which has no sessions, as mcp-go says
		s, err := h.session(r, p, o, "")
		if err != nil {
			return err
		}
		defer h.sessions.release(s)
		ctx = context.WithValue(ctx, sessionKey{}, s)
	}
	h.answer(ctx, cancel, w, r, o, asked{})
	return nil
}

// untilClosed calls cancel when the handler is closed or ended is, unless it is
// stopped before.
func (h *HTTP) untilClosed(cancel func(), ended <-chan struct{}) (stop func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-h.closed:
			cancel()
		case <-ended:
			cancel()
		case <-over:
		}
	}()
	return func() { close(over); <-done }
}
