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

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
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
	known map[string]publishedState // by tool name
	// entries are of the last look, by id. What a look has read is kept when the
	// look fails, so that the next one need not read it again.
	entries  map[string]*entry
	stamp    atomic.Int64 // of the routines that known is of
	upToDate atomic.Bool  // known is of that stamp, and nothing else has changed

	// What calls look at has a lock of its own: they do not wait for the store.
	viewMu   sync.RWMutex
	routines []*entry             // published, the last changed first
	byKey    map[string]*entry    // by tool name and by id
	lastUsed map[string]time.Time // by id, in this process
	listed   map[string]bool      // by id
	// pendingLookups counts, by tool name, the calls that have come and whose tool is
	// yet to be found. Such a tool stays listed, whatever the limit.
	pendingLookups map[string]int
}

// publishedState is what was found under a tool name.
type publishedState struct {
	revision
	published bool // it could be made a tool
}

// revision tells one content of a routine from another.
type revision struct {
	id        string
	version   int
	updatedAt int64
}

// refresh brings the published tools up to what the store holds at the call, or
// at the arrival of the request that it is for, or later. Callers that come together share one look. When the store does not
// answer, the tools stay as they are.
func (r *registry) refresh(ctx context.Context) {
	if stamp, err := r.server.service.ToolsStamp(ctx, wire.ArrivalOf(ctx)); err == nil && r.current(stamp) {
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
	if err := r.reload(ctx); err != nil {
		r.server.log.WarnContext(ctx, "tools could not be refreshed, the last list stays", "error", err, "cause", errors.Unwrap(routine.AsError(err)))
	}
}

// refreshBeforeCall is refresh before a call. A published routine that is called by its own
// name is listed from then on: the client has the name from a list of before,
// and may not follow how it changes.
//
// Calls of other tools may come at the same time and bring those into the list.
// The caller calls found once the tool has been looked up.
func (r *registry) refreshBeforeCall(ctx context.Context, name string) {
	r.viewMu.Lock()
	r.pendingLookups[name]++
	r.viewMu.Unlock()
	r.refresh(ctx)
	if e := r.find(name); e != nil && wire.PrincipalOf(ctx).Has(routine.ScopeExecutionsRun) && r.markUsed(e.id) {
		r.refresh(ctx)
	}
}

// endLookupMiddleware is the middleware that ends what summon has begun, when the tool has
// been found.
func (r *registry) endLookupMiddleware(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r.endLookup(q.Params.Name)
		return next(ctx, q)
	}
}

// endLookup ends what summon has begun.
func (r *registry) endLookup(name string) {
	r.viewMu.Lock()
	defer r.viewMu.Unlock()
	if r.pendingLookups[name]--; r.pendingLookups[name] <= 0 {
		delete(r.pendingLookups, name)
		if len(r.listed) > r.server.maxListed {
			r.upToDate.Store(false) // the list is longer than it should be
		}
	}
}

func (r *registry) current(stamp int64) bool { return r.upToDate.Load() && stamp == r.stamp.Load() }

// reload publishes what the store holds.
func (r *registry) reload(ctx context.Context) error {
	stamp, err := r.server.service.ToolsStamp(ctx, time.Time{}) // before the look: what comes later is looked at again
	if err != nil {
		return err
	}
	r.upToDate.Store(true) // so is what is used from here on
	began := time.Now()
	routines, err := r.server.service.Tools(ctx, r.principal)
	if err != nil {
		r.upToDate.Store(false)
		return err
	}
	entries, err := r.readEntries(ctx, routines, began)
	list, unusable := r.selectListed(entries)
	r.publish(ctx, list, unusable)
	r.setListed(list)
	if err != nil { // what could be read is published
		r.upToDate.Store(false)
		return err
	}
	r.stamp.Store(stamp)
	return nil
}

// readEntries gives the entries of published routines. It reads those that are new or
// have changed. Where that fails an earlier version stays, and the error is of
// the last one that failed.
func (r *registry) readEntries(ctx context.Context, routines []*routine.Routine, began time.Time) (entries []*entry, failed error) {
	before := r.entries
	r.entries = make(map[string]*entry, len(routines))
	for _, rt := range routines {
		e := before[rt.ID]
		if e == nil || e.version != rt.Version {
			switch now, err := r.server.service.Tool(ctx, r.principal, rt.ID, began); {
			case err == nil && now.Published():
				e = newEntry(now)
			case err == nil || routine.CodeOf(err) == routine.CodeNotFound:
				continue // changed meanwhile, as the next look will see
			default:
				failed = err
			}
		}
		if e != nil {
			r.entries[rt.ID] = e
			entries = append(entries, e)
		}
	}
	return entries, failed
}

// selectListed takes in what is published and gives those of it that are listed: at
// most as many as the limit, those that were used or changed last. Routines that
// cannot be tools, or do not fit into the list, leave their places to others. Of
// those that cannot be tools, it gives the ones that a place was free for.
func (r *registry) selectListed(entries []*entry) (listed, unusable []*entry) {
	r.viewMu.Lock()
	defer r.viewMu.Unlock()
	slices.SortFunc(entries, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.updatedAt, a.updatedAt), cmp.Compare(a.tool, b.tool))
	})
	r.routines, r.byKey = entries, make(map[string]*entry, 2*len(entries))
	for _, e := range entries {
		r.byKey[e.tool], r.byKey[e.id] = e, e
	}
	maps.DeleteFunc(r.lastUsed, func(id string, _ time.Time) bool { return r.byKey[id] == nil })
	byUse := slices.Clone(entries)
	slices.SortStableFunc(byUse, func(a, b *entry) int { return r.lastUsed[b.id].Compare(r.lastUsed[a.id]) })
	// A tool counts as listed only while it can be found: what is about to be
	// removed no longer does, and what is about to be added does not yet.
	stay := map[string]bool{}
	room := max(minListed, r.server.maxListed*averageTool)
	for _, e := range byUse {
		size := e.listedSize()
		fits := len(listed) < r.server.maxListed && size <= room
		switch {
		case !fits && r.pendingLookups[e.tool] == 0:
		case r.unlistable(e) != nil:
			unusable = append(unusable, e)
		default:
			room -= size
			listed = append(listed, e)
			stay[e.id] = r.listed[e.id]
		}
	}
	r.listed = stay
	return listed, unusable
}

// unlistable gives the reason why a routine cannot be a tool; nil when it can.
func (r *registry) unlistable(e *entry) error {
	if _, taken := r.server.ownTools[e.tool]; taken {
		return fmt.Errorf("%s is a tool of the service's own", e.tool)
	}
	return e.unlistable()
}

// setListed notes which routines are listed.
func (r *registry) setListed(list []*entry) {
	r.viewMu.Lock()
	defer r.viewMu.Unlock()
	r.listed = make(map[string]bool, len(list))
	for _, e := range list {
		r.listed[e.id] = true
	}
}

const (
	// averageTool times the number of tools bounds what a list of them has, in
	// bytes: agents have it in their context. minListed is for lists of few
	// tools.
	averageTool = 4 << 10
	minListed   = 64 << 10
)

// markUsed notes that a published routine is run, which brings it into the list and
// keeps it there. It tells whether the list is to change for it.
func (r *registry) markUsed(id string) (changes bool) {
	r.viewMu.Lock()
	defer r.viewMu.Unlock()
	if e := r.byKey[id]; e == nil || r.unlistable(e) != nil { // it is never listed
		return false
	}
	r.lastUsed[id] = time.Now()
	if changes = !r.listed[id]; changes {
		r.upToDate.Store(false)
	}
	return changes
}

// find finds a published one by the name of its tool or its id; nil: there
// is none.
func (r *registry) find(key string) *entry {
	r.viewMu.RLock()
	defer r.viewMu.RUnlock()
	return r.byKey[key]
}

// lastChangedFirst are the published routines, the last changed first.
func (r *registry) lastChangedFirst() []*entry {
	r.viewMu.RLock()
	defer r.viewMu.RUnlock()
	return r.routines
}

// publish makes the difference between what is published and the routines to
// list, and nothing when there is none: clients are told of each change. It logs
// why routines are unusable as tools, once for each version.
func (r *registry) publish(ctx context.Context, list, unusable []*entry) {
	var added []server.ServerTool
	var resources []server.ServerResource
	var removed, gone []string // names of tools, URIs of resources
	current := make(map[string]publishedState, len(list)+len(unusable))
	for _, e := range unusable {
		current[e.tool] = publishedState{revision{e.id, e.version, e.updatedAt}, false}
		if r.known[e.tool] != current[e.tool] {
			r.server.log.WarnContext(ctx, "routine cannot be a tool", "routine_id", e.id, "tool", e.tool, "error", r.unlistable(e))
		}
	}
	for _, e := range list {
		current[e.tool] = publishedState{revision{e.id, e.version, e.updatedAt}, true}
		if r.known[e.tool] != current[e.tool] {
			resources = append(resources, r.server.routineResource(e))
			added = append(added, server.ServerTool{Tool: e.toTool(), Handler: newCaller(r.server, e).handle})
		}
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
