package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"rote/routine"
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
	s := NewEventStream(q.w)
	if e.Open() {
		s.Start() // the first event may take long
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
	return forwardEvents(s, q.Method == http.MethodHead, events, ended)
}

// forwardEvents sends events and keep-alive comments until the stream ends or the
// client disconnects. A HEAD request (headOnly) ends when the response has started.
func forwardEvents(s *EventStream, headOnly bool, events <-chan routine.Event, ended <-chan error) (response, error) {
	beat := time.NewTicker(KeepAliveInterval)
	defer beat.Stop()
	for !headOnly || !s.started {
		var err error
		select {
		case e := <-events:
			err = sendExecutionEvent(s, e)
		case <-beat.C:
			err = s.KeepAlive()
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

func sendExecutionEvent(s *EventStream, e routine.Event) error {
	name, value := "operation", any(e.Operation)
	switch {
	case e.Execution != nil:
		name, value = "execution", e.Execution.Summary()
	case e.Begun != nil:
		name, value = "operation_begun", e.Begun
	}
	data, err := routine.EncodeJSON(value)
	if err != nil {
		return err
	}
	return s.Send(e.Sequence, name, data)
}
