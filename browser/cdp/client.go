// Package cdp exchanges messages of the Chrome DevTools Protocol with a browser: requests,
// their answers, and events. A [Client] uses one connection, which a [Transport] carries:
// a [Pipe] to a process of this machine, or another one. The typed requests and events are
// rod's; rod's own client polls, locks and retains events.
//
// A browser's answers and events are as long as a page wants them to be, so each message
// is bounded: see [MaxMessage] and [MaxConsoleEvent].
package cdp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	rod "github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// Client is a thin Chrome DevTools Protocol client. Unlike rod's it can send without
// waiting, sends requests in order, gives each session only its own events, retains
// nothing about calls that have ended, and returns errors where rod panics.
type Client struct {
	t Transport

	mu      sync.Mutex
	id      int
	pending map[int]chan Answer
	sinks   map[proto.TargetSessionID]func(method string, params json.RawMessage)
	err     error // why the connection ended
	// seen is set by Observe.
	seen func(session proto.TargetSessionID, event string)

	ended chan struct{} // what Done returns
}

// Answer is the answer to a request: its result as JSON, or an error.
type Answer struct {
	Result []byte
	Err    error
}

// NewClient returns a client that uses the transport until Close, which also closes the
// transport.
func NewClient(t Transport) *Client {
	c := &Client{t: t, pending: map[int]chan Answer{}, ended: make(chan struct{}),
		sinks: map[proto.TargetSessionID]func(string, json.RawMessage){}}
	go c.read()
	return c
}

// Listen makes sink receive the events of a session; the empty session is that of the
// browser. sink runs on the reading goroutine. It may send and must not block.
func (c *Client) Listen(session proto.TargetSessionID, sink func(method string, params json.RawMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sinks[session] = sink
}

// Unlisten ends Listen for a session. Its events are dropped.
func (c *Client) Unlisten(session proto.TargetSessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sinks, session)
}

// Future is the answer to a request that was sent, which may not have arrived yet.
type Future struct {
	c  *Client
	id int
	ch chan Answer
}

// Send writes a request and does not wait for its answer. Requests of one goroutine
// arrive in order.
func (c *Client) Send(session proto.TargetSessionID, method string, params any) *Future {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	f := &Future{c, c.id, make(chan Answer, 1)}
	if c.err != nil {
		f.ch <- Answer{nil, c.err}
		return f
	}
	if params == nil {
		params = struct{}{}
	}
	message, err := json.Marshal(&rod.Request{ID: c.id, SessionID: string(session), Method: method, Params: params})
	if err != nil {
		f.ch <- Answer{nil, fmt.Errorf("encode %s: %w", method, err)}
		return f
	}
	c.pending[c.id] = f.ch
	if c.seen != nil {
		c.seen(session, "")
	}
	// With the lock held, so that requests are sent in the order of their ids.
	if err := c.t.Write(message); err != nil {
		delete(c.pending, c.id)
		c.err = fmt.Errorf("%w: %w", ErrClosed, err)
		f.ch <- Answer{nil, c.err}
	}
	return f
}

// Observe makes the client call seen for each message in either direction, with its session
// and, of an event, its method. seen must be quick and must not use the client.
func (c *Client) Observe(seen func(session proto.TargetSessionID, event string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = seen
}

// InUse returns how many requests wait for their answer, and how many sessions have a
// sink. Both return to what they were when a page is closed.
func (c *Client) InUse() (requests, sessions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending), len(c.sinks)
}

// Done is closed when the connection has ended and no sink will be called any more.
func (c *Client) Done() <-chan struct{} { return c.ended }

// Close ends the connection and waits until no sink will be called any more.
func (c *Client) Close() {
	_ = c.t.Close()
	<-c.ended
}

// Err is the error that the connection has ended with; nil while it is open.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Answer receives the answer when it has arrived. Only one goroutine may receive it.
func (f *Future) Answer() <-chan Answer { return f.ch }

// Wait returns the answer. It fails with the cause of ctx when that ends.
func (f *Future) Wait(ctx context.Context) ([]byte, error) {
	select {
	case a := <-f.ch:
		return a.Result, a.Err
	case <-ctx.Done():
		f.Forget()
		return nil, context.Cause(ctx)
	}
}

// Forget drops the answer, now or when it arrives.
func (f *Future) Forget() {
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
	Error     *Error                `json:"error"`
}

// read hands each answer to the future that waits for it and each event to its session,
// until the transport ends. It is the only reader of the transport.
func (c *Client) read() {
	defer close(c.ended)
	for {
		b, err := c.t.Read()
		if errors.Is(err, ErrOversize) {
			c.oversize(b)
			continue
		}
		if err != nil {
			c.fail(fmt.Errorf("%w: %w", ErrClosed, err))
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
			ch <- Answer{nil, m.Error}
		} else {
			ch <- Answer{m.Result, nil}
		}
	}
}

// oversize takes the beginning and the end of a message that is too long. It fails the
// call to which the message is the answer. Events are dropped, except that of a paused
// request, which would otherwise wait for ever.
func (c *Client) oversize(b []byte) {
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
		ch <- Answer{nil, ErrOversize}
	}
}

// endPause handles a truncated event of a paused request: it was too long to be read,
// because it contains the body of a large upload. A request that the browser's own
// session has paused is continued. One that a page's session has paused for the guard
// fails, because the guard cannot check it.
func (c *Client) endPause(b []byte) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"method":"Fetch.requestPaused","params":{"requestId":"`))
	if !ok {
		return
	}
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	request, session := proto.FetchRequestID(id), sessionAtEnd(b)
	if session == "" {
		c.Send("", "Fetch.continueRequest", proto.FetchContinueRequest{RequestID: request})
		return
	}
	c.Send(session, "Fetch.failRequest", proto.FetchFailRequest{RequestID: request, ErrorReason: proto.NetworkErrorReasonBlockedByClient})
}

func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	for id, ch := range c.pending {
		delete(c.pending, id)
		ch <- Answer{nil, err}
	}
}

// ResumeTarget resumes a new target, which was paused so that it could be set up before its
// first script runs.
func (c *Client) ResumeTarget(e *proto.TargetAttachedToTarget) {
	if e.WaitingForDebugger {
		c.Send(e.SessionID, "Runtime.runIfWaitingForDebugger", nil)
	}
}
