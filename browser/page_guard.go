package browser

import (
	"context"
	"maps"
	"slices"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/guard"
	"rote/routine"
	"rote/routine/javascript"
)

// guarding is the page's guard, and what only the guard needs to know of the page.
type guarding struct {
	guard *guard.Guard // nil until a script is watched
	// realms are the page's own worlds: of its document and of the frames in the same
	// process.
	realms map[proto.RuntimeExecutionContextID]bool
	// all are the guards of all pages of the run, to be stopped with it. They are kept by
	// the first page.
	all []*guard.Guard
}

// currentGuard is the page's guard; nil if no script has been watched yet.
func (p *page) currentGuard() *guard.Guard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.guarding.guard
}

// ensureGuard is the page's guard, made when it is first needed.
func (p *page) ensureGuard() *guard.Guard {
	if g := p.currentGuard(); g != nil {
		return g
	}
	g, first := guard.New(guardAdapter{p}), p.first()
	first.mu.Lock()
	first.guarding.all = append(first.guarding.all, g)
	first.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.guarding.guard = g
	return g
}

// runWatched runs a script under the guard. Scripts that are proved to only read need
// none.
func (p *page) runWatched(ctx context.Context, s routine.Script, name string) (cdp.RemoteObject, error) {
	g := p.ensureGuard()
	if err := g.Arm(ctx, s); err != nil {
		return cdp.RemoteObject{}, err
	}
	constants := javascript.ConstantBodies(s.Text)
	if p.hasLeftovers() {
		for i := range constants {
			constants[i].Line += newTaskLines
			constants[i].ToLine += newTaskLines
		}
	}
	g.StartCall(s, name, constants)
	v, err := p.run(ctx, s, name)
	g.EndCall(ctx)
	return v, err
}

// hasLeftovers reports whether an earlier script may have left code in the document:
// functions, timers or handlers. The page may then pause at any time, so that the
// guard can stop that code. An expression that is evaluated during such a pause runs
// unwatched, and its promises are lost when the pause ends.
//
// A popup also has the leftovers of its openers, which its scripts can reach.
func (p *page) hasLeftovers() bool {
	for ; p != nil; p = p.asPopup.opener {
		if g := p.currentGuard(); g != nil && g.MayRunLeftovers() {
			return true
		}
	}
	return false
}

// hasStoppedLeftovers reports whether the document has lost code that an earlier
// script left behind.
func (p *page) hasStoppedLeftovers() bool {
	g := p.currentGuard()
	return g != nil && g.HasStoppedLeftovers()
}

// throughWorker sends the next requests of an operation through the service worker. The
// caller calls end when the answer has arrived.
func (p *page) throughWorker() (end func()) {
	if g := p.currentGuard(); g != nil {
		return g.ThroughWorker()
	}
	return func() {}
}

// inNewTask wraps an expression so that it runs in a task of its own, which a paused page
// does not start. The expression sees no name of the wrapper. It starts on line 2 (see
// newTaskLines) and keeps its column.
func inNewTask(expression string) string {
	return "(f => new Promise((ok, no) => setTimeout(() => { try { ok(f()) } catch (e) { no(e) } })))(() => (\n" + expression + "\n))"
}

// newTaskLines is the number of lines that inNewTask puts before an expression.
const newTaskLines = 1

// updateRealms adds a realm or, if came is 0, removes one; all of them if went is 0 too. p.mu
// is held.
func (p *page) updateRealms(came, went proto.RuntimeExecutionContextID) {
	switch {
	case came != 0:
		p.guarding.realms[came] = true
	case went == 0:
		clear(p.guarding.realms)
	default:
		delete(p.guarding.realms, went)
	}
}

// guardAdapter is a page as its guard sees it. Each method says which locks it takes.
type guardAdapter struct{ *page }

var _ guard.Page = guardAdapter{}

// SendTo takes the lock of the client.
func (p guardAdapter) SendTo(session proto.TargetSessionID, m proto.Request) {
	p.i.client.Send(session, m.ProtoReq(), m)
}

// MainFrame takes no lock.
func (p guardAdapter) MainFrame() proto.PageFrameID { return proto.PageFrameID(p.target) }

// Acting takes no lock.
func (p guardAdapter) Acting() bool { return p.input.acting.Load() }

// FetchAhead takes no lock but one of the proxy.
func (p guardAdapter) FetchAhead(on bool) { p.proxy.FetchAhead(on && !p.isWatched()) }

// BypassWorker takes the lock of the client.
func (p guardAdapter) BypassWorker(on bool) {
	p.Send(proto.NetworkSetBypassServiceWorker{Bypass: on || p.isWatched()}).Forget()
}

// PausePatterns takes no lock.
func (p guardAdapter) PausePatterns(session proto.TargetSessionID) []*proto.FetchRequestPattern {
	if session == "" {
		return p.ownPausePatterns()
	}
	return p.pausePatterns()
}

// Block takes the lock of each page of the run, one after the other, and in that of the
// first page the lock of the client.
func (p guardAdapter) Block(err error) { p.block(err) }

// Blocked takes the lock of the run's first page.
func (p guardAdapter) Blocked() error { return p.errBlocked() }

// Warn takes the lock of the page.
func (p guardAdapter) Warn(text string) { p.warn(text) }

// Realms takes the lock of the page.
func (p guardAdapter) Realms() []proto.RuntimeExecutionContextID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.guarding.realms))
}

// HelperWorld takes the lock of the page, and waits for the browser if the document has no
// such world yet.
func (p guardAdapter) HelperWorld(ctx context.Context) (proto.RuntimeExecutionContextID, error) {
	return p.frames.top.world(ctx)
}

// FrameSessions takes the lock of the page.
func (p guardAdapter) FrameSessions() []proto.TargetSessionID {
	var sessions []proto.TargetSessionID
	for _, v := range p.currentFrames() {
		if v.session != p.session {
			sessions = append(sessions, v.session)
		}
	}
	return sessions
}

// IsOutermost reports whether the frame is the outermost one of its process.
func (p guardAdapter) IsOutermost(session proto.TargetSessionID, frame proto.PageFrameID) bool {
	return slices.ContainsFunc(p.currentFrames(), func(v *frameView) bool {
		return v.session == session && v.frame == frame && v.parent.session != session
	})
}

// CheckFrames fails if a script could act where the guard does not see it: in a frame of
// the page's own origin that is inside a frame of another origin, in one of too many
// frames, or in the window that opened this one.
func (p guardAdapter) CheckFrames() error {
	if p.asPopup.reachesOpener {
		return routine.Errorf(routine.CodeScriptBlocked,
			"this popup can reach the window that opened it, where a script cannot be held to the rules of js_evaluate: "+
				"only one that is proved to only read runs here")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames.isolated) >= maxFrames {
		return routine.Errorf(routine.CodeScriptBlocked, "the page holds %d frames of other sites or more, "+
			"among which a script cannot be held to the rules of js_evaluate: only one that is proved to only read runs here", maxFrames)
	}
	for _, v := range p.frames.isolated {
		if v.session != p.session && v.origin == p.frames.top.origin {
			return routine.Errorf(routine.CodeScriptBlocked, "the page holds a frame of its own site inside of another site's frame, "+
				"where a script cannot be held to the rules of js_evaluate: only one that is proved to only read runs here")
		}
	}
	return nil
}

// ClosePopups takes the locks of the page and of the run's first page, one after the other.
func (p guardAdapter) ClosePopups(ctx context.Context) error { return p.closePopups(ctx) }

// ClosePopup takes the lock of the run's first page.
func (p guardAdapter) ClosePopup(session proto.TargetSessionID) { p.closePopup(session) }
