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

// refreshLimit is the timeout of one refresh: a store that hangs delays an answer
// but does not prevent it.
const refreshLimit = 5 * time.Second

// registry keeps the published tools of an organization equal to the stored
// routines.
type registry struct {
	server    *Server
	principal routine.Principal
	tools     *server.MCPServer

	refreshesStarted atomic.Uint64 // number of refreshes started, incremented with mu held
	mu               sync.Mutex
	known            map[string]publishedState // by tool name
	// entries are those of the last refresh, by id. What a refresh has read is kept
	// when it fails, so that the next one need not read it again.
	entries  map[string]*entry
	stamp    atomic.Int64 // of the routines that known was made from
	upToDate atomic.Bool  // known is of that stamp, and no call has changed the order

	// Calls read the fields below. They have a lock of their own, so that a call
	// does not wait for the store.
	viewMu   sync.RWMutex
	routines []*entry             // published, the last changed first
	byKey    map[string]*entry    // by tool name and by id
	lastUsed map[string]time.Time // by id, in this process
	listed   map[string]bool      // by id
	// pendingLookups counts, by tool name, the calls whose tool mcp-go has not looked
	// up yet. Such a tool stays listed, even beyond the limit.
	pendingLookups map[string]int
}

// publishedState is what the last refresh found under a tool name.
type publishedState struct {
	revision
	published bool // it is a tool; otherwise it cannot be one
}

// revision identifies the content of a routine at one time.
type revision struct {
	id        string
	version   int
	updatedAt int64
}

// refresh makes the published tools equal to what the store holds at the time of
// the call or later. If the store does not answer, the tools stay as they are.
//
// Concurrent callers share a refresh that started after their calls. A
// singleflight.Group would not do: it shares one that started before them.
func (r *registry) refresh(ctx context.Context) {
	stamp, err := r.server.service.ToolsStamp(ctx)
	if err == nil && r.current(stamp) {
		return
	}
	before := r.refreshesStarted.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refreshesStarted.Load() != before {
		return // a refresh that started after this call has finished
	}
	r.refreshesStarted.Add(1)
	// Others may share this refresh, so the end of this call does not cancel it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshLimit)
	defer cancel()
	if err == nil {
		err = r.reload(ctx, stamp)
	}
	if err != nil {
		r.server.log.WarnContext(ctx, "tools could not be refreshed, the last list stays", "error", err, "cause", errors.Unwrap(routine.AsError(err)))
	}
}

// refreshBeforeCall refreshes, and lists a published routine that is called by its
// own name: clients may call from an old list of tools and never fetch a new one.
//
// Calls of other tools may change the list at the same time, so the tool stays
// listed until endLookup is called, after mcp-go has looked it up.
//
// Tools that change routines read them from the store, so they need no refresh: the
// changes of a series of such calls are published together.
func (r *registry) refreshBeforeCall(ctx context.Context, name string) {
	r.viewMu.Lock()
	r.pendingLookups[name]++
	r.viewMu.Unlock()
	if b, own := r.server.ownTools[name]; own && b.scope == routine.ScopeRoutinesWrite {
		return
	}
	r.refresh(ctx)
	if e := r.find(name); e != nil && wire.PrincipalOf(ctx).Has(routine.ScopeExecutionsRun) && r.markUsed(e.id) {
		r.refresh(ctx)
	}
}

// endLookupMiddleware calls endLookup for a tool that mcp-go has found.
func (r *registry) endLookupMiddleware(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r.endLookup(q.Params.Name)
		return next(ctx, q)
	}
}

// endLookup ends what refreshBeforeCall has started.
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

// reload publishes what the store holds. The stamp was asked for before: later
// changes lead to another refresh. r.mu must be held.
func (r *registry) reload(ctx context.Context, stamp int64) error {
	r.upToDate.Store(true) // a call from here on sets it to false again
	routines, err := r.server.service.Tools(ctx, r.principal)
	if err != nil {
		r.upToDate.Store(false)
		return err
	}
	entries, err := r.readEntries(ctx, routines)
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

// readEntries returns the entries of published routines. It reads the definitions
// of those that are new or have changed. If that fails, the earlier version stays;
// failed is the last such error.
func (r *registry) readEntries(ctx context.Context, routines []*routine.Routine) (entries []*entry, failed error) {
	before := r.entries
	r.entries = make(map[string]*entry, len(routines))
	for _, rt := range routines {
		e := before[rt.ID]
		if e == nil || e.version != rt.Version {
			switch now, err := r.server.service.Tool(ctx, r.principal, rt.ID); {
			case err == nil && now.Published():
				e = newEntry(now)
			case err == nil || routine.CodeOf(err) == routine.CodeNotFound:
				continue // changed meanwhile, which the next refresh will see
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

// selectListed stores the published entries and returns those that are listed: up
// to the limit, the ones that were used or changed last. Routines that cannot be
// tools, or do not fit into the list, are skipped. unusable are those that would
// have been listed if they could be tools.
func (r *registry) selectListed(entries []*entry) (listed, unusable []*entry) {
	r.viewMu.Lock()
	defer r.viewMu.Unlock()
	slices.SortFunc(entries, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.updatedAt, a.updatedAt), cmp.Compare(a.tool.Name, b.tool.Name))
	})
	r.routines, r.byKey = entries, make(map[string]*entry, 2*len(entries))
	for _, e := range entries {
		r.byKey[e.tool.Name], r.byKey[e.id] = e, e
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
		case !fits && r.pendingLookups[e.tool.Name] == 0:
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

// unlistable returns the reason why a routine cannot be a tool, or nil.
func (r *registry) unlistable(e *entry) error {
	if _, taken := r.server.ownTools[e.tool.Name]; taken {
		return fmt.Errorf("%s is a tool of the service's own", e.tool.Name)
	}
	return e.unlistable()
}

// setListed stores which routines are listed.
func (r *registry) setListed(list []*entry) {
	r.viewMu.Lock()
	defer r.viewMu.Unlock()
	r.listed = make(map[string]bool, len(list))
	for _, e := range list {
		r.listed[e.id] = true
	}
}

const (
	// averageTool times the largest number of tools limits the size of their list in
	// bytes, because agents have it in their context. minListed is the least limit.
	averageTool = 4 << 10
	minListed   = 64 << 10
)

// markUsed records that a published routine is run, which brings it into the list
// and keeps it there. It reports whether the list has to change for that.
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

// find returns the published routine with this tool name or id, or nil.
func (r *registry) find(key string) *entry {
	r.viewMu.RLock()
	defer r.viewMu.RUnlock()
	return r.byKey[key]
}

// lastChangedFirst returns the published routines, the last changed one first.
func (r *registry) lastChangedFirst() []*entry {
	r.viewMu.RLock()
	defer r.viewMu.RUnlock()
	return r.routines
}

// publish adds and removes tools so that exactly the routines of list are tools.
// It changes nothing else, because clients are notified of each change. It logs
// once for each version why a routine is unusable as a tool.
func (r *registry) publish(ctx context.Context, list, unusable []*entry) {
	var added []server.ServerTool
	var resources []server.ServerResource
	var removed, gone []string // names of tools, URIs of resources
	current := make(map[string]publishedState, len(list)+len(unusable))
	for _, e := range unusable {
		current[e.tool.Name] = publishedState{revision{e.id, e.version, e.updatedAt}, false}
		if r.known[e.tool.Name] != current[e.tool.Name] {
			r.server.log.WarnContext(ctx, "routine cannot be a tool", "routine_id", e.id, "tool", e.tool.Name, "error", r.unlistable(e))
		}
	}
	for _, e := range list {
		current[e.tool.Name] = publishedState{revision{e.id, e.version, e.updatedAt}, true}
		if r.known[e.tool.Name] != current[e.tool.Name] {
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
