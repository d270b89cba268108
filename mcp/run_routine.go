package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
)

// runArguments are the arguments of run_routine besides the routine.
const runArguments = `"parameters":{"type":"object","description":"Values by name; describe_routine lists them"},` +
	`"wait_seconds":{"type":"integer","minimum":0,"maximum":45,"description":"How long to wait for the end"},` +
	`"outline":{"type":"boolean","description":"Add what is on the last page"}`

func (s *Server) runRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		ID         string          `json:"id"`
		Routine    definitionText  `json:"routine"`
		Parameters json.RawMessage `json:"parameters"`
		Wait       *lenientInt     `json:"wait_seconds"`
		Outline    lenientBool     `json:"outline"`
	}
	err := decode(q, &a)
	var c *caller
	switch {
	case err != nil:
	case len(a.Routine) > 0 && string(a.Routine) != "null":
		c, err = s.unsavedCaller(ctx, a.ID, a.Routine)
	default:
		c, err = s.savedCaller(ctx, a.ID)
	}
	if err != nil {
		return s.builtinError(ctx, "run_routine", err)
	}
	if string(a.Parameters) == "null" {
		a.Parameters = nil
	}
	c.outline = bool(a.Outline)
	return c.run(ctx, q, a.Parameters, s.waitTime(a.Wait))
}

// savedCaller returns the caller for the stored routine with this tool name or id, and
// marks the routine as used.
func (s *Server) savedCaller(ctx context.Context, id string) (*caller, error) {
	r, err := s.routine(ctx, id)
	if err != nil {
		return nil, err
	}
	if o, err := s.organization(wire.PrincipalOf(ctx)); err == nil {
		o.registry.markUsed(r.id)
	}
	return newCaller(s, r), nil
}

// unsavedCaller returns the caller for a definition that is not saved. Only servers with
// the tools that write routines run one. id is the argument of the same call, which must
// be empty.
func (s *Server) unsavedCaller(ctx context.Context, id string, definition definitionText) (*caller, error) {
	if !s.authoring {
		return nil, routine.Errorf(routine.CodeInvalid, "the argument routine is not available on this server, which runs saved routines only: "+
			"give the id of one; the operator of the server enables routine with --toolsets authoring")
	}
	if id != "" {
		return nil, routine.Errorf(routine.CodeInvalid, "id and routine were both given: "+
			"give id to run a saved routine, or routine to run a definition without saving it")
	}
	text, err := definition.text()
	if err != nil {
		return nil, err
	}
	d, _, err := s.service.ParseUnsaved(ctx, wire.PrincipalOf(ctx), text)
	if err != nil {
		return nil, err
	}
	c := newCaller(s, newEntry(&routine.Routine{Definition: *d}))
	c.tool, c.definition = fmt.Sprintf("the routine %q", truncate(c.name, 100)), d // the words for a tool name in messages
	return c, nil
}
