// Package wire is the protocol of the MCP front end: it carries messages between
// clients and a [Peer] over streamable HTTP, the older SSE, and standard input and
// output. It admits requests, keeps sessions and limits, and makes up for what
// mcp-go's own transports lack. It knows no tools.
package wire

import (
	"context"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/tracing"
)

// Peer is what a client talks to: the tools, resources and prompts of the
// client's organization. Two sessions have the same peer if they are of the same
// organization.
type Peer interface {
	// Server returns the mcp-go server that answers the messages.
	Server() *server.MCPServer
	// Listen keeps the lists of the server current while a client waits for
	// notifications of changes. The caller calls stop when it no longer waits.
	Listen(ctx context.Context) (stop func())
	// ErrorMessage returns the text that a client gets in place of the message of
	// an error that mcp-go has made.
	ErrorMessage(ctx context.Context, message string) string
}

// Options configures a transport.
type Options struct {
	// Peer returns the peer of a principal, or CodeUnauthenticated for the
	// anonymous principal. It is required.
	Peer func(routine.Principal) (Peer, error)
	// Log is required.
	Log *slog.Logger
	// Audit gets the requests that are refused; nil: nothing is written.
	Audit *audit.Log
	// Tracer traces requests; nil: there are no traces.
	Tracer *tracing.Tracer
	// MaxMessage limits one message of a client, in bytes. It is required.
	MaxMessage int
	// KeepAlive is how long a stream over HTTP may be silent before it gets a
	// comment (15 s).
	KeepAlive time.Duration
	// DrainTimeout is how long a client over standard input and output may take to
	// read the last answers after the end (15 s): a client that keeps its end open
	// and does not read must not keep the process from ending.
	DrainTimeout time.Duration
}
