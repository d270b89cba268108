package mcp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"rote/routine"
)

// refreshLimit bounds one look into the store, so that a store that hangs
// delays an answer but does not withhold it.
const refreshLimit = 5 * time.Second

// registry keeps the published tools in step with the stored routines.
type registry struct {
	service   *routine.Service
	principal routine.Principal
	log       *slog.Logger
	tools     *server.MCPServer

	begun atomic.Uint64 // refreshes begun, counted under mu
	mu    sync.Mutex
	known map[string]known // by tool name
}

// known is what was found under a tool name.
type known struct {
	state
	published bool // it could be made a tool
}

// state tells one content of a routine from another.
type state struct {
	id        string
	version   int
	updatedAt int64
}

// refresh brings the published tools up to what the store holds at the call or
// later. Callers that come together share one look. When the store does not
// answer, the tools stay as they are.
func (r *registry) refresh(ctx context.Context) {
	before := r.begun.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun.Load() != before {
		return // a look that began after this call has ended by now
	}
	r.begun.Add(1)
	// Others may share this look, so it outlives the call that began it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshLimit)
	defer cancel()
	routines, err := r.service.Tools(ctx, r.principal)
	if err != nil {
		r.log.WarnContext(ctx, "tools could not be refreshed, the last list stays", "error", err, "cause", errors.Unwrap(routine.AsError(err)))
		return
	}
	r.publish(ctx, routines)
}

// publish makes the difference between what is published and routines, and
// nothing when there is none: clients are told of each change.
func (r *registry) publish(ctx context.Context, routines []*routine.Routine) {
	var added []server.ServerTool
	var removed []string
	current := make(map[string]known, len(routines))
	for _, rt := range routines {
		now := state{rt.ID, rt.Version, rt.UpdatedAt}
		if was, there := r.known[rt.ToolName]; there && was.state == now {
			current[rt.ToolName] = was
			continue
		}
		tool, err := newTool(rt)
		current[rt.ToolName] = known{now, err == nil}
		if err != nil {
			r.log.WarnContext(ctx, "routine cannot be a tool", "routine_id", rt.ID, "tool", rt.ToolName, "error", err)
			continue
		}
		added = append(added, server.ServerTool{Tool: tool, Handler: newCaller(r, rt).handle})
	}
	for name, was := range r.known {
		if was.published && !current[name].published {
			removed = append(removed, name)
		}
	}
	if len(added) > 0 {
		r.tools.AddTools(added...)
	}
	if len(removed) > 0 {
		r.tools.DeleteTools(removed...)
	}
	r.known = current
}
