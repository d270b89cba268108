package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"time"
)

// KeepAliveInterval is the time between keep-alive comments on an idle [EventStream].
// Proxies close connections that are silent for a minute.
const KeepAliveInterval = 15 * time.Second

// eventWriteTimeout limits how long a client may take to receive one event.
const eventWriteTimeout = 30 * time.Second

// EventStream writes server-sent events as the response to a request. The caller sends a
// KeepAlive every [KeepAliveInterval]. An error of its methods means that the client has
// disconnected.
type EventStream struct {
	w       http.ResponseWriter
	started bool
}

// NewEventStream returns a stream that writes to w. Nothing is written before Start or the
// first event, so that the request can still be answered otherwise.
func NewEventStream(w http.ResponseWriter) *EventStream { return &EventStream{w: w} }

// Start sends the header of the response.
func (s *EventStream) Start() {
	s.started = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(s.w).Flush() // the next write reports any error
}

// Send sends an event. An id of 0 is left out: the client's Last-Event-ID then stays as it
// is. data may have several lines,
// which end with a line feed, and no carriage return.
func (s *EventStream) Send(id int, event string, data []byte) error {
	var text []byte
	if id > 0 {
		text = fmt.Appendf(nil, "id: %d\n", id)
	}
	text = fmt.Appendf(text, "event: %s\n", event)
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		text = fmt.Appendf(text, "data: %s\n", line)
	}
	return s.write(append(text, '\n'))
}

// KeepAlive sends a comment, which clients ignore.
func (s *EventStream) KeepAlive() error { return s.write([]byte(":\n\n")) }

func (s *EventStream) write(text []byte) error {
	if !s.started {
		s.Start()
	}
	c := http.NewResponseController(s.w)
	if err := c.SetWriteDeadline(time.Now().Add(eventWriteTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return c.Flush()
}
