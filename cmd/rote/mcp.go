package main

import (
	"context"
	"errors"

	"rote/mcp"
)

type mcpCommand struct{}

// Run serves until the client closes our standard input or a signal comes.
// Standard output carries the protocol and nothing else.
func (c *mcpCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	a, err := open(ctx, g, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	server, err := mcp.New(mcp.Config{Service: a.service, Version: version(), Log: a.log, MaxMessage: int(g.MaxBody)})
	if err != nil {
		return err
	}
	return server.ServeStdio(ctx, g.local(), s.in, s.out)
}
