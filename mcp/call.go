package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
)

// caller runs one routine for its tool. It keeps no more of the routine than
// its messages need.
type caller struct {
	service    *routine.Service
	log        *slog.Logger
	id         string
	name, tool string
	readOnly   bool
	parameters []string
}

func newCaller(r *registry, rt *routine.Routine) *caller {
	c := &caller{service: r.service, log: r.log,
		id: rt.ID, name: rt.Name, tool: rt.ToolName, readOnly: readsOnly(rt.Operations)}
	for _, p := range rt.Parameters {
		c.parameters = append(c.parameters, p.Name)
	}
	return c
}

// handle answers a call of the tool. It never returns an error: mcp-go would
// send its text to the client as a protocol error, where no agent sees it.
func (c *caller) handle(ctx context.Context, request mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
	defer func() {
		if p := recover(); p != nil {
			result = failed(c.failure(nil, c.noted(ctx, routine.Internal("call tool", fmt.Errorf("panic: %v\n%s", p, debug.Stack())))))
		}
	}()
	execution, err := c.service.Execute(ctx, principalOf(ctx), c.id, routine.Call{
		Via:        routine.ViaMCP,
		Parameters: arguments(request),
		Progress:   progress(ctx, request),
	})
	switch {
	case err == nil:
		return succeeded(execution), nil
	case execution != nil && execution.Status == routine.ExecutionCompleted:
		// It ran, on a real site: that its record is missing must not look as
		// if it had not.
		return succeeded(execution, "the execution could not be recorded: "+routine.AsError(err).Message), nil
	case execution == nil:
		err = c.noted(ctx, err)
	}
	return failed(c.failure(execution, err)), nil
}

// noted logs an error that is nobody's fault outside, with its cause. The
// service does so where there is an execution. An internal error comes back
// with the id to find it by.
func (c *caller) noted(ctx context.Context, err error) error {
	code := routine.CodeOf(err)
	if code != routine.CodeInternal && code != routine.CodeStoreUnavailable {
		return err
	}
	id := uuid.NewString()
	c.log.ErrorContext(ctx, "tool call", "incident", id, "routine_id", c.id, "error", err, "cause", errors.Unwrap(routine.AsError(err)))
	if code == routine.CodeInternal {
		return &routine.Error{Code: code, Message: "internal error, incident " + id}
	}
	return err
}

// arguments are those of the call as the client wrote them: decoded, long
// numbers would lose digits.
func arguments(request mcp.CallToolRequest) json.RawMessage {
	if raw := request.Params.RawArguments; string(raw) != "null" {
		return raw
	}
	return nil
}

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}, IsError: true}
}

// notifier sends a notification that belongs to the request being served, so
// that it is on its way before the response is.
type notifier func(method string, params any) error

type notifierKey struct{}

func withNotifier(ctx context.Context, n notifier) context.Context {
	return context.WithValue(ctx, notifierKey{}, n)
}

// progressParams is the body of a notifications/progress. Progress is how many
// operations are done, Message names the one that begins.
type progressParams struct {
	ProgressToken mcp.ProgressToken `json:"progressToken"`
	Progress      int               `json:"progress"`
	Total         int               `json:"total"`
	Message       string            `json:"message"`
}

// progress tells the client of each operation that begins, if it has asked to
// be told. It is nil if not.
func progress(ctx context.Context, request mcp.CallToolRequest) func(routine.Progress) {
	notify, ok := ctx.Value(notifierKey{}).(notifier)
	if meta := request.Params.Meta; !ok || meta == nil || meta.ProgressToken == nil {
		return nil
	}
	return func(p routine.Progress) {
		// A client that cannot be reached ends its session, not here.
		_ = notify("notifications/progress", progressParams{request.Params.Meta.ProgressToken, p.Index, p.Total,
			fmt.Sprintf("%d/%d %s", p.Index+1, p.Total, clip(oneLine(p.Operation), 100))})
	}
}
