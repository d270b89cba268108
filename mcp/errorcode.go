package mcp

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/routine"
)

// errorCode is the JSON-RPC code of the error that a request is answered with.
// mcp-go makes every error of a prompt's or a resource's handler an internal
// one, so the handler leaves the right code here for whoever sends the answer.
// The zero value stands for mcp-go's choice.
type errorCode struct{ code atomic.Int32 }

type errorCodeKey struct{}

// withErrorCode gives the handlers of a request a place for the code.
func withErrorCode(ctx context.Context) (context.Context, *errorCode) {
	c := &errorCode{}
	return context.WithValue(ctx, errorCodeKey{}, c), c
}

// setErrorCode leaves the code of an error of a handler. absent is the code of what does
// not exist.
func (s *Server) setErrorCode(ctx context.Context, err *routine.Error, absent int) {
	c, ok := ctx.Value(errorCodeKey{}).(*errorCode)
	if !ok {
		return
	}
	switch err.Code {
	case routine.CodeNotFound:
		c.code.Store(int32(absent))
	case routine.CodeInvalid, routine.CodeTooLarge, routine.CodeUnauthenticated, routine.CodeForbidden, routine.CodeConflict:
		c.code.Store(mcp.INVALID_PARAMS)
	case routine.CodeBusy, routine.CodeRateLimited, routine.CodeShuttingDown, routine.CodeStoreUnavailable:
		c.code.Store(codeBusy)
	}
}

// absentResource is the code for a resource that does not exist, which depends
// on the revision of the protocol.
func absentResource(ctx context.Context) int {
	if mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)) {
		return mcp.INVALID_PARAMS
	}
	return mcp.RESOURCE_NOT_FOUND
}

// of gives the code that replaces mcp-go's.
func (c *errorCode) of(code int) int {
	if own := int(c.code.Load()); own != 0 && code == mcp.INTERNAL_ERROR {
		return own
	}
	return code
}

// replace puts the code into the text of an answer, in which it stands before
// the message.
func (c *errorCode) replace(answer []byte) []byte {
	if c == nil || c.code.Load() == 0 {
		return answer
	}
	return bytes.Replace(answer, fmt.Appendf(nil, `"error":{"code":%d`, mcp.INTERNAL_ERROR), fmt.Appendf(nil, `"error":{"code":%d`, c.code.Load()), 1)
}
