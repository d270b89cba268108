package main

import (
	"time"

	"rote/mcp"
)

// toolFlags say how routines look to agents, over every transport.
type toolFlags struct {
	SoftDeadline wait     `name:"mcp-soft-deadline" help:"After how long a tool call answers that its run goes on." default:"45s"`
	OnCancel     string   `name:"mcp-on-cancel" help:"What a cancelled or abandoned tool call does to its run: stop or detach." default:"stop" enum:"stop,detach"`
	MaxTools     count    `name:"mcp-max-tools" help:"Routines that are listed as tools; the others are found with search_routines." default:"40"`
	Toolsets     []string `help:"Tools beside the routines: run is always there; authoring writes routines." default:"run" enum:"run,authoring" placeholder:"NAME"`
	ReadOnly     bool     `help:"Leave out every tool that may change something, here or on a site."`
	EmbedFiles   bool     `help:"Put files of up to 1 MiB into tool results. Some clients cannot take them."`
}

// server makes the MCP server of the app's service. fileDir and addCommand are as
// in [mcp.Config]; nil and empty for clients elsewhere.
func (f *toolFlags) server(a *app, g *globals, fileDir func() (string, error), addCommand string) (*mcp.Server, error) {
	c := mcp.Config{Service: a.service, Version: version(), Log: a.log, MaxMessage: int(g.MaxBody), SoftDeadline: time.Duration(f.SoftDeadline),
		MaxListed: int(f.MaxTools), ReadOnly: f.ReadOnly, DetachOnCancel: f.OnCancel == "detach", EmbedFiles: f.EmbedFiles, FileDir: fileDir, AddCommand: addCommand}
	for _, name := range f.Toolsets {
		c.Authoring = c.Authoring || name == "authoring"
	}
	return mcp.New(c)
}
