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
	return StartWithEnv(ctx, log, version, nil, command, args...)
}

// StartWithEnv is Start with variables that are added to the environment.
func StartWithEnv(ctx context.Context, log io.Writer, version string, env []string, command string, args ...string) (*Client, error) {
	c, err := client.NewStdioMCPClientWithOptions(command, env, args, transport.WithCommandStderrWriter(log))
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
	r, _, err := c.call(ctx, tool, arguments)
	if err != nil {
		return nil, err
	}
	return r.RawStructuredContent, nil // not decoded, which would round numbers
}

// Text calls a tool and returns the text of its result. Errors are as for Call.
func (c *Client) Text(ctx context.Context, tool string, arguments any) (string, error) {
	_, text, err := c.call(ctx, tool, arguments)
	return text, err
}

func (c *Client) call(ctx context.Context, tool string, arguments any) (*protocol.CallToolResult, string, error) {
	q := protocol.CallToolRequest{}
	q.Params.Name, q.Params.Arguments = tool, arguments
	r, err := c.c.CallTool(ctx, q)
	if err != nil {
		return nil, "", err
	}
	text := ""
	if len(r.Content) > 0 {
		if t, ok := r.Content[0].(protocol.TextContent); ok {
			text = t.Text
		}
	}
	if r.IsError {
		return nil, "", fmt.Errorf("%s: %s", tool, text)
	}
	return r, text, nil
}

// Close ends the child by closing its standard input, and waits for it.
func (c *Client) Close() error { return c.c.Close() }
