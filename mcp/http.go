package mcp

import (
	"context"
	"encoding/json"
	"net/http"
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
	beat     time.Duration
	sessions *sessions
	closed   chan struct{}
	close    func()

	mu         sync.Mutex
	streamable map[*organization]*server.StreamableHTTPServer
}

// NewHTTP makes the handler of the three paths below base, which is empty or as
// /rote. Close it to end the streams.
func (s *Server) NewHTTP(door Door, base string) *HTTP {
	h := &HTTP{server: s, door: door, base: base, beat: beatInterval, sessions: newSessions(), closed: make(chan struct{}),
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
	p, o, err := h.enter(w, r)
	if err != nil {
		h.refuse(w, err)
		return
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	r = r.WithContext(withPrincipal(r.Context(), p))
	switch route := strings.TrimPrefix(r.URL.Path, h.base) + " " + r.Method; route {
	case "/mcp POST":
		err = h.post(w, r, p, o)
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

// peek is what of a posted message decides how it is handled.
type peek struct {
	Method string `json:"method"`
	Params struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

// post answers one message of a client, on a stream of its own if need be.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, p routine.Principal, o *organization) error {
	text, err := h.body(w, r)
	if err != nil {
		return err
	}
	var m peek
	_ = json.Unmarshal(text, &m) // what is no message, mcp-go refuses
	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) || mcp.IsModernProtocol(m.Params.Meta.Version)
	if modern && m.Method == string(mcp.MethodNotificationCancelled) {
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
		ctx = context.WithValue(ctx, sessionKey{}, s)
	}
	if modern && m.Method == string(mcp.MethodSubscriptionsListen) {
		defer o.listen(ctx)()
		defer h.untilClosed(cancel, nil)()
	}
	h.answer(w, r.WithContext(ctx), o)
	return nil
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

func (h *HTTP) begin(ctx context.Context, p routine.Principal, o *organization, messages chan []byte) (*httpSession, error) {
	s, gone, err := h.sessions.begin(p, o, messages)
	for _, old := range gone {
		h.forget(ctx, old)
	}
	return s, err
}

// answer has mcp-go answer, on a stream that takes what else the request gives.
func (h *HTTP) answer(w http.ResponseWriter, r *http.Request, o *organization) {
	if r.Method == http.MethodPost && !strings.Contains(r.Header.Get("Accept"), eventStream) {
		h.transport(o).ServeHTTP(w, r) // it would not understand a stream
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s := newStream(w, h.beat, cancel)
	defer s.close()
	notify := func(method string, params any) error {
		return s.write(notification{mcp.JSONRPC_VERSION, method, params})
	}
	h.transport(o).ServeHTTP(s, r.WithContext(withNotifier(ctx, notify)))
}

// transport is mcp-go's own, behind our guards.
func (h *HTTP) transport(o *organization) http.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.streamable[o]
	if t == nil {
		t = server.NewStreamableHTTPServer(o.protocol, server.WithSessionIdManagerResolver(h.sessions),
			server.WithStreamableHTTPLogger(h.server.log), server.WithDisableLocalhostProtection(true)) // the door knows more hosts
		h.streamable[o] = t
	}
	return t
}

// forget has mcp-go drop what it keeps of a session that has ended. It does so
// only for a client's request, so this is one.
func (h *HTTP) forget(ctx context.Context, s *httpSession) {
	r, err := http.NewRequestWithContext(context.WithValue(ctx, sessionKey{}, s), http.MethodDelete, "/mcp", http.NoBody)
	if err != nil {
		return // the request is the same each time, and good
	}
	r.Header.Set(server.HeaderKeySessionID, s.id)
	h.transport(s.of).ServeHTTP(unread{}, r)
}

// unread is an answer that nobody waits for.
type unread struct{}

func (unread) Header() http.Header         { return http.Header{} }
func (unread) Write(b []byte) (int, error) { return len(b), nil }
func (unread) WriteHeader(int)             {}

// listen opens the stream on which a session is told of changes.
func (h *HTTP) listen(w http.ResponseWriter, r *http.Request, p routine.Principal, o *organization) error {
	if mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		h.transport(o).ServeHTTP(w, r) // says that there is no such stream
		return nil
	}
	s, err := h.session(r, p, o, "")
	if err != nil {
		return err
	}
	defer h.sessions.release(s)
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), sessionKey{}, s))
	defer cancel()
	defer o.listen(ctx)()
	defer h.untilClosed(cancel, s.ended)()
	h.answer(w, r.WithContext(ctx), o)
	return nil
}

// end ends a session at its owner's wish.
func (h *HTTP) end(w http.ResponseWriter, r *http.Request, p routine.Principal, o *organization) error {
	if mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		h.transport(o).ServeHTTP(w, r)
		return nil
	}
	s, err := h.session(r, p, o, "")
	if err != nil {
		return err
	}
	defer h.sessions.release(s)
	h.transport(o).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
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
