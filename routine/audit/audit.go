// Package audit writes the audit log: one line of JSON for each change that somebody made, and
// for each call that was refused. The log has no values of parameters, secrets or definitions.
package audit

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// Event says what was changed.
type Event string

const (
	RoutineCreated     Event = "routine.created"
	RoutineChanged     Event = "routine.changed"
	TokenCreated       Event = "token.created"
	TokenRevoked       Event = "token.revoked"
	ScheduleCreated    Event = "schedule.created"
	ScheduleChanged    Event = "schedule.changed"
	ScheduleDeleted    Event = "schedule.deleted"
	ExecutionStarted   Event = "execution.started"
	ExecutionCancelled Event = "execution.cancelled"
	SignedIn           Event = "console.signed_in"
	SignedOut          Event = "console.signed_out"
	WebhookSecretRead  Event = "webhook_secret.read"
	KeysRotated        Event = "key.rotated"
	KeyRemoved         Event = "key.removed"
	DatabaseRestored   Event = "database.restored"
	ExecutionsDeleted  Event = "executions.deleted"

	requestRefused   Event = "request.refused"
	executionRefused Event = "execution.refused"
)

// The codes of requests and of runs that wanted more than they may.
var (
	requestRefusals = []routine.Code{routine.CodeUnauthenticated, routine.CodeForbidden}
	runRefusals     = []routine.Code{routine.CodeEgressDenied, routine.CodeSecretDenied, routine.CodeSecretExposed, routine.CodeScriptBlocked}
)

// Log is an audit log. A nil Log writes nothing.
type Log struct {
	lines  slog.Handler
	faults *slog.Logger
}

// New returns a log that writes each line with one call of w.Write. An error of w does not
// fail what the line is about, which is done: it is logged to faults.
func New(w io.Writer, faults *slog.Logger) *Log {
	options := &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case len(groups) > 0:
		case a.Key == slog.LevelKey:
			return slog.Attr{}
		case a.Key == slog.MessageKey:
			a.Key = "event"
		}
		return a
	}}
	return &Log{lines: slog.NewJSONHandler(w, options), faults: faults}
}

// Request is what a front end knows about the call that is handled. Empty fields are left out
// of the log.
type Request struct {
	Via routine.Via
	// ID is the id of an HTTP request, as in the log of the server.
	ID string
	// Client is the address of the sender, without the last 64 bits of IPv6. On the command
	// line it is the user of the operating system.
	Client string
}

type requestKey struct{}

// WithRequest returns a context whose changes are made by a request.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// WithVia returns a context with the request of ctx as that of another front end.
func WithVia(ctx context.Context, via routine.Via) context.Context {
	r, _ := ctx.Value(requestKey{}).(Request)
	r.Via = via
	return WithRequest(ctx, r)
}

// Changed writes that p made a change. attrs say of what.
func (l *Log) Changed(ctx context.Context, p routine.Principal, e Event, attrs ...slog.Attr) {
	if l != nil {
		l.write(ctx, p, e, "done", attrs)
	}
}

// SecretChanged writes that p changed a secret or a session, or was refused it with err. The
// event is kind and what, as in secret.deleted and session.saved.
func (l *Log) SecretChanged(ctx context.Context, p routine.Principal, kind, what, name string, err error) {
	if l == nil {
		return
	}
	event, attrs := Event(kind+"."+strings.ReplaceAll(what, " ", "_")), []slog.Attr{slog.String("name", name)}
	if err == nil {
		l.write(ctx, p, event, "done", attrs)
	} else {
		l.write(ctx, p, event, "refused", append(attrs, slog.String("code", string(routine.CodeOf(err)))))
	}
}

// RequestEnded writes that a request of p was refused, if code is one of a refusal. attrs say
// what was asked for.
func (l *Log) RequestEnded(ctx context.Context, p routine.Principal, code routine.Code, attrs ...slog.Attr) {
	if l != nil && slices.Contains(requestRefusals, code) {
		l.write(ctx, p, requestRefused, "refused", append(attrs, slog.String("code", string(code))))
	}
}

// ExecutionEnded writes that a run of p was ended because it wanted what it may not.
func (l *Log) ExecutionEnded(ctx context.Context, p routine.Principal, e *routine.Execution) {
	if l != nil && slices.Contains(runRefusals, e.ErrorCode) {
		l.write(ctx, p, executionRefused, "refused", []slog.Attr{slog.String("execution_id", e.ID), slog.String("routine_id", e.RoutineID),
			slog.String("code", string(e.ErrorCode))})
	}
}

// write writes one line.
func (l *Log) write(ctx context.Context, p routine.Principal, e Event, outcome string, attrs []slog.Attr) {
	r, _ := ctx.Value(requestKey{}).(Request)
	record := slog.NewRecord(time.Now().UTC(), slog.LevelInfo, string(e), 0)
	record.AddAttrs(slog.String("outcome", outcome))
	for _, a := range []slog.Attr{slog.String("user_id", p.UserID), slog.String("organization_id", p.OrganizationID), slog.String("project_id", p.ProjectID),
		slog.String("token_id", p.TokenID), slog.String("via", string(r.Via)), slog.String("request_id", r.ID), slog.String("client", r.Client)} {
		if a.Value.String() != "" {
			record.AddAttrs(a)
		}
	}
	record.AddAttrs(attrs...)
	if err := l.lines.Handle(context.WithoutCancel(ctx), record); err != nil {
		l.faults.ErrorContext(ctx, "a line of the audit log could not be written", "event", e, "error", err)
	}
}
