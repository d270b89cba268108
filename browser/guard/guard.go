// Package guard holds the scripts of js_evaluate to their rules while they run, and for as
// long as the document exists that they ran in.
//
// # What it protects against
//
// A script of an author runs in the page's own world, where it can read and call what the
// page has. Its text was checked before it came here (see routine/javascript), and one that
// is proved to only read needs no guard. Of all others the guard stops what no text shows.
// Neither during its call nor later, from its timers, promises and functions that it has left
// in the page, may a script
//
//   - reach the network: with requests, beacons, sockets, workers or prefetches;
//   - run code that it has made: from strings, attributes, javascript: URLs or WebAssembly;
//   - leave hooks for the page to call: listeners, observers, custom elements;
//   - make frames, or show documents that it has made;
//   - open windows except by links that the document had before, or close any;
//   - navigate except by the links and forms that the document had before.
//
// A violation ends the run with script_blocked. What the guard cannot attribute to anybody,
// such as an image in a document that a script has changed, is refused with a warning.
//
// # How it decides
//
// It decides who caused an action: a request, new code, a new frame or a call of a browser
// function belongs to the script if the innermost stack frame with an author, followed
// through promises and timers, is in the script. What page code does belongs to the page,
// even if the script has called it.
//
// The guard can only prevent what it pauses, so everything that matters is paused: requests
// (request.go, frame.go), new code and calls of the watched functions (pause.go, natives.go,
// caller.go), functions that earlier scripts have left (leftovers.go), and new windows
// (popups.go). After a violation the page is never resumed: the run's browser context is
// disposed of while the page is paused.
//
// # What it does not prevent
//
//   - page functions that fetch or evaluate their argument, such as $.get(url),
//     including browser functions that the page has stored under another name;
//   - document.cookie = ..., which is sent with the page's next request;
//   - a prefetch over TLS in HTML that the script has assembled from pieces: it is
//     noticed and ends the run, but may have connected by then;
//   - the functions of a frame that loads another document during the call, and
//     briefly those of a popup that the page opens during it and keeps;
//   - operations on what a script has changed, such as a click on a link.
//
// Some loads have no stack: backgrounds, fonts, media, lazy images, icons, and
// navigations of frames of other sites. Once a script may have changed the document,
// such loads are refused with a warning unless the document contained their URL
// before, until it is replaced. That includes loads that the page itself causes.
//
// All of this is subject to the egress policy, which holds whatever a script does.
//
// # Locks
//
// Locks are taken in this order: that of the page, then that of the guard, then that of the
// protocol's client. [Page] says which of its methods the guard calls under which of them.
//
// Several goroutines use a guard. The one that reads the browser's messages calls Post,
// PostFrame, HoldPopup, PauseFrame and DocumentReplaced: DocumentReplaced with the lock of
// the page held, the others with none. These methods wait for nothing but locks, and the
// guard holds none of its own while it waits for an answer of the browser. The guard's own
// goroutine handles the events that were posted, in their order, and may wait for the
// browser. The run's goroutine calls the other methods, and Stop is
// called by the goroutine that disposes of the page.
package guard

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
	"rote/routine/javascript"
)

// Guard watches the scripts of one page. Several goroutines may call it; the package
// comment says with which locks held.
type Guard struct {
	page Page

	// Events of the page, which run has not handled yet.
	queue   sync.Mutex
	events  []event
	waiting chan struct{} // capacity 1; holds a value when events has any
	ended   chan struct{} // closed by Stop
	done    chan struct{} // closed when run has returned

	mu sync.Mutex
	documentState
}

// documentState is what the guard knows about the current document. The parts are described
// in the files that use them; Guard.mu guards all of them.
type documentState struct {
	// armed reports whether the page pauses for the guard.
	armed bool
	// documentChanged reports whether any script so far may have changed the document.
	documentChanged bool
	baseline        baseline // arm.go
	scriptState              // pause.go
	leftoverState            // leftovers.go
	nativeState              // natives.go
	requestState             // request.go
	navigationState          // frame.go
	popupState               // popups.go
}

// newDocumentState is what the guard knows about a document in which no script has run.
func newDocumentState() documentState {
	return documentState{
		scriptState: scriptState{evaluatedScripts: map[string]bool{}, parsed: map[string]parsedScript{}},
		leftoverState: leftoverState{entryPoints: map[string]*scriptEntries{}, constants: map[string][]javascript.Span{},
			leftoverStops: map[string]string{}, endedScripts: map[string]bool{}},
		nativeState: nativeState{breakpoints: map[string]watch{}, watchedPaths: map[string]bool{},
			hasCallerCheck: map[proto.RuntimeExecutionContextID]bool{}},
		requestState:    requestState{initiators: map[string]initiator{}, held: map[string]pausedRequest{}},
		navigationState: navigationState{frames: map[string]bool{}, navigationReasons: map[string]string{}, selfNavigations: map[string]string{}},
	}
}

// event is an event of the browser, or one that the guard has posted to itself.
type event struct {
	// session is that of a frame with a process of its own; empty for the page's.
	session proto.TargetSessionID
	method  string
	params  json.RawMessage
}

// New returns the guard of a page. It handles events until Stop is called.
func New(p Page) *Guard {
	g := &Guard{page: p, waiting: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{}), documentState: newDocumentState()}
	go g.run()
	return g
}

// Handles reports whether the guard handles the events of this method.
func Handles(method string) bool {
	return strings.HasPrefix(method, "Debugger.") || strings.HasPrefix(method, "Fetch.") || method == "Network.requestWillBeSent" ||
		method == "Network.webSocketCreated" || method == "Network.webTransportCreated" || method == "Page.frameAttached" ||
		method == "Page.frameRequestedNavigation" || method == "Page.windowOpen"
}

// Post queues an event of the page's session. It runs on the reading goroutine and
// never blocks.
func (g *Guard) Post(method string, params json.RawMessage) { g.enqueue("", method, params) }

// PostFrame is Post for the session of a frame with a process of its own. Events that do
// not concern the guard are ignored.
func (g *Guard) PostFrame(session proto.TargetSessionID, method string, params json.RawMessage) {
	if method == "Fetch.requestPaused" || method == "Page.frameRequestedNavigation" {
		g.enqueue(session, method, params)
	}
}

// enqueue queues an event for run. A navigation to a document that comes from no server is
// judged at once.
func (g *Guard) enqueue(session proto.TargetSessionID, method string, params json.RawMessage) {
	if method == "Page.frameRequestedNavigation" && session == "" {
		g.judgeLocalDocument(params)
	}
	g.queue.Lock()
	g.events = append(g.events, event{session, method, params})
	g.queue.Unlock()
	select {
	case g.waiting <- struct{}{}:
	default: // run is notified already
	}
}

// run handles the events in their order until Stop is called. The page that created
// the guard owns this goroutine.
func (g *Guard) run() {
	defer close(g.done)
	for {
		select {
		case <-g.ended:
			return
		case <-g.waiting:
		}
		g.queue.Lock()
		events := g.events
		g.events = nil
		g.queue.Unlock()
		for _, e := range events {
			g.handle(e)
		}
	}
}

// Stop ends run and waits for it.
func (g *Guard) Stop() {
	close(g.ended)
	<-g.done
}

// handle handles one event. It runs on the guard's own goroutine.
func (g *Guard) handle(e event) {
	switch e.method {
	case "Debugger.scriptParsed", "Debugger.scriptFailedToParse":
		if v, ok := cdp.Decode[parsedScript](e.params); ok {
			g.scriptParsed(v)
		}
	case "Debugger.paused":
		if v, ok := cdp.Decode[paused](e.params); ok {
			g.paused(v)
		}
	case "Network.requestWillBeSent":
		if v, ok := cdp.Decode[sentRequest](e.params); ok {
			g.requestSent(v)
		}
	case "Fetch.requestPaused":
		if v, ok := cdp.Decode[pausedRequest](e.params); ok {
			v.session = e.session
			g.requestPaused(v)
		}
	case heldTooLong:
		g.decideHeldRequest(string(e.params))
	case popupAttached:
		g.popupAttached(proto.TargetSessionID(e.params))
	case popupTooLong:
		g.popupTooLong(proto.TargetSessionID(e.params))
	case "Network.webSocketCreated", "Network.webTransportCreated":
		if v, ok := cdp.Decode[struct {
			URL       string    `json:"url"`
			Initiator initiator `json:"initiator"`
		}](e.params); ok && g.causedByScript(v.Initiator.Stack) {
			g.block("open a connection to " + v.URL)
		}
	case "Page.frameAttached":
		if v, ok := cdp.Decode[struct {
			FrameID string `json:"frameId"`
			Stack   *stack `json:"stack"`
		}](e.params); ok && g.causedByScript(v.Stack) {
			g.mu.Lock()
			g.frames[v.FrameID] = true
			g.mu.Unlock()
		}
	case "Page.frameRequestedNavigation":
		if v, ok := cdp.Decode[requestedNavigation](e.params); ok && v.Disposition == proto.PageClientNavigationDispositionCurrentTab {
			g.navigationRequested(e.session, v)
		}
	case "Page.windowOpen":
		if v, ok := cdp.Decode[struct {
			URL string `json:"url"`
		}](e.params); ok {
			g.windowOpened(v.URL)
		}
	}
}

// block ends the run with script_blocked, because a script tried something that is
// not allowed. The page is not resumed, since that would let it happen: its browser
// context is disposed of while it is paused.
func (g *Guard) block(tried string) {
	if len(tried) > maxAttemptText {
		tried = strings.ToValidUTF8(tried[:maxAttemptText], "") + "…"
	}
	g.page.Block(routine.Errorf(routine.CodeScriptBlocked, "the script tried to %s, which js_evaluate blocks", tried))
}

// maxAttemptText bounds the part of the error message that says what the script tried, in
// bytes.
const maxAttemptText = 300
