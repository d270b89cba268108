package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// natives are the browser functions that a script may not call and that nothing else
// stops before they take effect: connections that are not requests, hooks, windows,
// navigation within a document, prefetching. Requests and code from strings pause
// without a breakpoint.
//
// Each is a path from the global object; "=get" and "=set" name the accessors of a
// property. V8 scans its whole heap for each breakpoint (1 ms on a small page, 100 ms
// on a huge one), so only the functions that a script can name get one.
var natives = []string{
	"WebSocket", "WebSocketStream", "EventSource", "WebTransport", "RTCPeerConnection", "webkitRTCPeerConnection",
	"Worker", "SharedWorker", "ServiceWorkerContainer.prototype.register", "ServiceWorkerRegistration.prototype.update",
	"BackgroundFetchManager.prototype.fetch", "Worklet.prototype.addModule", "SharedStorage.prototype.createWorklet",
	"fetchLater", "CredentialsContainer.prototype.get", "FontFace",
	"EventTarget.prototype.addEventListener", "EventTarget.prototype.when", "MediaQueryList.prototype.addListener",
	"MutationObserver.prototype.observe", "IntersectionObserver.prototype.observe", "ResizeObserver.prototype.observe",
	"PerformanceObserver.prototype.observe", "ReportingObserver.prototype.observe", "CustomElementRegistry.prototype.define",
	"open", "close", "stop", "Document.prototype.open", "Document.prototype.write", "Document.prototype.writeln",
	"History.prototype.pushState", "History.prototype.replaceState", "History.prototype.go", "History.prototype.back", "History.prototype.forward",
	"Navigation.prototype.navigate", "Navigation.prototype.reload", "Navigation.prototype.back", "Navigation.prototype.forward", "Navigation.prototype.traverseTo",
	"WebAssembly.compile", "WebAssembly.instantiate", "WebAssembly.compileStreaming", "WebAssembly.instantiateStreaming",
	"WebAssembly.Module", "WebAssembly.Instance",
	"HTMLLinkElement.prototype.rel=set", "HTMLLinkElement.prototype.relList=get", "HTMLScriptElement.prototype.type=set",
	"HTMLAnchorElement.prototype.ping=set", "HTMLAreaElement.prototype.ping=set",
}

// nativeState is what the guard knows about the browser functions that it watches.
type nativeState struct {
	// breakpoints are the breakpoints on browser functions, by breakpoint id;
	// watchedPaths holds the paths of the functions that have one.
	breakpoints  map[string]watch
	watchedPaths map[string]bool
	// callerCheck is the name of the constant that caller.js defines in each realm of
	// hasCallerCheck; empty before the first.
	callerCheck    string
	hasCallerCheck map[proto.RuntimeExecutionContextID]bool
	// newFrameScript is the id of the script that pauses each new frame; empty if there is
	// none.
	newFrameScript string
}

// watch is a breakpoint on a browser function. wrapped reports whether the page has
// replaced the function by its own, which then is the innermost frame of each call.
type watch struct {
	name    string
	wrapped bool
}

// requiredNames maps a path to another name that a script must use to reach its function.
var requiredNames = map[string]string{"CredentialsContainer.prototype.get": "credentials", "SharedStorage.prototype.createWorklet": "sharedStorage"}

// namedNatives are the natives that the script can name.
func namedNatives(s routine.Script) []string {
	var list []string
	for _, path := range natives {
		name, part, property := strings.Cut(path[strings.LastIndex(path, ".")+1:], "=")
		switch also := requiredNames[path]; {
		case strings.HasPrefix(path, "WebAssembly."):
			name = "WebAssembly"
		case also != "" && !s.Facts.MayName(also), property && part != "" && !s.Facts.Draws():
			continue
		}
		if s.Facts.MayName(name) || path == "open" && s.Facts.Draws() && mayClick(s) {
			list = append(list, path)
		}
	}
	return list
}

// mayClick reports whether the script may trigger event handlers of the page. A
// breakpoint on open distinguishes the windows that these open from those that the
// script's links open.
func mayClick(s routine.Script) bool {
	return s.Facts.MayName("click") || s.Facts.MayName("submit") || s.Facts.MayName("requestSubmit") || s.Facts.MayName("dispatchEvent")
}

// findNatives returns the functions at the paths as a list of path, function, path,
// function and so on.
const findNatives = `paths => paths.flatMap(path => {
	try {
		const [names, part = 'value'] = path.split('='), way = names.split('.'), last = way.pop();
		const on = way.reduce((o, name) => o[name], globalThis);
		const f = way.length && part !== 'value' ? Object.getOwnPropertyDescriptor(on, last)[part] : on[last];
		return typeof f === 'function' ? [path, f] : [];
	} catch { return []; }
})`

// unwatched are the natives that the script can name and that have no breakpoint yet.
func (g *Guard) unwatched(s routine.Script) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(namedNatives(s), func(path string) bool { return g.watchedPaths[path] })
}

// collectThreshold is the number of breakpoints from which a garbage collection (15 ms
// on a small page) costs less than it saves: with the garbage of one document, 50
// breakpoints took 50 ms longer; with that of ten documents, 500 ms.
const collectThreshold = 10

// watchNatives sets breakpoints on the functions that the script must not call. The
// functions of all documents in a process share their code, and with it a breakpoint,
// but only the functions that exist when it is set. So findNatives first creates those
// of each realm.
func (g *Guard) watchNatives(ctx context.Context, paths []string) error {
	if err := g.watchNewFrames(ctx); err != nil {
		return err
	}
	if len(paths) > collectThreshold {
		g.page.Send(proto.HeapProfilerCollectGarbage{}) // of earlier documents, which V8 would scan for each breakpoint
	}
	list, err := json.Marshal(paths)
	if err != nil {
		return err
	}
	find := proto.RuntimeEvaluate{ObjectGroup: "guard", Expression: "(" + findNatives + ")(" + string(list) + ")"}
	defer g.page.Send(proto.RuntimeReleaseObjectGroup{ObjectGroup: "guard"})
	var sets []nativeFunction
	for _, realm := range g.page.Realms() {
		if err := g.addCallerCheck(ctx, realm); err != nil {
			return err
		}
		find.ContextID = realm
		found, err := cdp.Evaluate(ctx, g.page, find)
		if errors.Is(cdp.AsGone(err), cdp.ErrGone) {
			continue // the frame has just been removed
		}
		if err != nil {
			return err
		}
		more, err := g.functions(ctx, found.ObjectID)
		if err != nil {
			return err
		}
		sets = append(sets, more...)
	}
	return g.setWatches(ctx, sets)
}

// nativeFunction is a function to watch.
type nativeFunction struct {
	watch
	object proto.RuntimeRemoteObjectID
}

// functions reads the list that findNatives has returned.
func (g *Guard) functions(ctx context.Context, list string) ([]nativeFunction, error) {
	items, err := cdp.Call[struct {
		Result []struct {
			Value cdp.RemoteObject `json:"value"`
		} `json:"result"`
	}](ctx, g.page, proto.RuntimeGetProperties{ObjectID: proto.RuntimeRemoteObjectID(list), OwnProperties: true})
	var sets []nativeFunction
	path := ""
	for _, item := range items.Result {
		switch item.Value.Type {
		case "string":
			if text, err := cdp.Unquote(item.Value.Value); err == nil {
				path = *text
			}
		case "function":
			wrapped := !strings.Contains(item.Value.Description, "[native code]")
			sets = append(sets, nativeFunction{watch{path, wrapped}, proto.RuntimeRemoteObjectID(item.Value.ObjectID)})
		}
	}
	return sets, err
}

// setWatches sets breakpoints on functions, and waits until they are set.
func (g *Guard) setWatches(ctx context.Context, sets []nativeFunction) error {
	answers := make([]*cdp.Future, len(sets))
	for i, w := range sets {
		answers[i] = g.page.Send(proto.DebuggerSetBreakpointOnFunctionCall{ObjectID: w.object, Condition: g.condition(w.watch)})
	}
	for i, w := range sets {
		b, err := g.page.Await(ctx, answers[i])
		if err != nil && !isDuplicate(err) {
			return fmt.Errorf("watch %s: %w", w.name, err)
		}
		made, _ := cdp.Decode[proto.DebuggerSetBreakpointOnFunctionCallResult](b)
		g.mu.Lock()
		if made.BreakpointID != "" {
			g.breakpoints[string(made.BreakpointID)] = w.watch
		}
		g.watchedPaths[w.name] = true
		g.mu.Unlock()
	}
	return nil
}

// watchNewFrames makes new frames pause when the script first touches them, because no
// function is watched there.
func (g *Guard) watchNewFrames(ctx context.Context) error {
	g.mu.Lock()
	has := g.newFrameScript != ""
	g.mu.Unlock()
	if has {
		return nil
	}
	made, err := cdp.Call[proto.PageAddScriptToEvaluateOnNewDocumentResult](ctx, g.page,
		proto.PageAddScriptToEvaluateOnNewDocument{Source: "debugger;\n//# sourceURL=" + newFrameURL})
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.newFrameScript = string(made.Identifier)
	return nil
}

// isDuplicate reports whether the error says that the function already has a breakpoint,
// under another name.
func isDuplicate(err error) bool {
	var e *cdp.Error
	return errors.As(err, &e) && strings.Contains(e.Message, "already exists")
}
