package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
	"rote/routine"
)

// noRoutinesMessage returns how a caller whose organization has no published
// routine gets one: with the caller's own tools, or else from the operator.
func (s *Server) noRoutinesMessage(p routine.Principal) string {
	const words = "No routine is published here yet, so there is nothing to run. "
	validate := ""
	if s.offers(p, "validate_routine") {
		validate = ", and validate_routine checks them"
	}
	create := "store it with create_routine; the resource " + schemaURI + " describes definitions" + validate + "."
	switch teach, author := s.offers(p, "start_lesson"), s.offers(p, "create_routine"); {
	case teach && author:
		return words + "Make one on a live page, which start_lesson opens; or write one and " + create
	case teach:
		return words + "Make one on a live page: start_lesson opens it, and save_lesson stores the routine."
	case author:
		return words + "Write one and " + create
	}
	return words + "The operator of this server adds one with: " + s.addCommand +
		". With --toolsets teach,authoring this server also has tools with which you can create routines."
}

// addNoRoutinesHint puts noRoutinesMessage into the instructions for organizations
// that have no published routine.
func (s *Server) addNoRoutinesHint(o *organization, hooks *server.Hooks) {
	guide := func(ctx context.Context, instructions *string) {
		o.registry.refresh(ctx)
		if len(o.registry.lastChangedFirst()) == 0 {
			*instructions = s.noRoutinesMessage(wire.PrincipalOf(ctx)) + "\n" + *instructions
		}
	}
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, r *mcp.InitializeResult) {
		guide(ctx, &r.Instructions)
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, r *mcp.DiscoverResult) {
		guide(ctx, &r.Instructions)
	})
}
