// Package cdp exchanges messages of the Chrome DevTools Protocol with a browser: requests,
// their answers, and events. A [Client] uses one connection, which a [Transport] carries:
// a [Pipe] to a process of ours, or a [Socket] to any other browser. The typed requests and
// events are rod's; rod's own client polls, locks and retains events.
//
// A browser's answers and events are as long as a page wants them to be, so each message
// is bounded: see [MaxMessage] and [MaxConsoleEvent].
package cdp

import (
	"encoding/json"
	"sync"

	"github.com/go-rod/rod/lib/proto"
)

// Client is a thin Chrome DevTools Protocol client. Unlike rod's it can send without
// waiting, sends requests in order, gives each session only its own events, retains
// nothing about calls that have ended, and returns errors where rod panics.
type Client struct {
	t Transport

	out outbox // writes requests to t

	mu      sync.Mutex
	id      int
	pending map[int]chan Answer
	sinks   map[proto.TargetSessionID]func(method string, params json.RawMessage)
	err     error // why the connection ended
	// seen is set by Observe.
	seen func(session proto.TargetSessionID, request, event string)

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
	c := &Client{t: t, out: newOutbox(), pending: map[int]chan Answer{}, ended: make(chan struct{}),
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

// Observe makes the client call seen for each message in either direction, with its session
// and its method, if it is a request or an event. seen must be quick and must not use the
// client.
func (c *Client) Observe(seen func(session proto.TargetSessionID, request, event string)) {
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

// ResumeTarget resumes a new target, which was paused so that it could be set up before its
// first script runs.
func (c *Client) ResumeTarget(e *proto.TargetAttachedToTarget) {
	if e.WaitingForDebugger {
		c.Send(e.SessionID, "Runtime.runIfWaitingForDebugger", nil)
	}
}
