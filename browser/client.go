package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// client is a thin Chrome DevTools Protocol client. Unlike rod's it can send without
// waiting, sends requests in order, gives each session only its own events, retains
// nothing about calls that have ended, and returns errors where rod panics.
type client struct {
	t transport

	mu      sync.Mutex
	id      int
	pending map[int]chan answer
	sinks   map[proto.TargetSessionID]func(method string, params json.RawMessage)
	err     error // why the connection ended
	// seen is set by observe.
	seen func(session proto.TargetSessionID, event string)

	ended chan struct{}
}

type answer struct {
	result []byte
	err    error
}

func newClient(t transport) *client {
	c := &client{t: t, pending: map[int]chan answer{}, ended: make(chan struct{}),
		sinks: map[proto.TargetSessionID]func(string, json.RawMessage){}}
	go c.read()
	return c
}

// listen makes sink receive the events of a session; the empty session is that of the
// browser. sink runs on the reading goroutine. It may send and must not block.
func (c *client) listen(session proto.TargetSessionID, sink func(method string, params json.RawMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sinks[session] = sink
}

func (c *client) unlisten(session proto.TargetSessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sinks, session)
}

// future is the answer to a request that was sent.
type future struct {
	c  *client
	id int
	ch chan answer
}

// send writes a request and does not wait for its answer. Requests of one goroutine
// arrive in order.
func (c *client) send(session proto.TargetSessionID, method string, params any) *future {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	f := &future{c, c.id, make(chan answer, 1)}
	if c.err != nil {
		f.ch <- answer{nil, c.err}
		return f
	}
	if params == nil {
		params = struct{}{}
	}
	message, err := json.Marshal(&cdp.Request{ID: c.id, SessionID: string(session), Method: method, Params: params})
	if err != nil {
		f.ch <- answer{nil, fmt.Errorf("encode %s: %w", method, err)}
		return f
	}
	c.pending[c.id] = f.ch
	if c.seen != nil {
		c.seen(session, "")
	}
	// With the lock held, so that requests are sent in the order of their ids.
	if err := c.t.write(message); err != nil {
		delete(c.pending, c.id)
		c.err = fmt.Errorf("%w: %w", errClosed, err)
		f.ch <- answer{nil, c.err}
	}
	return f
}

// observe makes the client call seen for each message in either direction, with its session
// and, of an event, its method. seen must be quick and must not use the client.
func (c *client) observe(seen func(session proto.TargetSessionID, event string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = seen
}

// inUse returns how many requests wait for their answer, and how many sessions have a
// sink. Both return to what they were when a page is closed.
func (c *client) inUse() (requests, sessions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending), len(c.sinks)
}

// done is closed when the connection has ended and no sink will be called any more.
func (c *client) done() <-chan struct{} { return c.ended }

// close ends the connection and waits until no sink will be called any more.
func (c *client) close() {
	_ = c.t.close()
	<-c.ended
}

// endError is the error that the connection has ended with; nil while it is open.
func (c *client) endError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// answer receives the answer when it has arrived. Only one goroutine may receive it.
func (f *future) answer() <-chan answer { return f.ch }

// wait returns the answer. It fails with the cause of ctx when that ends.
func (f *future) wait(ctx context.Context) ([]byte, error) {
	select {
	case a := <-f.ch:
		return a.result, a.err
	case <-ctx.Done():
		f.forget()
		return nil, context.Cause(ctx)
	}
}

// forget drops the answer, now or when it arrives.
func (f *future) forget() {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	delete(f.c.pending, f.id)
}

// message is a message of the browser: an answer (with an ID) or an event.
type message struct {
	ID        int                   `json:"id"`
	SessionID proto.TargetSessionID `json:"sessionId"`
	Method    string                `json:"method"`
	Params    json.RawMessage       `json:"params"`
	Result    json.RawMessage       `json:"result"`
	Error     *cdp.Error            `json:"error"`
}

func (c *client) read() {
	defer close(c.ended)
	for {
		b, err := c.t.read()
		if errors.Is(err, errOversize) {
			c.oversize(b)
			continue
		}
		if err != nil {
			c.fail(fmt.Errorf("%w: %w", errClosed, err))
			return
		}
		var m message
		if method, session, ok := longConsoleEvent(b); ok {
			m = message{Method: method, SessionID: session, Params: b}
		} else if json.Unmarshal(b, &m) != nil {
			continue // without an id or a session, nobody can handle it
		}
		c.mu.Lock()
		if c.seen != nil {
			c.seen(m.SessionID, m.Method)
		}
		if m.ID == 0 {
			sink := c.sinks[m.SessionID]
			c.mu.Unlock()
			if sink != nil {
				sink(m.Method, m.Params)
			}
			continue
		}
		ch := c.pending[m.ID]
		delete(c.pending, m.ID)
		c.mu.Unlock()
		if ch == nil {
			continue
		}
		if m.Error != nil {
			ch <- answer{nil, m.Error}
		} else {
			ch <- answer{m.Result, nil}
		}
	}
}

// oversize takes the beginning and the end of a message that is too long. It fails the
// call to which the message is the answer. Events are dropped, except that of a paused
// request, which would otherwise wait for ever.
func (c *client) oversize(b []byte) {
	var id int
	if _, err := fmt.Sscanf(string(b), `{"id":%d,`, &id); err != nil {
		c.endPause(b)
		return
	}
	c.mu.Lock()
	ch := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if ch != nil {
		ch <- answer{nil, errOversize}
	}
}

// endPause handles a truncated event of a paused request: it was too long to be read,
// because it contains the body of a large upload. A request that the browser's own
// session has paused is continued. One that a page's session has paused for the guard
// fails, because the guard cannot check it.
func (c *client) endPause(b []byte) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"method":"Fetch.requestPaused","params":{"requestId":"`))
	if !ok {
		return
	}
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	request, session := proto.FetchRequestID(id), sessionAtEnd(b)
	if session == "" {
		c.send("", "Fetch.continueRequest", proto.FetchContinueRequest{RequestID: request})
		return
	}
	c.send(session, "Fetch.failRequest", proto.FetchFailRequest{RequestID: request, ErrorReason: proto.NetworkErrorReasonBlockedByClient})
}

func (c *client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	for id, ch := range c.pending {
		delete(c.pending, id)
		ch <- answer{nil, err}
	}
}

// resumeTarget resumes a new target, which was paused so that it could be set up before its
// first script runs.
func (c *client) resumeTarget(e *proto.TargetAttachedToTarget) {
	if e.WaitingForDebugger {
		c.send(e.SessionID, "Runtime.runIfWaitingForDebugger", nil)
	}
}
