package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// writeTime is how long a client may take to read one write.
const writeTime = 30 * time.Second

// stream is the answer to one request over HTTP. mcp-go writes to it either one
// JSON body or server-sent events. Notifications that belong to the request are
// written as events in between, in order. Once there has been such an event, a
// JSON body is sent as the last event.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	broken  func()      // called when the client does not read
	alive   *keepAlives // nil: the client does not accept events
	header  http.Header // what mcp-go sets, which WriteHeader copies to w
	id      requestID
	code    *errorCode
	written atomic.Bool // something was, since the last tick

	mu         sync.Mutex
	headerSent bool // the header has been sent
	events     bool // the answer is a stream of server-sent events
	framing    bool // a JSON body is collected, which close sends as an event
	body       bytes.Buffer
	closed     bool
}

var (
	_ server.HTTPResponseWriter = (*stream)(nil)
	_ messageWriter             = (*stream)(nil)
)

// newStream makes the answer to a request, which alive keeps open. The caller
// closes it before the request ends.
func newStream(w http.ResponseWriter, alive *keepAlives, broken func()) *stream {
	s := &stream{w: w, control: http.NewResponseController(w), broken: broken, alive: alive, header: http.Header{}}
	if alive != nil {
		s.written.Store(true)
		alive.add(s)
	}
	return s
}

// CanStream reports whether the client accepts events.
func (s *stream) CanStream() bool { return s.alive != nil }

// Header returns the header that mcp-go sets. It is not the header of w, because a
// comment may start the answer at the same time.
func (s *stream) Header() http.Header { return s.header }

// WriteHeader starts the answer, unless it has started as a stream of events.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start(status)
}

// start writes the header that mcp-go has set. s.mu must be held.
func (s *stream) start(status int) {
	native := strings.HasPrefix(s.header.Get("Content-Type"), eventStream)
	if s.headerSent {
		s.framing = s.events && !native
		return
	}
	s.headerSent, s.events = true, native
	maps.Copy(s.w.Header(), s.header)
	s.w.WriteHeader(status)
}

// Write writes one whole event, or a part of the body.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.framing {
		return s.body.Write(b)
	}
	if !s.headerSent {
		s.start(http.StatusOK)
	}
	if s.events {
		s.extendDeadline()
	}
	if _, err := s.w.Write(s.code.replace(s.id.restore(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush sends what has been written.
func (s *stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.headerSent {
		_ = s.control.Flush() // the request ends when the client disconnects
	}
}

const eventStream = "text/event-stream"

// write sends a message as an event of its own. It drops the message if the
// answer has been sent as plain JSON.
func (s *stream) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotEncodable, err)
	}
	return s.event("message", text)
}

func (s *stream) event(name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data))
}

// comment sends a comment, which clients skip.
func (s *stream) comment() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.send([]byte(": still here\n\n")) // the request ends when the client disconnects
}

// send writes an event. The first one makes the answer a stream of events, unless
// it has been sent as plain JSON. s.mu must be held.
func (s *stream) send(event []byte) error {
	if s.closed || s.headerSent && !s.events {
		return nil
	}
	if !s.headerSent {
		h := s.w.Header()
		h.Set("Content-Type", eventStream)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no")
		s.headerSent, s.events = true, true
		s.w.WriteHeader(http.StatusOK)
	}
	s.extendDeadline()
	_, err := s.w.Write(event)
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.broken()
	}
	return err
}

// extendDeadline allows the client writeTime for the next write: a stream may last
// longer than the server's limit for an answer. s.mu must be held.
func (s *stream) extendDeadline() {
	s.written.Store(true)
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime)) // not every writer has one
}

// close ends the answer. Nothing is written after that.
func (s *stream) close() {
	if s.alive != nil {
		s.alive.remove(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if body := bytes.TrimSpace(s.body.Bytes()); len(body) > 0 {
		_ = s.send(fmt.Appendf(nil, "event: message\ndata: %s\n\n", s.code.replace(s.id.restore(body)))) // the client may have disconnected
	}
	s.closed = true
}
