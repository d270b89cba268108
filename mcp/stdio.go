package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
)

// maxInFlight bounds the requests of one session that are being answered. It
// is above what a service runs and queues at once, so that it says busy first.
const maxInFlight = 1000

// codeBusy is the JSON-RPC error of a request beyond maxInFlight.
const codeBusy = -32000

// errOut marks that the client reads no more.
var errOut = errors.New("write to client")

// ServeStdio serves one client that writes a message a line to in and reads the
// answers from out. It returns when in or ctx has ended, which is no error, or
// when out takes no more. Calls in flight are cancelled then, and have ended
// when it returns; what reads only is still answered. If ctx ends while in
// blocks, one goroutine is left, in in.Read.
//
// The messages are mcp-go's to answer, but its own loop over them is not used:
// that one keeps its session in a package variable, starts calls that were
// cancelled while they queued, drops a last line without line break, and its
// responses overtake notifications.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c := &conversation{server: s, session: newSession(), inFlight: map[string]*exchange{},
		out: &lineWriter{w: out, broken: func(err error) { stop(fmt.Errorf("%w: %w", errOut, err)) }}}
	if err := s.protocol.RegisterSession(ctx, c.session); err != nil {
		return fmt.Errorf("begin session: %w", err)
	}
	defer s.protocol.UnregisterSession(context.WithoutCancel(ctx), c.session.SessionID())
	s.registry.refresh(ctx) // before the client is told of changes

	background, stopBackground := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() { c.forwardNotifications(background) })
	waiting.Go(func() { s.keepFresh(background) })
	defer waiting.Wait()
	defer stopBackground()

	requests, cancelRequests := context.WithCancel(ctx)
	err := c.read(requests, in)
	cancelRequests()
	c.pending.Wait()
	return err
}

// keepFresh looks for changed routines while the client is idle.
func (s *Server) keepFresh(ctx context.Context) {
	if s.refreshInterval < 0 {
		return
	}
	tick := time.NewTicker(s.refreshInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.registry.refresh(ctx)
		}
	}
}

// conversation is the state of one ServeStdio.
type conversation struct {
	server  *Server
	session *session
	out     *lineWriter
	pending sync.WaitGroup

	mu       sync.Mutex
	inFlight map[string]*exchange // by request id, as JSON
}

// exchange is one request that is being answered.
type exchange struct {
	cancel    context.CancelFunc
	cancelled bool // by the client, which expects no answer then
}

// envelope is what of a message decides who handles it.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// read handles messages until in or ctx ends.
func (c *conversation) read(ctx context.Context, in io.Reader) error {
	lines := make(chan line)
	go readLines(ctx, in, c.server.maxMessage, lines)
	for {
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); errors.Is(cause, errOut) {
				return cause
			}
			return nil
		case l := <-lines:
			switch {
			case errors.Is(l.err, io.EOF):
				return nil
			case l.err != nil:
				return fmt.Errorf("read from client: %w", l.err)
			case l.tooLong:
				c.refuse(nil, mcp.INVALID_REQUEST, fmt.Sprintf("the message is longer than %d bytes", c.server.maxMessage))
			case len(l.text) > 0:
				c.message(ctx, l.text)
			}
		}
	}
}

func (c *conversation) message(ctx context.Context, text []byte) {
	var e envelope
	isMessage := json.Unmarshal(text, &e) == nil
	isRequest := isMessage && len(e.ID) > 0 && string(e.ID) != "null"
	switch {
	case isMessage && e.Method == "" && (e.Result != nil || e.Error != nil):
		// an answer, but nothing was asked
	case isMessage && e.Method == string(mcp.MethodNotificationCancelled):
		c.cancel(text)
	case !isRequest:
		c.send(nil, c.handle(ctx, nil, text))
	case e.Method == string(mcp.MethodInitialize):
		c.send(e.ID, c.handle(ctx, e.ID, text)) // what comes behind it builds on it
	default:
		c.begin(ctx, e, text)
	}
}

// begin answers a request on a goroutine of its own. It can be cancelled from
// now on, not only when the goroutine has come to run.
func (c *conversation) begin(ctx context.Context, e envelope, text []byte) {
	ctx, cancel := context.WithCancel(ctx)
	x := &exchange{cancel: cancel}
	if code, refusal := c.admit(string(e.ID), x); refusal != "" {
		cancel()
		c.refuse(e.ID, code, refusal)
		return
	}
	c.pending.Go(func() {
		defer cancel()
		started := time.Now()
		response := c.handle(ctx, e.ID, text)
		cancelled := c.settle(string(e.ID), x)
		c.server.log.DebugContext(ctx, "mcp request", "method", e.Method, "id", string(e.ID), "duration", time.Since(started), "cancelled", cancelled)
		if !cancelled {
			c.send(e.ID, response)
		}
	})
}

// admit notes a request as in flight, or says why it is refused.
func (c *conversation) admit(id string, x *exchange) (code int, refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight[id] != nil {
		return mcp.INVALID_REQUEST, "a request with this id is still being answered"
	}
	if len(c.inFlight) >= maxInFlight {
		return codeBusy, fmt.Sprintf("%d requests are being answered: try again later", maxInFlight)
	}
	c.inFlight[id] = x
	return 0, ""
}

// settle ends the time in which a request can be cancelled and tells whether
// it was.
func (c *conversation) settle(id string, x *exchange) (cancelled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inFlight, id)
	return x.cancelled
}

// cancel ends a request that the client no longer wants an answer to. An id
// that is not in flight has been answered meanwhile.
func (c *conversation) cancel(text []byte) {
	var n struct {
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	if json.Unmarshal(text, &n) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.inFlight[string(n.Params.RequestID)]; x != nil {
		x.cancelled = true
		x.cancel()
	}
}

// handle gives mcp-go's answer; nil when there is none to give.
func (c *conversation) handle(ctx context.Context, id json.RawMessage, text []byte) (response any) {
	defer func() {
		if p := recover(); p != nil {
			incident := uuid.NewString()
			c.server.log.ErrorContext(ctx, "mcp message", "incident", incident, "error", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			response = errorResponse(id, mcp.INTERNAL_ERROR, "internal error, incident "+incident)
		}
	}()
	ctx = withNotifier(c.server.protocol.WithContext(ctx, c.session), c.notify)
	switch r := c.server.protocol.HandleMessage(ctx, text).(type) {
	case nil:
		return nil
	case mcp.JSONRPCResponse:
		r.ID = mcp.NewRequestId(id) // mcp-go has read it as a float64
		return r
	case mcp.JSONRPCError:
		r.ID = mcp.NewRequestId(id)
		return r
	default:
		return r
	}
}

func (c *conversation) notify(method string, params any) error {
	return c.out.write(notification{mcp.JSONRPC_VERSION, method, params})
}

type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// send answers the request id. A response that has no JSON is replaced by an
// error: a client waits for ever for an answer that does not come.
func (c *conversation) send(id json.RawMessage, response any) {
	if response == nil {
		return
	}
	if err := c.out.write(response); errors.Is(err, errNoJSON) {
		c.server.log.Error("mcp response", "error", err)
		c.refuse(id, mcp.INTERNAL_ERROR, "internal error: the response could not be encoded")
	}
}

func (c *conversation) refuse(id json.RawMessage, code int, message string) {
	_ = c.out.write(errorResponse(id, code, message)) // a broken out ends the session
}

func errorResponse(id json.RawMessage, code int, message string) any {
	return mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Error: mcp.NewJSONRPCErrorDetails(code, message, nil)}
}
