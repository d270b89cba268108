package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	server    *Server
	principal routine.Principal
	tools     *server.MCPServer

	begun atomic.Uint64 // refreshes begun, counted under mu
	mu    sync.Mutex
	known map[string]known // by tool name

	// What calls look at has a lock of its own: they do not wait for the store.
	view     sync.RWMutex
	routines []*routine.Routine          // published, the last changed first
	byKey    map[string]*routine.Routine // by tool name and by id
	used     map[string]time.Time        // by id, in this process
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
	routines, err := r.server.service.Tools(ctx, r.principal)
	if err != nil {
		r.server.log.WarnContext(ctx, "tools could not be refreshed, the last list stays", "error", err, "cause", errors.Unwrap(routine.AsError(err)))
		return
	}
	r.publish(ctx, r.look(routines))
}

// look takes in what is published and gives those of it that are listed: at
// most as many as the limit, those that were used or changed last.
func (r *registry) look(routines []*routine.Routine) []*routine.Routine {
	r.view.Lock()
	defer r.view.Unlock()
	slices.SortFunc(routines, func(a, b *routine.Routine) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.ToolName, b.ToolName))
	})
	r.routines, r.byKey = routines, make(map[string]*routine.Routine, 2*len(routines))
	for _, rt := range routines {
		r.byKey[rt.ToolName], r.byKey[rt.ID] = rt, rt
	}
	if len(routines) <= r.server.maxListed {
		return routines
	}
	listed := slices.Clone(routines)
	slices.SortStableFunc(listed, func(a, b *routine.Routine) int { return r.used[b.ID].Compare(r.used[a.ID]) })
	return listed[:r.server.maxListed]
}

// use notes that a routine is run, which brings it into the list.
func (r *registry) use(id string) {
	r.view.Lock()
	defer r.view.Unlock()
	r.used[id] = time.Now()
}

// routine finds a published one by the name of its tool or its id; nil: there
// is none.
func (r *registry) routine(key string) *routine.Routine {
	r.view.RLock()
	defer r.view.RUnlock()
	return r.byKey[key]
}

// byChange are the published routines, the last changed first.
func (r *registry) byChange() []*routine.Routine {
	r.view.RLock()
	defer r.view.RUnlock()
	return r.routines
}

// publish makes the difference between what is published and routines, and
// nothing when there is none: clients are told of each change.
func (r *registry) publish(ctx context.Context, routines []*routine.Routine) {
	var added []server.ServerTool
	var resources []server.ServerResource
	var removed, gone []string // names of tools, URIs of resources
	current := make(map[string]known, len(routines))
	for _, rt := range routines {
		now := state{rt.ID, rt.Version, rt.UpdatedAt}
		if was, there := r.known[rt.ToolName]; there && was.state == now {
			current[rt.ToolName] = was
			continue
		}
		tool, err := newTool(rt)
		if _, taken := r.server.own[rt.ToolName]; err == nil && taken {
			err = fmt.Errorf("%s is a tool of the service's own", rt.ToolName)
		}
		current[rt.ToolName] = known{now, err == nil}
		if err != nil {
			r.server.log.WarnContext(ctx, "routine cannot be a tool", "routine_id", rt.ID, "tool", rt.ToolName, "error", err)
			continue
		}
		resources = append(resources, r.server.routineResource(rt))
		added = append(added, server.ServerTool{Tool: tool, Handler: newCaller(r.server, rt).handle})
	}
	for name, was := range r.known {
		if was.published && !current[name].published {
			removed, gone = append(removed, name), append(gone, routineURI(was.id))
		}
	}
	if len(added) > 0 {
		r.tools.AddTools(added...)
		r.tools.AddResources(resources...)
	}
	if len(removed) > 0 {
		r.tools.DeleteTools(removed...)
		r.tools.DeleteResources(gone...)
	}
	r.known = current
}
