package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"rote/routine"
	"rote/routine/audit"
)

// record is what the log says of one request. It has nothing that a client chooses freely:
// the method and the tool are set when mcp-go has found them.
type record struct {
	transport string
	id        []byte // as the client wrote it
	session   string // the id of the session, or empty
	started   time.Time

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

// log writes the log line of a request of p that has ended, and that of the audit log if it was
// refused.
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
	if id := plainID.FindSubmatch(r.id); id != nil {
		add("request_id", string(id[1]))
	}
	add("session", sessionLabel(r.session))
	add("user_id", p.UserID)
	add("organization_id", p.OrganizationID)
	log.LogAttrs(ctx, slog.LevelInfo, "mcp request", attrs...)
	refusals.RequestEnded(ctx, p, code, slog.String("request", strings.TrimSpace(r.method+" "+r.tool)))
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
