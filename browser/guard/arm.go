package guard

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
	"rote/routine/javascript"
)

// baselineScript collects what the document contains before a script runs.
//
//go:embed baseline.js
var baselineScript string

// Arm makes the page pause at whatever the script might do that is not allowed. It
// waits for an answer of the browser only where it needs one.
func (g *Guard) Arm(ctx context.Context, s routine.Script) error {
	if err := g.page.CheckFrames(); err != nil {
		return err
	}
	if err := g.page.ClosePopups(ctx); err != nil {
		return err
	}
	g.mu.Lock()
	armed := g.armed
	g.armed = true
	g.mu.Unlock()
	marked, err := g.takeBaseline(ctx, s)
	if err != nil {
		return err
	}
	var calls []proto.Request
	if !armed {
		for _, session := range g.page.FrameSessions() {
			g.pauseDocuments(session)
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
	if err := cdp.CallAll(ctx, g.page, calls...); err != nil {
		return err
	}
	if len(paths) > 0 {
		if err := g.watchNatives(ctx, paths); err != nil {
			return err
		}
		if !armed { // last, because our own code would pause the page too
			if err := cdp.CallAll(ctx, g.page, newCode); err != nil {
				return err
			}
		}
	}
	return marked()
}

// StartCall records what the script that runs next may do, the source URL by which its code
// is recognised, and which of its functions only return a constant.
func (g *Guard) StartCall(s routine.Script, name string, constants []javascript.Span) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.marker, g.nextConstants = name, constants
	g.scriptRunning, g.documentChanged = true, g.documentChanged || s.Facts.Draws()
	g.page.FetchAhead(!g.documentChanged)
	g.mayNavigateFrames = g.mayNavigateFrames || s.Facts.Draws() || mayNavigate(s)
	g.mayRequest = g.mayRequest || mayRequest(s)
}

// baseline are what the document contained before the script ran: the code in its
// attributes, and the absolute URLs of its links, forms and subresources.
type baseline struct {
	handlers, links, forms, loads map[string]bool
}

// takeBaseline asks for the contents of the document, if the script could make them matter,
// and returns a function that stores the answer. What earlier scripts have added
// counts as the document's, since it was checked then.
func (g *Guard) takeBaseline(ctx context.Context, s routine.Script) (func() error, error) {
	if !s.Facts.Draws() && !mayClick(s) && !mayNavigate(s) {
		return func() error { return nil }, nil
	}
	world, err := g.page.HelperWorld(ctx)
	if err != nil {
		return nil, err
	}
	asked := g.page.Send(proto.RuntimeEvaluate{ContextID: world, ReturnByValue: true, Expression: baselineScript})
	return func() error {
		var answer struct {
			Result struct {
				Value struct{ Handlers, Leads, Forms, Loads []string }
			}
		}
		b, err := g.page.Await(ctx, asked)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &answer); err != nil {
			return fmt.Errorf("look through the document: %w", err)
		}
		found := answer.Result.Value
		g.mu.Lock()
		defer g.mu.Unlock()
		g.baseline = baseline{handlers: setOf(found.Handlers), links: setOf(found.Leads), forms: setOf(found.Forms), loads: setOf(found.Loads)}
		return nil
	}, nil
}

// setOf is the set of the texts in list.
func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}

// EndCall marks the call as finished: no function of the script may run any more. What
// the script has handed to the browser (such as a bound browser function in a timer)
// is still attributed to it until the document is replaced.
func (g *Guard) EndCall(ctx context.Context) {
	if g.page.Blocked() != nil {
		return
	}
	g.stopScripts(ctx)
	g.mu.Lock()
	g.scriptRunning = false
	if !g.documentChanged { // nothing is left that makes requests
		g.setBypass(false)
	}
	g.mu.Unlock()
	g.WarnOfRefused()
}

// WarnOfRefused warns the run of the loads that were refused since the last warning.
func (g *Guard) WarnOfRefused() {
	g.mu.Lock()
	refused := g.refusedLoads
	g.refusedLoads = 0
	g.mu.Unlock()
	if refused > 0 {
		g.page.Warn(fmt.Sprintf("%d images, styles, media or frames were not loaded, as they may be those of a script that has changed the document", refused))
	}
}

// DocumentReplaced drops everything about the old document, because it was replaced. It runs on
// the reading goroutine with the page's lock held.
func (g *Guard) DocumentReplaced() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.armed {
		return
	}
	if g.newFrameScript != "" {
		g.page.Send(proto.PageRemoveScriptToEvaluateOnNewDocument{Identifier: proto.PageScriptIdentifier(g.newFrameScript)})
	}
	for _, held := range g.held {
		if g.documentChanged { // it may be the ping of a link that the script has changed
			g.answerRequest(held, refuse)
		} else {
			g.answerRequest(held, pass)
		}
	}
	g.setBypass(false)
	g.page.FetchAhead(true)
	if patterns := g.page.PausePatterns(""); len(patterns) > 0 { // without a gap, in which some would be loaded
		g.page.Send(proto.FetchEnable{Patterns: patterns})
	} else {
		g.page.Send(proto.FetchDisable{})
	}
	g.page.Send(proto.DebuggerDisable{})
	g.documentState = newDocumentState()
}

// IsArmed reports whether the page pauses for the guard.
func (g *Guard) IsArmed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.armed
}

// MayRunLeftovers reports whether an earlier script may have left code in the document. The
// page may then pause at any time, so that the guard can stop that code.
func (g *Guard) MayRunLeftovers() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.leftoverStops) > 0 || len(g.pendingStops) > 0
}
