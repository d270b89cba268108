package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"rote/routine"
)

const (
	// keepAliveInterval is the time between keep-alive comments on an idle event
	// stream. Proxies close connections that are silent for a minute.
	keepAliveInterval = 15 * time.Second
	// eventWriteTimeout limits how long a client may take to receive one event.
	eventWriteTimeout = 30 * time.Second
)

// executionEvents streams the events of an execution as server-sent events,
// from the beginning or from the event after Last-Event-ID. The stream ends
// with the execution. A client that reconnects later gets 204, which tells it
// to stop reconnecting.
func (a *api) executionEvents(q *request) (response, error) {
	after, err := lastEventID(q.Header)
	if err != nil {
		return response{}, err
	}
	id := q.pathParameter("execution_id")
	e, err := a.service.Execution(q.Context(), q.principal, id)
	if err != nil {
		return response{}, err
	}
	s := &eventStream{w: q.w, headOnly: q.Method == http.MethodHead}
	if e.Open() {
		s.startResponse() // the first event may take long
	}
	watching, stop := context.WithCancel(q.Context())
	events, ended := make(chan routine.Event), make(chan error, 1)
	var watcher sync.WaitGroup
	defer func() { stop(); watcher.Wait() }()
	watcher.Go(func() {
		ended <- a.service.Watch(watching, q.principal, id, after, func(e routine.Event) error {
			select {
			case events <- e:
				return nil
			case <-watching.Done():
				return watching.Err()
			}
		})
	})
	return s.forward(events, ended)
}

// forward sends events and keep-alive comments until the stream ends or the
// client disconnects.
func (s *eventStream) forward(events <-chan routine.Event, ended <-chan error) (response, error) {
	beat := time.NewTicker(keepAliveInterval)
	defer beat.Stop()
	for !s.headOnly || !s.started {
		var err error
		select {
		case e := <-events:
			err = s.send(e)
		case <-beat.C:
			err = s.write([]byte(":\n\n"))
		case err := <-ended:
			if s.started {
				return response{alreadyWritten: true}, nil
			}
			return response{status: http.StatusNoContent}, err
		}
		if err != nil { // the client has disconnected
			break
		}
	}
	return response{alreadyWritten: true}, nil
}

func lastEventID(h http.Header) (int, error) {
	text := h.Get("Last-Event-ID")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, routine.Errorf(routine.CodeInvalid, "Last-Event-ID must be the id of an event of this execution, which is a number")
	}
	return n, nil
}

// eventStream writes server-sent events.
type eventStream struct {
	w        http.ResponseWriter
	headOnly bool // a HEAD request
	started  bool
}

func (s *eventStream) startResponse() {
	s.started = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(s.w).Flush() // the next write reports any error
}

func (s *eventStream) send(e routine.Event) error {
	name, value := "operation", any(e.Operation)
	switch {
	case e.Execution != nil:
		name, value = "execution", e.Execution.Summary()
	case e.Begun != nil:
		name, value = "operation_begun", e.Begun
	}
	data, err := routine.EncodeJSON(value) // without line breaks
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data)
	if e.Sequence > 0 { // without a number, the client's Last-Event-ID stays as it is
		text = append(fmt.Appendf(nil, "id: %d\n", e.Sequence), text...)
	}
	return s.write(text)
}

func (s *eventStream) write(text []byte) error {
	if !s.started {
		s.startResponse()
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
