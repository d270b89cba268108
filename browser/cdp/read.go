package cdp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-rod/rod/lib/proto"
)

// message is a message of the browser: an answer (with an ID) or an event.
type message struct {
	ID        int                   `json:"id"`
	SessionID proto.TargetSessionID `json:"sessionId"`
	Method    string                `json:"method"`
	Params    json.RawMessage       `json:"params"`
	Result    json.RawMessage       `json:"result"`
	Error     *Error                `json:"error"`
}

// parseMessage parses a message of the browser. It reports false if that is no JSON.
func parseMessage(b []byte) (message, bool) {
	if method, session, ok := longConsoleEvent(b); ok {
		return message{Method: method, SessionID: session, Params: b}, true
	}
	if m, ok := splitMessage(b); ok {
		return m, true
	}
	var m message
	err := json.Unmarshal(b, &m)
	return m, err == nil
}

// splitMessage parses an answer or an event in the form in which Chromium writes them,
// without looking at its result or its parameters: who needs these decodes them. It reports
// false if the message has another form, such as the answer to a request that has failed.
//
// The members are in this order, without spaces, and the session, if there is one, is last:
//
//	{"id":1,"result":{…},"sessionId":"…"}
//	{"method":"…","params":{…},"sessionId":"…"}
func splitMessage(b []byte) (m message, ok bool) {
	if rest, found := bytes.CutPrefix(b, []byte(`{"id":`)); found {
		id, rest, found := bytes.Cut(rest, []byte(`,"result":`))
		if m.ID, _ = strconv.Atoi(string(id)); !found || m.ID <= 0 {
			return message{}, false
		}
		m.Result, m.SessionID, ok = splitSession(rest)
		return m, ok
	}
	if rest, found := bytes.CutPrefix(b, []byte(`{"method":"`)); found {
		method, rest, found := bytes.Cut(rest, []byte(`","params":`))
		if !found || len(method) > maxMethod || bytes.ContainsAny(method, `"\`) {
			return message{}, false
		}
		m.Method = string(method)
		m.Params, m.SessionID, ok = splitSession(rest)
		return m, ok
	}
	return message{}, false
}

// maxMethod is the length up to which a method is recognized, in bytes. The longest ones of
// the protocol have some 60.
const maxMethod = 100

// splitSession splits the rest of a message into an object and the session after it. Within
// a string of the object, the quotes of a member would be escaped.
func splitSession(rest []byte) (object []byte, session proto.TargetSessionID, ok bool) {
	object, found := bytes.CutSuffix(rest, []byte(`}`))
	if !found || !bytes.HasPrefix(object, []byte(`{`)) {
		return nil, "", false
	}
	if bytes.HasSuffix(object, []byte(`}`)) { // of the browser's own session
		return object, "", true
	}
	const key = `},"sessionId":"`
	at := bytes.LastIndex(object, []byte(key))
	if at < 0 {
		return nil, "", false
	}
	id, found := bytes.CutSuffix(object[at+len(key):], []byte(`"`))
	if !found || len(id) == 0 || bytes.ContainsAny(id, `"\`) {
		return nil, "", false
	}
	return object[:at+1], proto.TargetSessionID(id), true
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
		m, ok := parseMessage(b)
		if !ok {
			continue // without an id or a session, nobody can handle it
		}
		sink := c.receive(&m)
		switch {
		case m.ID == 0:
			if sink != nil {
				sink(m.Method, m.Params)
			}
		case m.Error != nil:
			c.answer(m.ID, Answer{nil, m.Error})
		default:
			c.answer(m.ID, Answer{m.Result, nil})
		}
	}
}

// receive shows a message to the observer and returns what receives the events of its
// session; nil if nothing does.
func (c *Client) receive(m *message) func(method string, params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen != nil {
		c.seen(m.SessionID, "", m.Method)
	}
	return c.sinks[m.SessionID]
}

// answer hands an answer to the future that waits for it, if one does.
func (c *Client) answer(id int, a Answer) {
	c.mu.Lock()
	ch := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if ch != nil {
		ch <- a
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
	c.answer(id, Answer{nil, ErrOversize})
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
