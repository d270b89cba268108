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
	// heartbeat is how often a stream of events says that it lives, while it
	// has nothing to tell. Proxies cut what is silent for a minute.
	heartbeat = 15 * time.Second
	// eventTime bounds how long a client may take to read one event.
	eventTime = 30 * time.Second
)

// executionEvents streams the events of an execution (server-sent events), from
// the beginning or from the one after Last-Event-ID. The stream ends with the
// execution. A client that comes back after that is answered 204, which tells
// it not to come again.
func (a *api) executionEvents(q *request) (answer, error) {
	after, err := lastEventID(q.Header)
	if err != nil {
		return answer{}, err
	}
	id := q.parameter("execution_id")
	e, err := a.service.Execution(q.Context(), q.principal, id)
	if err != nil {
		return answer{}, err
	}
	s := &eventStream{w: q.w, head: q.Method == http.MethodHead}
	if e.Open() {
		s.begin() // the first event may be long in coming
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
	return s.pass(events, ended)
}

// pass sends what comes until there is no more.
func (s *eventStream) pass(events <-chan routine.Event, ended <-chan error) (answer, error) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for !s.head || !s.begun {
		var err error
		select {
		case e := <-events:
			err = s.send(e)
		case <-beat.C:
			err = s.write([]byte(":\n\n"))
		case err := <-ended:
			if s.begun {
				return answer{written: true}, nil
			}
			return answer{status: http.StatusNoContent}, err
		}
		if err != nil { // the client is gone
			break
		}
	}
	return answer{written: true}, nil
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
	w     http.ResponseWriter
	head  bool // headers only
	begun bool
}

func (s *eventStream) begin() {
	s.begun = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(s.w).Flush() // the next write tells of any fault
}

func (s *eventStream) send(e routine.Event) error {
	name, value := "operation", any(e.Operation)
	if e.Execution != nil {
		name, value = "execution", e.Execution.Summary()
	}
	data, err := routine.EncodeJSON(value) // one line
	if err != nil {
		return err
	}
	return s.write(fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.Sequence, name, data))
}

func (s *eventStream) write(text []byte) error {
	if !s.begun {
		s.begin()
	}
	c := http.NewResponseController(s.w)
	if err := c.SetWriteDeadline(time.Now().Add(eventTime)); err != nil {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return c.Flush()
}
