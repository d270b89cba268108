package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/service"
)

// maxCalls limits the running tool calls of one session, so that one agent does
// not fill the queue that others wait in.
const maxCalls = 64

// limitCalls is the middleware that refuses calls beyond maxCalls. The refusal is
// a tool result, because agents see no protocol errors.
func limitCalls(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		running, end := wire.StartCall(ctx)
		defer end()
		if running > maxCalls {
			wire.RecordFailure(ctx, routine.CodeBusy)
			return errorResult(fmt.Sprintf("%s was not called: %d calls of this session go on already [%s]. Next: wait for some of them to end, then call again.",
				q.Params.Name, maxCalls, routine.CodeBusy)), nil
		}
		return next(ctx, q)
	}
}

// caller runs one routine for its tool. Of the routine it keeps only what its
// messages need.
type caller struct {
	server     *Server
	id         string
	name, tool string
	readOnly   bool
	parameters []string
	operations int
	definition *routine.Definition // if it is not saved; the id is then empty
	outline    bool                // add what is on the last page
}

func newCaller(s *Server, e *entry) *caller {
	return &caller{server: s, id: e.id, name: e.name, tool: e.tool.Name, readOnly: e.tool.Annotations.ReadOnly, operations: e.operations, parameters: e.parameters}
}

// handle answers a call of the tool. It never returns an error: mcp-go would send
// it to the client as a protocol error, which agents do not see.
func (c *caller) handle(ctx context.Context, request mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
	defer func() {
		if p := recover(); p != nil {
			result = errorResult(c.failureText(ctx, nil, c.server.logInternal(ctx, c.id, panicError(p))))
		}
	}()
	return c.run(ctx, request, arguments(request), c.server.softDeadline), nil
}

// run runs the routine and answers when the run has ended. After patience it
// answers that the run continues.
func (c *caller) run(ctx context.Context, request mcp.CallToolRequest, parameters json.RawMessage, patience time.Duration) *mcp.CallToolResult {
	r := c.server.startReporter(ctx, request, c.operations)
	e, err := c.server.service.Execute(ctx, wire.PrincipalOf(ctx), c.id, service.Call{Via: routine.ViaMCP, Definition: c.definition, Parameters: parameters,
		Timeout: routine.MaxRunTimeout, Progress: r.progress(), Queued: r.queued(), Patience: patience, Detach: c.server.detach,
		Outline: c.outline})
	r.stop()
	result := c.answer(ctx, e, err, dataRange{})
	if e != nil && e.Evidence != nil && c.mendAdvice(ctx, e, err) == "" && c.server.offers(wire.PrincipalOf(ctx), "get_execution") {
		words, _ := result.Content[0].(mcp.TextContent)
		words.Text += " To mend the routine: get_execution tells what was on the page."
		result.Content[0] = words
	}
	return result
}

// answer returns the result for an execution in its present state, or for err if
// there is no execution.
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
	return routine.Internal("call tool", routine.PanicError(p))
}

// logInternal logs internal errors and errors of the store with their cause; the
// service does so itself where there is an execution. It returns err, or for an
// internal error one with the id under which the log has it.
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

// arguments returns the arguments of a call as the client wrote them: in decoded
// ones, long numbers would have lost digits.
func arguments(request mcp.CallToolRequest) json.RawMessage {
	if raw := request.Params.RawArguments; string(raw) != "null" {
		return raw
	}
	return nil
}

func errorResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}, IsError: true}
}
