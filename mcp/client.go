package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// Client is a client of an MCP server that runs as its child process, as agents
// start one.
type Client struct{ c *client.Client }

// Start starts the command and initializes a session. What the child writes to
// its standard error goes to log.
func Start(ctx context.Context, log io.Writer, version, command string, args ...string) (*Client, error) {
	c, err := client.NewStdioMCPClientWithOptions(command, nil, args, transport.WithCommandStderrWriter(log))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	hello := protocol.InitializeRequest{}
	hello.Params.ProtocolVersion = protocol.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = protocol.Implementation{Name: "rote", Version: version}
	if _, err := c.Initialize(ctx, hello); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("initialize: %w", err)
	}
	return &Client{c}, nil
}

// Tools returns the names of the tools that the server lists.
func (c *Client) Tools(ctx context.Context) ([]string, error) {
	list, err := c.c.ListTools(ctx, protocol.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list.Tools))
	for i, t := range list.Tools {
		names[i] = t.Name
	}
	return names, nil
}

// Call calls a tool and returns its structured result. If the tool reports an
// error, Call returns an error with the tool's text.
func (c *Client) Call(ctx context.Context, tool string, arguments any) (json.RawMessage, error) {
	q := protocol.CallToolRequest{}
	q.Params.Name, q.Params.Arguments = tool, arguments
	r, err := c.c.CallTool(ctx, q)
	if err != nil {
		return nil, err
	}
	if r.IsError {
		text := "no reason given"
		if len(r.Content) > 0 {
			if t, ok := r.Content[0].(protocol.TextContent); ok {
				text = t.Text
			}
		}
		return nil, fmt.Errorf("%s: %s", tool, text)
	}
	return r.RawStructuredContent, nil // not decoded, which would round numbers
}

// Close ends the child by closing its standard input, and waits for it.
func (c *Client) Close() error { return c.c.Close() }
