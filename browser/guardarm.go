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

// marksScript collects what the document has of its own.
//
//go:embed guardmarks.js
var marksScript string

// watch runs a script that is not proved to only read.
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

// arm makes the page pause for what the script might do. What can be sent
// without waiting is.
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
		if !armed { // only now: code of ours that runs makes it pause too
			if err := g.p.all(ctx, newCode); err != nil {
				return err
			}
		}
	}
	return marked()
}

// begin notes what the call may do, and the source URL by which its script is
// recognised.
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
	for _, name := range []string{"fetch", "XMLHttpRequest", "sendBeacon", "send", "add", "addAll"} {
		g.requests = g.requests || s.Facts.MayName(name)
	}
}

// mark asks what the document has of its own, if the script makes that matter,
// and gives what takes the answer. What an earlier script has added counts as
// the document's: it stood the test then.
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

// rest ends the call: no function of the script runs any more. What it has left
// with the browser alone (a bound function of the browser's in a timer) is
// still attributed, until the document goes.
func (g *guard) rest(ctx context.Context) {
	if g.p.errBlocked() != nil {
		return
	}
	g.stopScripts(ctx)
	g.mu.Lock()
	g.during = false
	g.mu.Unlock()
	g.tellRefused()
}

// tellRefused warns the run of the loads that were refused since it was told.
func (g *guard) tellRefused() {
	g.mu.Lock()
	refused := g.refused
	g.refused = 0
	g.mu.Unlock()
	if refused > 0 {
		g.p.warn(fmt.Sprintf("%d images, styles, media or frames were not loaded, as they may be those of a script that has changed the document", refused))
	}
}

// left forgets everything: the document has been replaced. It runs on the
// reading goroutine.
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
		if g.draws { // perhaps a ping of a link that the script has changed
			g.end(held, refuse)
		} else {
			g.end(held, pass)
		}
	}
	g.p.proxy.FetchAhead(true)
	g.p.send(proto.FetchDisable{})
	g.p.send(proto.DebuggerDisable{})
	g.guarded = newGuarded()
}

// isArmed tells whether the page pauses for the guard.
func (g *guard) isArmed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.armed
}

// hasLeftovers reports whether an earlier script may have left code in the
// document: functions, timers, handlers. The page may then be paused at any
// time, to stop that code. An expression that is evaluated during such a pause
// runs unwatched, and its promises are lost when the pause ends.
//
// A popup has those of its openers too, which its scripts may reach.
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

// later makes an expression run in a task of its own, which a paused page does
// not begin. The expression sees no name of the code around it. It starts on
// line 2 (see laterLines), in the column that it has by itself.
func later(expression string) string {
	return "(f => new Promise((ok, no) => setTimeout(() => { try { ok(f()) } catch (e) { no(e) } })))(() => (\n" + expression + "\n))"
}

// laterLines is how many lines later puts before an expression.
const laterLines = 1
