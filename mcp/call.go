package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
	"rote/routine"
)

// maxCalls bounds the calls of tools that go on at once in one session: an
// agent that has lost count must not take every place that others wait for.
const maxCalls = 64

// limitCalls refuses a call that is one too many for its session, in words that
// reach the agent.
func limitCalls(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		running, end := wire.StartCall(ctx)
		defer end()
		if running > maxCalls {
			return errorResult(fmt.Sprintf("%s was not called: %d calls of this session go on already [%s]. Next: wait for some of them to end, then call again.",
				q.Params.Name, maxCalls, routine.CodeBusy)), nil
		}
		return next(ctx, q)
	}
}

// caller runs one routine for its tool. It keeps no more of the routine than
// its messages need.
type caller struct {
	server     *Server
	id         string
	name, tool string
	readOnly   bool
	parameters []string
	operations int
}

func newCaller(s *Server, e *entry) *caller {
	return &caller{server: s, id: e.id, name: e.name, tool: e.tool, readOnly: e.readOnly, operations: e.operations, parameters: e.parameters}
}

// handle answers a call of the tool. It never returns an error: mcp-go would
// send its text to the client as a protocol error, where no agent sees it.
func (c *caller) handle(ctx context.Context, request mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
	defer func() {
		if p := recover(); p != nil {
			result = errorResult(c.failureText(ctx, nil, c.server.logInternal(ctx, c.id, panicError(p))))
		}
	}()
	return c.run(ctx, request, arguments(request), c.server.softDeadline), nil
}

// run runs the routine and answers when it has ended, or after patience, when
// it goes on by itself.
func (c *caller) run(ctx context.Context, request mcp.CallToolRequest, parameters json.RawMessage, patience time.Duration) *mcp.CallToolResult {
	r := c.server.startReporter(ctx, request, c.operations)
	e, err := c.server.service.Execute(ctx, wire.PrincipalOf(ctx), c.id, routine.Call{Via: routine.ViaMCP, Parameters: parameters,
		Timeout: routine.MaxRunTimeout, Progress: r.progress(), Queued: r.queued(), Patience: patience, Detach: c.server.detach})
	r.stop()
	result := c.answer(ctx, e, err, dataRange{})
	if e != nil && e.Evidence != nil && c.server.offers(wire.PrincipalOf(ctx), "get_execution") {
		words, _ := result.Content[0].(mcp.TextContent)
		words.Text += " To mend the routine: get_execution tells what was on the page."
		result.Content[0] = words
	}
	return result
}

// answer tells of an execution as it is, or why there is none.
func (c *caller) answer(ctx context.Context, e *routine.Execution, err error, p dataRange) *mcp.CallToolResult {
	switch {
	case e == nil:
		return errorResult(c.failureText(ctx, nil, c.server.logInternal(ctx, c.id, err)))
	case e.Open():
		return c.server.running(ctx, e)
	case e.Status != routine.ExecutionCompleted:
		return errorResult(c.failureText(ctx, e, err))
	}
	result, err := c.succeeded(ctx, e, p)
	if err != nil {
		return c.server.builtinError(ctx, "get_execution", err)
	}
	return result
}

func panicError(p any) error {
	return routine.Internal("call tool", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
}

// logInternal logs an error that is nobody's fault outside, with its cause. The
// service does so where there is an execution. An internal error comes back
// with the id to find it by.
func (s *Server) logInternal(ctx context.Context, routineID string, err error) error {
	code := routine.CodeOf(err)
	if code != routine.CodeInternal && code != routine.CodeStoreUnavailable {
		return err
	}
	id := uuid.NewString()
	s.log.ErrorContext(ctx, "tool call", "incident", id, "routine_id", routineID, "error", err, "cause", errors.Unwrap(routine.AsError(err)))
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

func errorResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}, IsError: true}
}
