package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/tracing"
)

// maxInFlight limits the requests of one session that are being answered. A
// client may send requests without ever reading the answers.
const maxInFlight = 1000

// messageWriter sends messages to a client: each call writes one whole message,
// in the order of the calls.
type messageWriter interface{ write(v any) error }

// conversation is one client over a transport that keeps the order of the
// messages of both sides: standard input and output, or the older SSE.
//
// mcp-go answers the messages, but its own read loops are not used: they keep the
// session of stdio in a package variable, start calls that were cancelled while
// they were queued, drop a last line without a line break, continue calls whose
// SSE client has disconnected, and send responses before earlier notifications.
type conversation struct {
	peer      Peer
	log       *slog.Logger
	audit     *audit.Log
	tracer    *tracing.Tracer
	session   *stdioSession
	transport string // stdio or sse, for the log
	out       messageWriter
	pending   sync.WaitGroup
	calls     atomic.Int32

	mu       sync.Mutex
	inFlight map[string]*pendingRequest // by request id, as JSON
}

func newConversation(p Peer, o Options, transport string, out messageWriter) *conversation {
	return &conversation{peer: p, log: o.Log, audit: o.Audit, tracer: o.Tracer, session: newSession(transport + "-"), transport: transport, out: out,
		inFlight: map[string]*pendingRequest{}}
}

// open registers the session with mcp-go and starts to send the client
// notifications of changes. The caller calls end.
func (c *conversation) open(ctx context.Context) (end func(), err error) {
	if err := c.peer.Server().RegisterSession(ctx, c.session); err != nil {
		return nil, fmt.Errorf("begin session: %w", err)
	}
	stopListening := c.peer.Listen(ctx)
	background, stop := context.WithCancel(ctx)
	var forwarding sync.WaitGroup
	forwarding.Go(func() { c.forwardNotifications(background) })
	return func() {
		stopListening()
		stop()
		forwarding.Wait()
		c.peer.Server().UnregisterSession(context.WithoutCancel(ctx), c.session.SessionID())
	}, nil
}

// pendingRequest is a request that is being answered.
type pendingRequest struct {
	cancel    context.CancelFunc
	cancelled bool // by the client, which then expects no answer
}

// envelope has those members of a message that decide how it is handled.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
			traceMeta
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// handleMessage handles a message that the client has sent on behalf of p.
func (c *conversation) handleMessage(ctx context.Context, p routine.Principal, text []byte) {
	var e envelope
	var odd *json.UnmarshalTypeError // mcp-go refuses such a message
	err := json.Unmarshal(text, &e)
	isMessage := err == nil || errors.As(err, &odd)
	isRequest := isMessage && len(e.ID) > 0
	switch {
	case isMessage && hasNullID(e.ID, e.Method):
		c.refuse(nil, mcp.INVALID_REQUEST, errNullID.Message)
	case isMessage && e.Method == "" && (e.Result != nil || e.Error != nil):
		// a response, but the server sends no requests
	case isMessage && e.Method == string(mcp.MethodNotificationCancelled):
		c.cancel(text)
	case !isRequest:
		c.send(nil, c.handle(ctx, p, e, text))
	case e.Method == string(mcp.MethodInitialize):
		c.send(e.ID, c.handle(ctx, p, e, text)) // before the next message is read, which depends on it
	default:
		c.start(ctx, p, e, text)
	}
}

// errNullID refuses a request whose response could not be matched to it.
var errNullID = routine.Errorf(routine.CodeInvalid, "the id of a request must be a string or a number, not null: leave it out of a notification")

// hasNullID reports whether a message is a request whose id is null.
func hasNullID(id json.RawMessage, method string) bool { return string(id) == "null" && method != "" }

// start answers a request on a goroutine of its own. The request can be cancelled
// as soon as start returns, even if the goroutine does not run yet.
func (c *conversation) start(ctx context.Context, p routine.Principal, e envelope, text []byte) {
	ctx, cancel := context.WithCancel(ctx)
	x := &pendingRequest{cancel: cancel}
	if code, refusal := c.register(string(e.ID), x); refusal != "" {
		cancel()
		c.refuse(e.ID, code, refusal)
		return
	}
	c.pending.Go(func() {
		defer cancel()
		response := c.handle(ctx, p, e, text)
		if cancelled := c.finish(string(e.ID), x); !cancelled {
			c.send(e.ID, response)
		}
	})
}

// register adds a request to those in flight, or returns why it is refused.
func (c *conversation) register(id string, x *pendingRequest) (code int, refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight[id] != nil {
		return mcp.INVALID_REQUEST, "a request with this id is still being answered"
	}
	if len(c.inFlight) >= maxInFlight {
		return CodeBusy, fmt.Sprintf("%d requests are being answered: try again later", maxInFlight)
	}
	c.inFlight[id] = x
	return 0, ""
}

// finish removes a request from those in flight, so that it can no longer be
// cancelled, and reports whether it was.
func (c *conversation) finish(id string, x *pendingRequest) (cancelled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inFlight, id)
	return x.cancelled
}

// cancel cancels the request that a notifications/cancelled names. A request that
// is not in flight has been answered already.
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

// handle returns mcp-go's answer to a message, or nil if there is none.
func (c *conversation) handle(ctx context.Context, p routine.Principal, e envelope, text []byte) (response any) {
	q := &request{principal: p, peer: c.peer, notify: c.notify, progressToken: exactToken(e.Params.Meta.ProgressToken), calls: &c.calls}
	q.record.transport, q.record.id, q.record.session, q.record.started = c.transport, e.ID, c.session.id, time.Now()
	defer func() {
		if p := recover(); p != nil {
			incident := uuid.NewString()
			c.log.ErrorContext(ctx, "mcp message", "incident", incident, "error", routine.PanicError(p))
			RecordFailure(withRequest(ctx, q), routine.CodeInternal)
			response = errorResponse(e.ID, mcp.INTERNAL_ERROR, "internal error, incident "+incident)
		}
	}()
	if len(e.ID) > 0 {
		ctx = q.record.startSpan(ctx, c.tracer, e.Params.Meta.parent())
		defer func() { q.record.log(ctx, c.log, c.audit, p) }() // also after a panic
	}
	server := c.peer.Server()
	ctx = withRequest(server.WithContext(ctx, c.session), q)
	switch r := server.HandleMessage(ctx, text).(type) {
	case nil:
		return nil
	case mcp.JSONRPCResponse:
		r.ID = mcp.NewRequestId(e.ID) // mcp-go has read it as a float64
		return r
	case mcp.JSONRPCError:
		r.ID = mcp.NewRequestId(e.ID)
		r.Error.Message = c.peer.ErrorMessage(ctx, r.Error.Message)
		r.Error.Code = q.errorCode.replacing(r.Error.Code)
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

// send writes the response to the request id. One that cannot be encoded is
// replaced by an error, because the client would wait for a response for ever.
func (c *conversation) send(id json.RawMessage, response any) {
	if response == nil {
		return
	}
	if err := c.out.write(response); errors.Is(err, errNotEncodable) {
		c.log.Error("mcp response", "error", err)
		c.refuse(id, mcp.INTERNAL_ERROR, "internal error: the response could not be encoded")
	}
}

func (c *conversation) refuse(id json.RawMessage, code int, message string) {
	_ = c.out.write(errorResponse(id, code, message)) // a write error ends the session elsewhere
}

func errorResponse(id json.RawMessage, code int, message string) any {
	return mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Error: mcp.NewJSONRPCErrorDetails(code, message, nil)}
}
