package main

import (
	"slices"
	"time"

	"rote/mcp"
)

// mcpFlags configure the MCP server for all transports.
type mcpFlags struct {
	SoftDeadline duration `name:"mcp-soft-deadline" help:"Time after which a tool call returns while its run continues." default:"45s"`
	OnCancel     string   `name:"mcp-on-cancel" help:"What a cancelled or abandoned tool call does to its run: stop or detach." default:"stop" enum:"stop,detach"`
	MaxTools     count    `name:"mcp-max-tools" help:"Routines that are listed as tools; the others are found with search_routines." default:"40"`
	ReadOnly     bool     `help:"Leave out every tool that may change something, here or on a site."`
	EmbedFiles   bool     `help:"Put files of up to 1 MiB into tool results. Some clients cannot take them."`
}

// server returns the MCP server for the app's service and lessons. fileDir and addCommand
// are as in [mcp.Config]; they are nil and empty for remote clients.
func (f *mcpFlags) server(a *app, g *globals, toolsets []string, fileDir func() (string, error), addCommand string) (*mcp.Server, error) {
	c := mcp.Config{Service: a.service, Version: version(), Log: a.log, Audit: a.streams.audit, Tracer: a.telemetry.Tracer(),
		MaxMessage: int(g.MaxBody), SoftDeadline: time.Duration(f.SoftDeadline),
		MaxListed: int(f.MaxTools), ReadOnly: f.ReadOnly, DetachOnCancel: f.OnCancel == "detach", EmbedFiles: f.EmbedFiles, FileDir: fileDir, AddCommand: addCommand}
	c.Authoring = slices.Contains(toolsets, "authoring")
	if a.lessons != nil && slices.Contains(toolsets, "teach") {
		c.Lessons = a.lessons
	}
	return mcp.New(c)
}
