package wire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/tracing"
)

// record is what the log says of one request. It has nothing that a client chooses freely:
// the method and the tool are set when mcp-go has found them.
type record struct {
	transport string
	id        []byte // as the client wrote it
	session   string // the id of the session, or empty
	started   time.Time
	span      *tracing.Span

	mu       sync.Mutex
	method   string // empty: it is not known
	tool     string
	answered bool // with a result
	failed   bool // the result says that the tool has failed
	code     routine.Code
}

// RecordMethod stores the method of the request that is being handled, for the log.
func RecordMethod(ctx context.Context, method string) {
	requestOf(ctx).record.set(func(r *record) { r.method = method })
}

// RecordTool stores which tool the request calls, for the log.
func RecordTool(ctx context.Context, name string) {
	requestOf(ctx).record.set(func(r *record) { r.tool = name })
}

// RecordResult stores that the request has a result, and whether that is the failure of a tool.
func RecordResult(ctx context.Context, failed bool) {
	requestOf(ctx).record.set(func(r *record) { r.answered, r.failed = true, failed })
}

// RecordFailure stores why the request has failed, for the log.
func RecordFailure(ctx context.Context, code routine.Code) {
	requestOf(ctx).record.set(func(r *record) { r.code = code })
}

func (r *record) set(change func(*record)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

// The outcomes of a request.
const (
	outcomeOK = "ok"
	// outcomeToolError is a result that says that the tool has failed.
	outcomeToolError = "tool_error"
	// outcomeError is an error of JSON-RPC, or a request that was refused before it was read.
	outcomeError = "error"
)

// outcome returns the outcome of the request, and why it has failed.
func (r *record) outcome() (outcome string, code routine.Code) {
	switch {
	case r.answered && r.failed:
		return outcomeToolError, r.code
	case r.answered:
		return outcomeOK, ""
	case r.code == "":
		return outcomeError, routine.CodeInvalid // mcp-go has refused the message
	default:
		return outcomeError, r.code
	}
}

// plainID is a JSON-RPC id that the log shows: clients choose them freely.
var plainID = regexp.MustCompile(`^"?([A-Za-z0-9._:-]{1,64})"?$`)

// startSpan starts the span of a request. parent is the span of its client.
func (r *record) startSpan(ctx context.Context, t *tracing.Tracer, parent tracing.Parent) context.Context {
	ctx, r.span = t.Start(t.Below(ctx, parent), tracing.Server, "mcp", r.started)
	return ctx
}

// endSpan ends the span of a request with the names of the conventions of OpenTelemetry for MCP.
func (r *record) endSpan(id string, errorType routine.Code) {
	r.span.SetName(strings.TrimSpace(cmp.Or(r.method, "mcp") + " " + r.tool))
	r.span.Set("mcp.method.name", r.method)
	if r.tool != "" {
		r.span.Set("gen_ai.operation.name", "execute_tool")
		r.span.Set("gen_ai.tool.name", r.tool)
	}
	r.span.Set("jsonrpc.request.id", id)
	r.span.Set("mcp.session.id", sessionLabel(r.session))
	r.span.Set("network.transport", networkTransport[r.transport])
	r.span.End(string(errorType))
}

var networkTransport = map[string]string{"stdio": "pipe", "http": "tcp", "sse": "tcp"}

// log writes the log line of a request of p that has ended, and that of the audit log if it was
// refused. It ends the span of the request.
func (r *record) log(ctx context.Context, log *slog.Logger, refusals *audit.Log, p routine.Principal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	outcome, code := r.outcome()
	attrs := []slog.Attr{slog.String("transport", r.transport)}
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	add("method", r.method)
	add("tool", r.tool)
	add("outcome", outcome)
	add("code", string(code))
	attrs = append(attrs, slog.Float64("duration_seconds", time.Since(r.started).Seconds()))
	id := ""
	if plain := plainID.FindSubmatch(r.id); plain != nil {
		id = string(plain[1])
	}
	add("request_id", id)
	add("session", sessionLabel(r.session))
	add("user_id", p.UserID)
	add("organization_id", p.OrganizationID)
	log.LogAttrs(ctx, slog.LevelInfo, "mcp request", attrs...)
	refusals.RequestEnded(ctx, p, code, slog.String("request", strings.TrimSpace(r.method+" "+r.tool)))
	if outcome == outcomeToolError {
		code = cmp.Or(code, outcomeToolError)
	}
	r.endSpan(id, code)
}

// sessionLabel returns a label for a session, which tells it from others in the log. The id
// itself is a secret.
func sessionLabel(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:6])
}

// traceMeta is the span of the client in the _meta of a request (SEP-414).
type traceMeta struct {
	Traceparent lenientText `json:"traceparent"`
	Tracestate  lenientText `json:"tracestate"`
}

func (m traceMeta) parent() tracing.Parent {
	return tracing.Parent{Traceparent: string(m.Traceparent), Tracestate: string(m.Tracestate)}
}

// lenientText is a JSON string. Any other value is empty: a request is not refused because of
// what is wrong in its trace.
type lenientText string

// UnmarshalJSON never fails.
func (t *lenientText) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) == nil {
		*t = lenientText(s)
	}
	return nil
}
