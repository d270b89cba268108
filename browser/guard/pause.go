package guard

import (
	"context"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// paused is the Debugger.paused event: the page has stopped at a breakpoint.
type paused struct {
	Frames []stackFrame `json:"callFrames"`
	Reason string       `json:"reason"`
	Data   struct {
		ScriptID string `json:"scriptId"`
	} `json:"data"`
	Hit    []string `json:"hitBreakpoints"`
	Parent *stack   `json:"asyncStackTrace"`
}

// parsedScript is the Debugger.scriptParsed event: a script and where it came from.
type parsedScript struct {
	ScriptID string `json:"scriptId"`
	URL      string `json:"url"`
	// Line and Column are the place of inline code in the document; both are 0 for
	// other code.
	Line      int    `json:"startLine"`
	Column    int    `json:"startColumn"`
	Stack     *stack `json:"stackTrace"`
	Execution struct {
		FrameID string `json:"frameId"`
	} `json:"executionContextAuxData"`
	Named    bool   `json:"hasSourceURL"`
	Language string `json:"scriptLanguage"`
}

// scriptState is what the guard knows about the scripts of the document.
type scriptState struct {
	// marker is the source URL of the script that runs next.
	marker string
	// scriptRunning reports whether a js_evaluate call is running.
	scriptRunning bool
	// current is the id of the running script; empty if there is none.
	current string
	// evaluatedScripts are the ids of the js_evaluate scripts.
	evaluatedScripts map[string]bool
	// parsed are all scripts of the document, by id.
	parsed map[string]parsedScript
}

// newFrameURL is the source URL of the script that pauses each new frame.
const newFrameURL = "about:newborn"

// scriptParsed records a script of the document, and recognises that of the call by its
// source URL.
func (g *Guard) scriptParsed(v parsedScript) {
	if v.Language == "WebAssembly" && g.causedByScript(v.Stack) {
		g.block("compile WebAssembly") // the page does not pause before its start function
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.URL == g.marker && g.marker != "" {
		g.marker = "" // other code can use the same URL later, but not the same id
		g.evaluatedScripts[v.ScriptID] = true
		g.constants[v.ScriptID] = g.nextConstants
		g.current = v.ScriptID
	}
	if len(g.parsed) < maxRemembered { // a page can make scripts without end
		g.parsed[v.ScriptID] = v
	}
}

// paused decides about what the page has stopped at: it continues, or what an earlier script
// has left is ended, or the run is blocked.
func (g *Guard) paused(v paused) {
	g.mu.Lock()
	var hit watch
	left := map[string]bool{} // ids of ended scripts whose code is about to run
	g.confirmStops()
	for _, id := range v.Hit {
		if script, ok := g.leftoverStops[id]; ok {
			left[script] = true
		}
		if w, ok := g.breakpoints[id]; ok {
			hit = w
		}
	}
	newborn := v.Reason != "instrumentation" && len(v.Frames) > 0 && g.parsed[v.Frames[0].script()].URL == newFrameURL
	g.mu.Unlock()
	frames := v.Frames
	if newborn || hit.wrapped && len(frames) > 0 {
		frames = frames[1:]
	}
	ours := g.causedByScript(&stack{Frames: frames, Parent: v.Parent})
	switch {
	case len(left) > 0 && !g.revive(left, v):
		g.stopLeftover(v)
		return
	case newborn && ours:
		g.block("make a frame")
		return
	case hit.name != "" && ours:
		g.block("call " + hit.name)
		return
	case v.Reason == "instrumentation" && g.isDynamic(v):
		g.block("run code that it has made")
		return
	}
	if hit.name == "open" {
		g.mu.Lock()
		g.windowsOpening++
		g.mu.Unlock()
	}
	g.page.Send(proto.DebuggerResume{})
}

// isDynamic reports whether a js_evaluate script has created the code that is about
// to run.
func (g *Guard) isDynamic(v paused) bool {
	id := v.Data.ScriptID
	g.mu.Lock()
	script, ours := g.parsed[id], g.evaluatedScripts[id]
	inFrame := g.frames[script.Execution.FrameID]
	draws := g.documentChanged
	caller, maker := nearestScript(&stack{Frames: v.Frames, Parent: v.Parent}, id), nearestScript(script.Stack, id)
	by := g.evaluatedScripts[caller] || g.evaluatedScripts[maker]
	g.mu.Unlock()
	switch {
	case ours: // the script itself begins
		g.requestEntryPoints(id)
		return false
	case inFrame:
		return true
	case isHandler(v, script):
		// The code of an event handler attribute runs on the stack of whatever
		// dispatched the event.
		if script.Line > 0 || script.Column > 0 || !draws {
			return false
		}
		return (by || caller == "" && maker == "") && !g.inBaseline(id)
	}
	// The page's own links may contain code (javascript: URLs).
	return by && !(script.URL == "" && g.inBaseline(id))
}

// isHandler reports whether the script is the code of an event handler attribute.
func isHandler(v paused, script parsedScript) bool {
	return len(v.Frames) > 0 && strings.HasPrefix(v.Frames[0].Function, "on") && !script.Named
}

// sourceTime bounds the wait for a script's source, during which the page is paused.
const sourceTime = 2 * time.Second

// inBaseline reports whether the document had this code in an attribute before the
// script ran.
func (g *Guard) inBaseline(id string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), sourceTime)
	defer cancel()
	source, err := cdp.Call[proto.DebuggerGetScriptSourceResult](ctx, g.page, proto.DebuggerGetScriptSource{ScriptID: proto.RuntimeScriptID(id)})
	if err != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.baseline.handlers[source.ScriptSource] || g.baseline.handlers[strings.TrimSpace(source.ScriptSource)]
}
