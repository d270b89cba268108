package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// writeTime is what a client has to take what is sent.
const writeTime = 30 * time.Second

// stream is the answer to one request over HTTP. mcp-go writes to it either one
// JSON body or server-sent events; what belongs to the request and comes before
// goes between, in order. With the first such event, a JSON body to come
// becomes the last event.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	broken  func()      // called when the client takes no more
	alive   *keepAlives // nil: the client does not accept events
	id      requestID
	code    *errorCode
	written atomic.Bool // something was, since the last tick

	mu         sync.Mutex
	headerSent bool // the header is out
	events     bool // as server-sent events
	framing    bool // what is written is a body, to be framed at the end
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
	s := &stream{w: w, control: http.NewResponseController(w), broken: broken, alive: alive}
	if alive != nil {
		s.written.Store(true)
		alive.add(s)
	}
	return s
}

// CanStream tells whether the client knows events.
func (s *stream) CanStream() bool { return s.alive != nil }

// Header is that of the answer.
func (s *stream) Header() http.Header { return s.w.Header() }

// WriteHeader begins the answer, unless it has begun as a stream of events.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	native := strings.HasPrefix(s.w.Header().Get("Content-Type"), eventStream)
	if s.headerSent {
		s.framing = s.events && !native
		return
	}
	s.headerSent, s.events = true, native
	s.w.WriteHeader(status)
}

// Write takes one whole event, or a part of the body.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.framing {
		return s.body.Write(b)
	}
	s.headerSent = true
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
		_ = s.control.Flush() // a client that is gone ends the request
	}
}

const eventStream = "text/event-stream"

// write sends a message as an event of its own. After an answer that is no
// stream it sends nothing: the message has missed it.
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

// comment sends a line that clients skip.
func (s *stream) comment() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.send([]byte(": still here\n\n")) // a client that is gone ends the request
}

// send makes the answer a stream of events, if it still can be one.
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

// extendDeadline gives the client time for one more write: a stream may last longer
// than any answer's limit.
func (s *stream) extendDeadline() {
	s.written.Store(true)
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime)) // not every writer has one
}

// close ends the answer. Nothing is written after it.
func (s *stream) close() {
	if s.alive != nil {
		s.alive.remove(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if body := bytes.TrimSpace(s.body.Bytes()); len(body) > 0 {
		_ = s.send(fmt.Appendf(nil, "event: message\ndata: %s\n\n", s.code.replace(s.id.restore(body)))) // a client that is gone misses it
	}
	s.closed = true
}
