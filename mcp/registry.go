package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	stamp atomic.Int64     // of the routines that known is of
	fresh atomic.Bool      // known is of that stamp, and nothing else has changed

	// What calls look at has a lock of its own: they do not wait for the store.
	view     sync.RWMutex
	routines []*entry             // published, the last changed first
	byKey    map[string]*entry    // by tool name and by id
	used     map[string]time.Time // by id, in this process
	listed   map[string]bool      // by id
}

// entry is a published routine, with what is told of it made once.
type entry struct {
	*routine.Routine
	described func() []byte
	words     func() string
}

func newEntry(r *routine.Routine) *entry {
	return &entry{r, sync.OnceValue(func() []byte { return compact(describe(r)) }), sync.OnceValue(func() string { return wordsOf(r) })}
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

// refresh brings the published tools up to what the store holds at the call, or
// at the arrival of the request that it is for, or later. Callers that come together share one look. When the store does not
// answer, the tools stay as they are.
func (r *registry) refresh(ctx context.Context) {
	if stamp, err := r.server.service.ToolsStamp(ctx, arrivalOf(ctx)); err == nil && r.current(stamp) {
		return
	}
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
	if err := r.renew(ctx); err != nil {
		r.server.log.WarnContext(ctx, "tools could not be refreshed, the last list stays", "error", err, "cause", errors.Unwrap(routine.AsError(err)))
	}
}

// summon is refresh before a call. A published routine that is called by its own
// name is listed from then on: the client has the name from a list of before,
// and may not follow how it changes.
func (r *registry) summon(ctx context.Context, name string) {
	r.refresh(ctx)
	if e := r.routine(name); e != nil && principalOf(ctx).Has(routine.ScopeExecutionsRun) && r.use(e.ID) {
		r.refresh(ctx)
	}
}

func (r *registry) current(stamp int64) bool { return r.fresh.Load() && stamp == r.stamp.Load() }

// renew publishes what the store holds.
func (r *registry) renew(ctx context.Context) error {
	stamp, err := r.server.service.ToolsStamp(ctx, time.Time{}) // before the look: what comes later is looked at again
	if err != nil {
		return err
	}
	r.fresh.Store(true) // so is what is used from here on
	routines, err := r.server.service.Tools(ctx, r.principal)
	if err != nil {
		r.fresh.Store(false)
		return err
	}
	r.publish(ctx, r.look(routines))
	r.stamp.Store(stamp)
	return nil
}

// look takes in what is published and gives those of it that are listed: at
// most as many as the limit, those that were used or changed last.
func (r *registry) look(routines []*routine.Routine) []*routine.Routine {
	r.view.Lock()
	defer r.view.Unlock()
	slices.SortFunc(routines, func(a, b *routine.Routine) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.ToolName, b.ToolName))
	})
	before := r.byKey
	r.routines, r.byKey = make([]*entry, len(routines)), make(map[string]*entry, 2*len(routines))
	for i, rt := range routines {
		e := before[rt.ID]
		if e == nil || e.Version != rt.Version {
			e = newEntry(rt)
		}
		r.routines[i], r.byKey[rt.ToolName], r.byKey[rt.ID] = e, e, e
	}
	maps.DeleteFunc(r.used, func(id string, _ time.Time) bool { return r.byKey[id] == nil })
	listed := slices.Clone(routines)
	slices.SortStableFunc(listed, func(a, b *routine.Routine) int { return r.used[b.ID].Compare(r.used[a.ID]) })
	listed = listed[:min(len(listed), r.server.maxListed)]
	r.listed = make(map[string]bool, len(listed))
	for _, rt := range listed {
		r.listed[rt.ID] = true
	}
	return listed
}

// use notes that a published routine is run, which brings it into the list and
// keeps it there. It tells whether the list is to change for it.
func (r *registry) use(id string) (changes bool) {
	r.view.Lock()
	defer r.view.Unlock()
	if r.byKey[id] == nil {
		return false
	}
	r.used[id] = time.Now()
	if changes = !r.listed[id]; changes {
		r.fresh.Store(false)
	}
	return changes
}

// routine finds a published one by the name of its tool or its id; nil: there
// is none.
func (r *registry) routine(key string) *entry {
	r.view.RLock()
	defer r.view.RUnlock()
	return r.byKey[key]
}

// byChange are the published routines, the last changed first.
func (r *registry) byChange() []*entry {
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
