package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// natives are the browser's functions that a script may not call and that
// nothing else stops before they have had their effect: connections that are no
// requests, hooks, windows, navigation within a document, ways to fetch ahead.
// Requests and code from strings are paused by themselves.
//
// Each is a path from the window; "=get" and "=set" name the functions of a
// property. A breakpoint makes V8 look through its whole heap (1 ms on a small
// page, 100 ms on a huge one), so a script gets only those that it can name.
var natives = []string{
	"WebSocket", "WebSocketStream", "EventSource", "WebTransport", "RTCPeerConnection", "webkitRTCPeerConnection",
	"Worker", "SharedWorker", "ServiceWorkerContainer.prototype.register", "ServiceWorkerRegistration.prototype.update", "BackgroundFetchManager.prototype.fetch", "Worklet.prototype.addModule", "SharedStorage.prototype.createWorklet",
	"fetchLater", "CredentialsContainer.prototype.get", "FontFace",
	"EventTarget.prototype.addEventListener", "EventTarget.prototype.when", "MediaQueryList.prototype.addListener",
	"MutationObserver.prototype.observe", "IntersectionObserver.prototype.observe", "ResizeObserver.prototype.observe",
	"PerformanceObserver.prototype.observe", "ReportingObserver.prototype.observe", "CustomElementRegistry.prototype.define",
	"open", "close", "stop", "Document.prototype.open", "Document.prototype.write", "Document.prototype.writeln",
	"History.prototype.pushState", "History.prototype.replaceState", "History.prototype.go", "History.prototype.back", "History.prototype.forward",
	"Navigation.prototype.navigate", "Navigation.prototype.reload", "Navigation.prototype.back", "Navigation.prototype.forward", "Navigation.prototype.traverseTo",
	"WebAssembly.compile", "WebAssembly.instantiate", "WebAssembly.compileStreaming", "WebAssembly.instantiateStreaming", "WebAssembly.Module", "WebAssembly.Instance",
	"HTMLLinkElement.prototype.rel=set", "HTMLLinkElement.prototype.relList=get", "HTMLScriptElement.prototype.type=set",
	"HTMLAnchorElement.prototype.ping=set", "HTMLAreaElement.prototype.ping=set",
}

// alsoNamed must be named too before a script can reach what is at the path.
var alsoNamed = map[string]string{"CredentialsContainer.prototype.get": "credentials", "SharedStorage.prototype.createWorklet": "sharedStorage"}

// nativesOf are those that the script can name.
func nativesOf(s routine.Script) []string {
	var list []string
	for _, path := range natives {
		name, part, property := strings.Cut(path[strings.LastIndex(path, ".")+1:], "=")
		switch also := alsoNamed[path]; {
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

// mayClick tells that the script may set off handlers of the page's. What
// windows these open is told by a breakpoint from those of the script's links.
func mayClick(s routine.Script) bool {
	return s.Facts.MayName("click") || s.Facts.MayName("submit") || s.Facts.MayName("requestSubmit") || s.Facts.MayName("dispatchEvent")
}

// findNatives gives the functions at the paths: path, function, path, function.
const findNatives = `paths => paths.flatMap(path => {
	try {
		const [names, part = 'value'] = path.split('='), way = names.split('.'), last = way.pop();
		const on = way.reduce((o, name) => o[name], globalThis);
		const f = way.length && part !== 'value' ? Object.getOwnPropertyDescriptor(on, last)[part] : on[last];
		return typeof f === 'function' ? [path, f] : [];
	} catch { return []; }
})`

// unwatched are those that the script can name and that have no breakpoint yet.
func (g *guard) unwatched(s routine.Script) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(nativesOf(s), func(path string) bool { return g.watching[path] })
}

// worthCollecting is how many breakpoints cost more than a collection, 15 ms on a
// small page: with the garbage of one document a call's 50 took 50 ms longer,
// with that of ten 500.
const worthCollecting = 10

// watchNatives puts breakpoints on what the script must not call. The functions
// of all documents in one process share their code, and with it a breakpoint,
// but only those that are there when it is set: so each realm makes its own
// first.
func (g *guard) watchNatives(ctx context.Context, paths []string) error {
	if err := g.watchNewborn(ctx); err != nil {
		return err
	}
	if len(paths) > worthCollecting {
		g.p.send(proto.HeapProfilerCollectGarbage{}) // the documents before this one, which each breakpoint would look through
	}
	list, err := json.Marshal(paths)
	if err != nil {
		return err
	}
	find := proto.RuntimeEvaluate{ObjectGroup: "guard", Expression: "(" + findNatives + ")(" + string(list) + ")"}
	defer g.p.send(proto.RuntimeReleaseObjectGroup{ObjectGroup: "guard"})
	var sets []watchSet
	for _, realm := range g.p.ownRealms() {
		if err := g.lookOut(ctx, realm); err != nil {
			return err
		}
		find.ContextID = realm
		found, err := evaluate(ctx, g.p, find)
		if errors.Is(gone(err), errGone) {
			continue // a frame that has just left
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

// watchSet is a function to watch.
type watchSet struct {
	watch
	object proto.RuntimeRemoteObjectID
}

// functions are what findNatives has found.
func (g *guard) functions(ctx context.Context, list string) ([]watchSet, error) {
	items, err := call[struct {
		Result []struct {
			Value remote `json:"value"`
		} `json:"result"`
	}](ctx, g.p, proto.RuntimeGetProperties{ObjectID: proto.RuntimeRemoteObjectID(list), OwnProperties: true})
	var sets []watchSet
	path := ""
	for _, item := range items.Result {
		switch item.Value.Type {
		case "string":
			if text, err := unquote(item.Value.Value); err == nil {
				path = *text
			}
		case "function":
			wrapped := !strings.Contains(item.Value.Description, "[native code]")
			sets = append(sets, watchSet{watch{path, wrapped}, proto.RuntimeRemoteObjectID(item.Value.ObjectID)})
		}
	}
	return sets, err
}

func (g *guard) setWatches(ctx context.Context, sets []watchSet) error {
	answers := make([]*future, len(sets))
	for i, w := range sets {
		answers[i] = g.p.send(proto.DebuggerSetBreakpointOnFunctionCall{ObjectID: w.object, Condition: g.condition(w.watch)})
	}
	for i, w := range sets {
		b, err := g.p.await(ctx, answers[i])
		if err != nil && !isThere(err) {
			return fmt.Errorf("watch %s: %w", w.name, err)
		}
		made, _ := decode[proto.DebuggerSetBreakpointOnFunctionCallResult](b)
		g.mu.Lock()
		if made.BreakpointID != "" {
			g.watches[string(made.BreakpointID)] = w.watch
		}
		g.watching[w.name] = true
		g.mu.Unlock()
	}
	return nil
}

// watchNewborn makes a frame that is born during the call pause when the script
// first touches it: nothing is watched there.
func (g *guard) watchNewborn(ctx context.Context) error {
	g.mu.Lock()
	has := g.newborn != ""
	g.mu.Unlock()
	if has {
		return nil
	}
	made, err := call[proto.PageAddScriptToEvaluateOnNewDocumentResult](ctx, g.p, proto.PageAddScriptToEvaluateOnNewDocument{Source: "debugger;\n//# sourceURL=" + newbornURL})
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.newborn = string(made.Identifier)
	return nil
}

// isThere tells that another name of the same function has its breakpoint.
func isThere(err error) bool {
	var e *cdp.Error
	return errors.As(err, &e) && strings.Contains(e.Message, "already exists")
}

// realm notes one that has come, or that has gone: 0 is all. The lock is held.
func (p *page) realm(came, went proto.RuntimeExecutionContextID) {
	switch {
	case came != 0:
		p.realms[came] = true
	case went == 0:
		clear(p.realms)
	default:
		delete(p.realms, went)
	}
}

func (p *page) ownRealms() []proto.RuntimeExecutionContextID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.realms))
}
