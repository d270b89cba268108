package browser

import (
	"github.com/go-rod/rod/lib/proto"
)

// A script can leave functions in the page: on window or an element, in a timer
// or a promise. When the script has ended they must not run, or they would be
// hooks that the page calls. A later script may call them: the guard attributes
// to scripts what they do, as it does with the later script's own functions.

// revive lets the functions of the scripts with these ids run until the current
// script ends, when kill stops them again. It reports false when the current
// script has not called them, directly or through other code.
func (g *guard) revive(scripts map[string]bool, at paused) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == "" || !at.calledBy(g.current) {
		return false
	}
	for id, script := range g.kills {
		if scripts[script] {
			delete(g.kills, id)
			// Sent under the lock, so that a breakpoint of the same id that kill
			// sets comes later.
			g.p.send(proto.DebuggerRemoveBreakpoint{BreakpointID: proto.DebuggerBreakpointID(id)})
		}
	}
	for script := range scripts {
		delete(g.over, script)
	}
	return true
}

// calledBy reports whether the script with this id is on the stack or has set off
// the promise or timer that it runs in, or whether the script's value is being
// made into JSON.
func (p paused) calledBy(id string) bool {
	if n := len(p.Frames); n > 0 && p.Frames[n-1].Function == stringifier {
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

// stopLeftover ends code that an earlier script left behind, and the page code
// that called it. That is no violation: a forgotten timer is common.
func (g *guard) stopLeftover(v paused) {
	g.mu.Lock()
	byPage := false
	for _, f := range v.Frames {
		byPage = byPage || !g.ours[f.script()]
	}
	first := byPage && !g.stoppedPage
	g.stopped, g.stoppedPage = true, g.stoppedPage || byPage
	g.mu.Unlock()
	if first {
		g.p.warn("page code called a function that an earlier js_evaluate script had left in the page. Such functions run only while a script runs, so the call was stopped")
	}
	g.p.send(proto.DebuggerResume{TerminateOnResume: true})
}

// hasStoppedLeftovers reports whether the document has lost code that an earlier
// script left behind.
func (p *page) hasStoppedLeftovers() bool {
	g := p.guarding()
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stopped
}
