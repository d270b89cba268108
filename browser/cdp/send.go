package cdp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-rod/rod/lib/proto"
)

// Future is the answer to a request that was sent, which may not have arrived yet.
type Future struct {
	c  *Client
	id int // 0 if the request was not sent
	ch chan Answer
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

// Send writes a request and does not wait for its answer. Requests of one goroutine
// arrive in order.
func (c *Client) Send(session proto.TargetSessionID, method string, params any) *Future {
	return c.sendAll(session, []call{{method, params}})[0]
}

// SendAll is Send for several requests. They are written together, which wakes the browser
// once and not for each of them.
func (c *Client) SendAll(session proto.TargetSessionID, requests ...proto.Request) []*Future {
	calls := make([]call, len(requests))
	for i, m := range requests {
		calls[i] = call{m.ProtoReq(), m}
	}
	return c.sendAll(session, calls)
}

// call is a method of the protocol and its parameters.
type call struct {
	method string
	params any
}

func (c *Client) sendAll(session proto.TargetSessionID, calls []call) []*Future {
	futures := make([]*Future, len(calls))
	// The lock is held until all is written, so that requests are sent in the order of
	// their ids.
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	for i, call := range calls {
		futures[i] = c.register(session, call.method)
		if futures[i].id == 0 {
			continue
		}
		if err := c.out.add(futures[i].id, session, call); err != nil {
			c.answer(futures[i].id, Answer{nil, fmt.Errorf("encode %s: %w", call.method, err)})
		}
		if c.out.len() > maxTogether {
			c.flush()
		}
	}
	c.flush()
	return futures
}

// register gives a request an id and remembers that its answer is awaited. If the
// connection has ended, it answers the request with the reason.
func (c *Client) register(session proto.TargetSessionID, method string) *Future {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &Future{c: c, ch: make(chan Answer, 1)}
	if c.err != nil {
		f.ch <- Answer{nil, c.err}
		return f
	}
	c.id++
	f.id = c.id
	c.pending[f.id] = f.ch
	if c.seen != nil {
		c.seen(session, method, "")
	}
	return f
}

// flush writes the encoded requests. If that fails, the connection has ended. c.out.mu is
// held.
func (c *Client) flush() {
	if c.out.len() == 0 {
		return
	}
	if err := c.out.writeTo(c.t); err != nil {
		c.fail(fmt.Errorf("%w: %w", ErrClosed, err))
	}
}

const (
	// maxTogether is the length of the requests that are written together, in bytes.
	maxTogether = 32 << 10
	// maxKeptBuffer is the size up to which the buffer of an outbox is used again.
	maxKeptBuffer = 1 << 20
)

// outbox encodes requests into a buffer that is used again and again.
type outbox struct {
	mu      sync.Mutex
	buffer  *bytes.Buffer
	encoder *json.Encoder // into buffer
	ends    []int         // of the messages in buffer
}

func newOutbox() outbox {
	buffer := &bytes.Buffer{}
	return outbox{buffer: buffer, encoder: newEncoder(buffer)}
}

// newEncoder returns an encoder that leaves <, > and & as they are: escaped they make
// scripts several times as long.
func newEncoder(to *bytes.Buffer) *json.Encoder {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	return e
}

// len is the length of the encoded requests, in bytes.
func (o *outbox) len() int { return o.buffer.Len() }

// add encodes a request. If that fails, nothing is added.
func (o *outbox) add(id int, session proto.TargetSessionID, c call) error {
	start := o.buffer.Len()
	o.buffer.WriteString(`{"id":`)
	o.buffer.WriteString(strconv.Itoa(id))
	if session != "" {
		o.buffer.WriteString(`,"sessionId":`)
		o.buffer.WriteString(strconv.Quote(string(session))) // hexadecimal digits
	}
	o.buffer.WriteString(`,"method":"`)
	o.buffer.WriteString(c.method)
	o.buffer.WriteString(`","params":`)
	if err := o.addParams(c.params); err != nil {
		o.buffer.Truncate(start)
		return err
	}
	o.buffer.WriteByte('}')
	o.ends = append(o.ends, o.buffer.Len())
	return nil
}

func (o *outbox) addParams(params any) error {
	switch p := params.(type) {
	case nil:
		o.buffer.WriteString("{}")
	case prepared:
		o.buffer.Write(p.params)
	default:
		if err := o.encoder.Encode(params); err != nil {
			return err
		}
		o.buffer.Truncate(o.buffer.Len() - 1) // the line end
	}
	return nil
}

// writeTo writes all encoded requests.
func (o *outbox) writeTo(t Transport) error {
	messages, start := make([][]byte, len(o.ends)), 0
	for i, end := range o.ends {
		messages[i] = o.buffer.Bytes()[start:end]
		start = end
	}
	err := t.Write(messages...)
	o.ends = o.ends[:0]
	o.buffer.Reset()
	if o.buffer.Cap() > maxKeptBuffer {
		*o.buffer = bytes.Buffer{}
	}
	return err
}

// Prepare returns the request with its parameters encoded, for long requests that are sent
// again and again.
func Prepare(m proto.Request) proto.Request {
	var b bytes.Buffer
	if newEncoder(&b).Encode(m) != nil {
		return m // sending it fails in the same way
	}
	return prepared{m.ProtoReq(), bytes.TrimSuffix(b.Bytes(), []byte("\n"))}
}

type prepared struct {
	method string
	params []byte
}

func (p prepared) ProtoReq() string { return p.method }
