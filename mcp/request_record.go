package mcp

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
	"rote/routine"
)

// recordRequests adds hooks that store what the log says of a request.
func recordRequests(hooks *server.Hooks) {
	hooks.AddBeforeAny(func(ctx context.Context, _ any, method mcp.MCPMethod, _ any) { wire.RecordMethod(ctx, string(method)) })
	hooks.AddOnSuccess(func(ctx context.Context, _ any, _ mcp.MCPMethod, _, result any) {
		r, isTool := result.(*mcp.CallToolResult)
		wire.RecordResult(ctx, isTool && r.IsError)
	})
	hooks.AddOnError(func(ctx context.Context, _ any, method mcp.MCPMethod, _ any, err error) {
		wire.RecordMethod(ctx, string(method)) // also if the parameters could not be read
		for _, absent := range []error{server.ErrToolNotFound, server.ErrResourceNotFound, server.ErrPromptNotFound} {
			if errors.Is(err, absent) {
				wire.RecordFailure(ctx, routine.CodeNotFound)
			}
		}
	})
}

// recordTool is the middleware that stores the name of the tool that is called, for the log.
func recordTool(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		wire.RecordTool(ctx, q.Params.Name)
		return next(ctx, q)
	}
}
