package wire

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// CodeBusy is the JSON-RPC error code of a request that is refused because the
// service is busy: the client may send it again later.
const CodeBusy = -32000

// errorCode is the JSON-RPC code of the error that a request is answered with.
// mcp-go answers every error of a prompt's or a resource's handler with
// INTERNAL_ERROR, so the handler stores the right code here and the transport
// puts it into the response. Zero keeps mcp-go's code.
type errorCode struct{ code atomic.Int32 }

// SetErrorCode sets the JSON-RPC code of the error that the handler of a request
// returns.
func SetErrorCode(ctx context.Context, code int) {
	requestOf(ctx).errorCode.code.Store(int32(code))
}

// replacing returns the code that a response has in place of mcp-go's.
func (c *errorCode) replacing(code int) int {
	if own := int(c.code.Load()); own != 0 && code == mcp.INTERNAL_ERROR {
		return own
	}
	return code
}

// replace puts the code into the text of a response, in which it comes before the
// message.
func (c *errorCode) replace(response []byte) []byte {
	if c == nil || c.code.Load() == 0 {
		return response
	}
	return bytes.Replace(response, fmt.Appendf(nil, `"error":{"code":%d`, mcp.INTERNAL_ERROR), fmt.Appendf(nil, `"error":{"code":%d`, c.code.Load()), 1)
}
