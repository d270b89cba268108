package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
)

// paper is a ResponseWriter that keeps what is written, until it is torn.
type paper struct {
	header   http.Header
	text     strings.Builder
	flushed  int
	torn     error
	deadline time.Time
}

func (p *paper) Header() http.Header { return p.header }
func (p *paper) WriteHeader(int)     {}
func (p *paper) Flush()              { p.flushed = p.text.Len() }

func (p *paper) SetWriteDeadline(at time.Time) error {
	p.deadline = at
	return nil
}

func (p *paper) Write(text []byte) (int, error) {
	if p.torn != nil {
		return 0, p.torn
	}
	return p.text.Write(text)
}

func TestIdleStreamSendsKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{header: http.Header{}}
		events, ended := make(chan routine.Event), make(chan error, 1)
		go func() {
			time.Sleep(2*KeepAliveInterval + time.Second) // of the test's own clock
			events <- routine.Event{Sequence: 3, Operation: &routine.OperationRecord{Type: "click"}}
			ended <- nil
		}()
		s := NewEventStream(p)
		s.Start()
		if got, err := forwardEvents(s, false, events, ended); err != nil || !got.alreadyWritten {
			t.Fatal(got, err)
		}
		want := ":\n\n:\n\nid: 3\nevent: operation\ndata: {\"index\":0,\"type\":\"click\",\"duration_seconds\":0}\n\n"
		if p.text.String() != want || p.flushed != len(want) {
			t.Errorf("sent %q, %d of it at once", p.text.String(), p.flushed)
		}
		if left := time.Until(p.deadline); left != eventWriteTimeout {
			t.Errorf("the client has %v to read an event", left)
		}
	})
}

// An operation that begins has no id, so that Last-Event-ID stays that of the last event
// that is sent again.
func TestStreamTellsOfOperationThatBegins(t *testing.T) {
	p := &paper{header: http.Header{}}
	if err := sendExecutionEvent(NewEventStream(p), routine.Event{Begun: &routine.BegunOperation{Index: 1, Type: "click", StartSeconds: .5}}); err != nil {
		t.Fatal(err)
	}
	want := "event: operation_begun\ndata: {\"index\":1,\"type\":\"click\",\"start_seconds\":0.5}\n\n"
	if p.text.String() != want {
		t.Errorf("sent %q", p.text.String())
	}
}

func TestStreamEndsWhenClientDisconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewEventStream(&paper{header: http.Header{}, torn: errors.New("connection reset")})
		s.Start()
		if got, err := forwardEvents(s, false, nil, nil); err != nil || !got.alreadyWritten {
			t.Error(got, err)
		}
	})
}
