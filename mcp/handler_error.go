package mcp

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
	"rote/routine"
)

// handlerError returns what a client may see of an error of a prompt's or a
// resource's handler: its message and code, never its cause. The JSON-RPC code of
// the response is set with it; notFound is the one for what does not exist.
func (s *Server) handlerError(ctx context.Context, err error, notFound int) error {
	e := routine.AsError(s.logInternal(ctx, "", err))
	wire.RecordFailure(ctx, e.Code)
	switch e.Code {
	case routine.CodeNotFound:
		wire.SetErrorCode(ctx, notFound)
	case routine.CodeInvalid, routine.CodeTooLarge, routine.CodeUnauthenticated, routine.CodeForbidden, routine.CodeConflict:
		wire.SetErrorCode(ctx, mcp.INVALID_PARAMS)
	case routine.CodeBusy, routine.CodeRateLimited, routine.CodeShuttingDown, routine.CodeStoreUnavailable:
		wire.SetErrorCode(ctx, wire.CodeBusy)
	}
	return fmt.Errorf("%s [%s]", e.Message, e.Code)
}

// resourceNotFound returns the JSON-RPC code for a resource that does not exist,
// which depends on the revision of the protocol.
func resourceNotFound(ctx context.Context) int {
	if mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)) {
		return mcp.INVALID_PARAMS
	}
	return mcp.RESOURCE_NOT_FOUND
}
