package guard

import (
	"context"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine/javascript"
)

// A script can leave functions in the page: on window or an element, in a timer or a
// promise. After the script has ended they must not run, or they would be hooks that
// the page calls. A later script may call them: the guard attributes what they do to
// scripts, like what the later script's own functions do.

// leftoverState is what the guard knows about the functions that scripts leave.
type leftoverState struct {
	// entryPoints are the entry points of each script.
	entryPoints map[string]*scriptEntries
	// nextConstants are the functions of the next script that only return a constant;
	// constants are those of each script, by id.
	nextConstants []javascript.Span
	constants     map[string][]javascript.Span
	// leftoverStops maps each breakpoint in a script that has ended to the id of that
	// script. pendingStops are breakpoints that V8 has not confirmed yet. endedScripts holds
	// the ids of the scripts that have ended.
	leftoverStops map[string]string
	pendingStops  []pendingStop
	endedScripts  map[string]bool
	// stopped reports whether code that an earlier script left behind was
	// stopped, stoppedPage whether page code had called it.
	stopped, stoppedPage bool
}

// pendingStop is a breakpoint in a script that has ended, which V8 has not confirmed yet.
type pendingStop struct {
	script string
	answer *cdp.Future
}

// scriptEntries are the entry points of a script: the starts of its functions. Only the
// run's goroutine reads them.
type scriptEntries struct {
	answer *cdp.Future // nil once it was answered
	found  []*proto.DebuggerBreakLocation
}

// requestEntryPoints asks for the entry points of a script that is about to start. If it asked
// after the script's end, the page would first render what the script has changed.
func (g *Guard) requestEntryPoints(script string) {
	asked := g.page.Send(proto.DebuggerGetPossibleBreakpoints{Start: &proto.DebuggerLocation{ScriptID: proto.RuntimeScriptID(script)}})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.entryPoints[script] = &scriptEntries{answer: asked}
}

// stopTime bounds the wait for the entry points of a script that has ended.
const stopTime = 2 * time.Second

// stopScripts sets a breakpoint at each entry point of the scripts that have ended
// since the last call, and of those that revive let run. It does not wait for the
// answers: the page sets the breakpoints before it handles the next command.
func (g *Guard) stopScripts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	g.mu.Lock()
	g.current = ""
	var ended []string
	for id := range g.evaluatedScripts {
		if !g.endedScripts[id] {
			ended = append(ended, id)
			g.endedScripts[id] = true
		}
	}
	g.mu.Unlock()
	for _, id := range ended {
		places := g.entryPointsOf(ctx, id)
		g.mu.Lock()
		for _, l := range places {
			if g.isConstant(id, l) {
				continue
			}
			at := &proto.DebuggerLocation{ScriptID: l.ScriptID, LineNumber: l.LineNumber, ColumnNumber: l.ColumnNumber}
			g.pendingStops = append(g.pendingStops, pendingStop{id, g.page.Send(proto.DebuggerSetBreakpoint{Location: at})})
		}
		g.mu.Unlock()
	}
}

// isConstant reports whether the entry point is that of a function that only returns a
// constant. Such a function need not be stopped: pages may call the "() => true" that
// a script has assigned to window.confirm. g.mu is held.
func (g *Guard) isConstant(script string, at *proto.DebuggerBreakLocation) bool {
	if at.ColumnNumber == nil {
		return false
	}
	return slices.ContainsFunc(g.constants[script], func(s javascript.Span) bool { return s.Holds(at.LineNumber, *at.ColumnNumber) })
}

// entryPointsOf are the entry points that requestEntryPoints has asked for; none if the script did
// not start or the page is gone.
func (g *Guard) entryPointsOf(ctx context.Context, script string) []*proto.DebuggerBreakLocation {
	g.mu.Lock()
	at := g.entryPoints[script]
	g.mu.Unlock()
	if at == nil {
		return nil
	}
	if at.answer != nil {
		if b, err := g.page.Await(ctx, at.answer); err == nil {
			found, _ := cdp.Decode[proto.DebuggerGetPossibleBreakpointsResult](b)
			at.found = found.Locations
		}
		at.answer = nil
	}
	return at.found
}

// confirmStops moves the breakpoints that V8 has confirmed from pendingStops to stops. The
// page answers in order, so the breakpoint that paused it is among them. g.mu is held.
func (g *Guard) confirmStops() {
	g.pendingStops = slices.DeleteFunc(g.pendingStops, func(s pendingStop) bool {
		select {
		case a := <-s.answer.Answer():
			if made, ok := cdp.Decode[proto.DebuggerSetBreakpointResult](a.Result); a.Err == nil && ok {
				g.leftoverStops[string(made.BreakpointID)] = s.script
			}
			return true
		default:
			return false
		}
	})
}

// revive lets the functions of the scripts with these ids run until the current script
// ends, after which stopScripts stops them again. It reports false if the current script
// has not called them, directly or through other code.
func (g *Guard) revive(scripts map[string]bool, at paused) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == "" || !at.calledBy(g.current) {
		return false
	}
	for id, script := range g.leftoverStops {
		if scripts[script] {
			delete(g.leftoverStops, id)
			// Sent under the lock, so that a breakpoint of the same id that
			// stopScripts sets comes later.
			g.page.Send(proto.DebuggerRemoveBreakpoint{BreakpointID: proto.DebuggerBreakpointID(id)})
		}
	}
	for script := range scripts {
		delete(g.endedScripts, script)
	}
	return true
}

// Stringifier is the name of the function that encodes a script's value as JSON. The guard
// recognises by it that a script is still at work.
const Stringifier = "roteStringify"

// calledBy reports whether the script with this id is on the stack or has started the
// promise or timer that the stack runs in, or whether its result is being encoded as
// JSON.
func (p paused) calledBy(id string) bool {
	if n := len(p.Frames); n > 0 && p.Frames[n-1].Function == Stringifier {
		return true
	}
	for s := (&stack{Frames: p.Frames, Parent: p.Parent}); s != nil; s = s.Parent {
		for _, f := range s.Frames {
			if f.script() == id {
				return true
			}
		}
	}
	return false
}

// stopLeftover terminates code that an earlier script left behind, and the page code
// that called it. That does not fail the run, because forgotten timers are common.
func (g *Guard) stopLeftover(v paused) {
	g.mu.Lock()
	byPage := false
	for _, f := range v.Frames {
		byPage = byPage || !g.evaluatedScripts[f.script()]
	}
	first := byPage && !g.stoppedPage
	g.stopped, g.stoppedPage = true, g.stoppedPage || byPage
	g.mu.Unlock()
	if first {
		g.page.Warn("page code called a function that an earlier js_evaluate script had left in the page. Such functions run only while a script runs, " +
			"unless they only return a constant: the call was stopped, with the page code that made it. To answer a dialog, give the click \"x-dialog\": \"accept\"")
	}
	g.page.Send(proto.DebuggerResume{TerminateOnResume: true})
}

// HasStoppedLeftovers reports whether the document has lost code that an earlier
// script left behind.
func (g *Guard) HasStoppedLeftovers() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stopped
}
