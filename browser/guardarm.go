package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
	"rote/routine/javascript"
)

// marksScript collects what the document contains before a script runs.
//
//go:embed guardmarks.js
var marksScript string

// watch runs a script under the guard. Scripts that are proved to only read need
// none.
func (p *page) watch(ctx context.Context, s routine.Script, name string) (remote, error) {
	g := p.needGuard()
	if err := g.arm(ctx, s); err != nil {
		return remote{}, err
	}
	g.begin(s, name)
	v, err := p.run(ctx, s, name)
	g.rest(ctx)
	return v, err
}

// needGuard is the page's guard, made when it is first needed.
func (p *page) needGuard() *guard {
	if g := p.guarding(); g != nil {
		return g
	}
	g, first := newGuard(p), p.first()
	first.mu.Lock()
	first.guards = append(first.guards, g)
	first.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.guard = g
	return g
}

// arm makes the page pause at whatever the script might do that is not allowed. It
// waits for an answer of the browser only where it needs one.
func (g *guard) arm(ctx context.Context, s routine.Script) error {
	if err := g.p.apart(); err != nil {
		return err
	}
	if err := g.p.closePopups(ctx); err != nil {
		return err
	}
	g.mu.Lock()
	armed := g.armed
	g.armed = true
	g.mu.Unlock()
	marked, err := g.mark(ctx, s)
	if err != nil {
		return err
	}
	var calls []proto.Request
	if !armed {
		for _, v := range g.p.framesNow() {
			v.watch()
		}
		calls = append(calls, proto.DebuggerEnable{}, proto.DebuggerSetAsyncCallStackDepth{MaxDepth: asyncDepth},
			proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*"}}})
	}
	newCode := proto.DebuggerSetInstrumentationBreakpoint{Instrumentation: proto.DebuggerSetInstrumentationBreakpointInstrumentationBeforeScriptExecution}
	g.bypassWorkers(s)
	paths := g.unwatched(s)
	if len(paths) == 0 && !armed {
		calls = append(calls, newCode)
	}
	if err := g.p.all(ctx, calls...); err != nil {
		return err
	}
	if len(paths) > 0 {
		if err := g.watchNatives(ctx, paths); err != nil {
			return err
		}
		if !armed { // last, because our own code would pause the page too
			if err := g.p.all(ctx, newCode); err != nil {
				return err
			}
		}
	}
	return marked()
}

// begin records what the script that runs next may do, and the source URL by which
// its code is recognised.
func (g *guard) begin(s routine.Script, name string) {
	bodies := javascript.ConstantBodies(s.Text)
	if g.p.hasLeftovers() {
		for i := range bodies {
			bodies[i].Line += laterLines
			bodies[i].ToLine += laterLines
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.marker, g.bodies = name, bodies
	g.during, g.draws = true, g.draws || s.Facts.Draws()
	g.p.proxy.FetchAhead(!g.draws)
	g.sends = g.sends || s.Facts.Draws() || maySend(s)
	g.requests = g.requests || mayRequest(s)
}

// mark asks for the contents of the document, if the script could make them matter,
// and returns a function that stores the answer. What earlier scripts have added
// counts as the document's, since it was checked then.
func (g *guard) mark(ctx context.Context, s routine.Script) (func() error, error) {
	if !s.Facts.Draws() && !mayClick(s) && !maySend(s) {
		return func() error { return nil }, nil
	}
	world, err := g.p.top.world(ctx)
	if err != nil {
		return nil, err
	}
	asked := g.p.send(proto.RuntimeEvaluate{ContextID: world, ReturnByValue: true, Expression: marksScript})
	return func() error {
		var answer struct {
			Result struct {
				Value struct{ Handlers, Leads, Forms, Loads []string }
			}
		}
		b, err := g.p.await(ctx, asked)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &answer); err != nil {
			return fmt.Errorf("look through the document: %w", err)
		}
		found := answer.Result.Value
		g.mu.Lock()
		defer g.mu.Unlock()
		g.marks = marks{handlers: setOf(found.Handlers), leads: setOf(found.Leads), forms: setOf(found.Forms), loads: setOf(found.Loads)}
		return nil
	}, nil
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}

// rest marks the call as finished: no function of the script may run any more. What
// the script has handed to the browser (such as a bound browser function in a timer)
// is still attributed to it until the document is replaced.
func (g *guard) rest(ctx context.Context) {
	if g.p.errBlocked() != nil {
		return
	}
	g.stopScripts(ctx)
	g.mu.Lock()
	g.during = false
	if !g.draws { // nothing is left that makes requests
		g.setBypass(false)
	}
	g.mu.Unlock()
	g.tellRefused()
}

// tellRefused warns the run of the loads that were refused since the last warning.
func (g *guard) tellRefused() {
	g.mu.Lock()
	refused := g.refused
	g.refused = 0
	g.mu.Unlock()
	if refused > 0 {
		g.p.warn(fmt.Sprintf("%d images, styles, media or frames were not loaded, as they may be those of a script that has changed the document", refused))
	}
}

// left drops everything about the old document, because it was replaced. It runs on
// the reading goroutine with page.mu held.
func (g *guard) left() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.armed {
		return
	}
	if g.newborn != "" {
		g.p.send(proto.PageRemoveScriptToEvaluateOnNewDocument{Identifier: proto.PageScriptIdentifier(g.newborn)})
	}
	for _, held := range g.held {
		if g.draws { // it may be the ping of a link that the script has changed
			g.end(held, refuse)
		} else {
			g.end(held, pass)
		}
	}
	g.setBypass(false)
	g.p.proxy.FetchAhead(true)
	g.p.send(proto.FetchDisable{})
	g.p.send(proto.DebuggerDisable{})
	g.guarded = newGuarded()
}

// isArmed reports whether the page pauses for the guard.
func (g *guard) isArmed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.armed
}

// hasLeftovers reports whether an earlier script may have left code in the document:
// functions, timers or handlers. The page may then pause at any time, so that the
// guard can stop that code. An expression that is evaluated during such a pause runs
// unwatched, and its promises are lost when the pause ends.
//
// A popup also has the leftovers of its openers, which its scripts can reach.
func (p *page) hasLeftovers() bool {
	for ; p != nil; p = p.opener {
		if g := p.guarding(); g != nil && g.hasKills() {
			return true
		}
	}
	return false
}

func (g *guard) hasKills() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.stops) > 0 || len(g.newStops) > 0
}

// later wraps an expression so that it runs in a task of its own, which a paused page
// does not start. The expression sees no name of the wrapper. It starts on line 2 (see
// laterLines) and keeps its column.
func later(expression string) string {
	return "(f => new Promise((ok, no) => setTimeout(() => { try { ok(f()) } catch (e) { no(e) } })))(() => (\n" + expression + "\n))"
}

// laterLines is the number of lines that later puts before an expression.
const laterLines = 1
