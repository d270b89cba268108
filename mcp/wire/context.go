package wire

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"rote/routine"
	"rote/routine/audit"
)

// request is what the transport knows about the message that is being handled.
// It travels through mcp-go as one context value, which handlers read with the
// functions below.
type request struct {
	principal     routine.Principal
	peer          Peer
	notify        Notifier        // nil: the client takes no notifications with its answer
	progressToken json.RawMessage // as the client wrote it; nil: as mcp-go reads it
	calls         *atomic.Int32   // running tool calls of the session; nil: there is no session
	session       *httpSession    // nil: no session over streamable HTTP
	errorCode     errorCode
	record        record
}

// Notifier sends a notification that belongs to the request being handled. It is
// written before the response is.
type Notifier func(method string, params any) error

type requestKey struct{}

func withRequest(ctx context.Context, q *request) context.Context {
	return context.WithValue(audit.WithVia(ctx, routine.ViaMCP), requestKey{}, q)
}

func requestOf(ctx context.Context) *request {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return q
	}
	return &request{}
}

// WithPrincipal returns a context in which messages are handled on behalf of p.
func WithPrincipal(ctx context.Context, p routine.Principal) context.Context {
	return withRequest(ctx, &request{principal: p})
}

// PrincipalOf returns the principal on whose behalf the message is handled. It is
// the anonymous principal, who may do nothing, if the context names none.
func PrincipalOf(ctx context.Context) routine.Principal { return requestOf(ctx).principal }

// NotifierOf returns the function that sends notifications to the client before
// the response, or nil if the client takes none.
func NotifierOf(ctx context.Context) Notifier { return requestOf(ctx).notify }

// ProgressTokenOf returns the request's progress token as the client wrote it if
// mcp-go could not write it back unchanged, because it reads numbers as float64.
// Otherwise it returns nil.
func ProgressTokenOf(ctx context.Context) json.RawMessage { return requestOf(ctx).progressToken }

// StartCall counts a tool call of the session until end is called, and returns
// how many calls of the session are running, this one included. Requests without
// a session are not counted: running is 0.
func StartCall(ctx context.Context) (running int, end func()) {
	calls := requestOf(ctx).calls
	if calls == nil {
		return 0, func() {}
	}
	return int(calls.Add(1)), func() { calls.Add(-1) }
}
