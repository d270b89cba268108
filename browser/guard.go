package browser

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
	"rote/routine/javascript"
)

// guard holds the rules of js_evaluate while a script runs and for as long as
// its document lives. It attributes: a request, a piece of code, a frame, a call
// of one of the browser's functions is the script's when the nearest author's
// frame on its stack, through the promises and timers it came by, is the
// script's. What the page does, also when the script has called it, is the
// page's.
//
// It sees nothing before it happens but what it pauses, so everything that
// counts is paused: requests, new code, the watched functions. A violation is
// never resumed: the run's context is disposed of while the page still stands.
type guard struct {
	p *page

	// The events of the page wait here for the goroutine of run.
	queue   sync.Mutex
	events  []guardEvent
	waiting chan struct{} // has room for one: something is in events
	ended   chan struct{} // closed by stop
	done    chan struct{} // closed when run has returned

	mu sync.Mutex
	guarded
}

// guarded is what the guard knows of the document that is there.
type guarded struct {
	// armed: the page pauses what the guard looks at.
	armed bool
	// marker is the URL by which the next script of ours is recognised.
	marker string
	// during tells that a call goes on.
	during bool
	// draws tells that a script so far may have changed the document.
	draws bool
	// ours are the scripts of js_evaluate.
	ours map[string]bool
	// parsed are all scripts, for where they came from.
	parsed map[string]parsedScript
	// watches are the breakpoints on the browser's functions, watching those
	// that have one.
	watches  map[string]watch
	watching map[string]bool
	// places are where the page can enter each script, as V8 will say.
	places map[string]*scriptPlaces
	// bodies are the constant functions of the script that runs next, as it will be
	// sent; constants those of each script.
	bodies    []javascript.Span
	constants map[string][]javascript.Span
	// stops maps each breakpoint in a script that has ended to the id of that
	// script. newStops are those that V8 has not named yet. over holds the ids of
	// these scripts.
	stops    map[string]string
	newStops []newStop
	over     map[string]bool
	// current is the id of the script that runs at the moment; empty: none.
	current string
	// stopped reports whether code that an earlier script left behind was
	// stopped, stoppedPage whether page code had called it.
	stopped, stoppedPage bool
	// frames are those that a script of ours has made.
	frames map[string]bool
	// asked says why a frame is about to navigate, by the word of the page's
	// process, self where a frame with a process of its own has said that it goes.
	asked, self map[string]string
	// initiators are those of requests on the way, held the requests that are
	// paused until theirs is known.
	initiators map[string]initiator
	held       map[string]pausedRequest
	// opened counts the windows that the page is opening by itself, permits
	// those that may come, popups are the ones that wait for a permit.
	opened, permits int
	popups          []proto.TargetSessionID
	marks           marks
	// lookout is the name of the constant that guardstack.js makes in the realms of
	// hasLookout, empty: in none yet.
	lookout    string
	hasLookout map[proto.RuntimeExecutionContextID]bool
	// newborn is the id of what pauses a frame at its birth, empty: none.
	newborn string
	// requests tells that a script so far can have named what makes requests,
	// sends that it can have sent a frame elsewhere.
	requests, sends bool
	// refused counts the loads that were refused without blame, until the run
	// is warned of them.
	refused int
}

func newGuarded() guarded {
	return guarded{
		ours: map[string]bool{}, parsed: map[string]parsedScript{}, watches: map[string]watch{}, watching: map[string]bool{},
		places: map[string]*scriptPlaces{}, stops: map[string]string{}, over: map[string]bool{}, frames: map[string]bool{},
		asked: map[string]string{}, self: map[string]string{}, initiators: map[string]initiator{}, held: map[string]pausedRequest{},
		constants: map[string][]javascript.Span{}, hasLookout: map[proto.RuntimeExecutionContextID]bool{},
	}
}

// watch is a breakpoint on one of the browser's functions. wrapped tells that
// the page has put a function of its own in its place, which is then the
// nearest frame of each call.
type watch struct {
	name    string
	wrapped bool
}

// marks are what the document had of its own before the script ran: the code in
// its attributes, and the absolute URLs of its links, forms and loads.
type marks struct {
	handlers, leads, forms, loads map[string]bool
}

type guardEvent struct {
	// session is that of a frame with a process of its own; empty: the page's.
	session proto.TargetSessionID
	method  string
	params  json.RawMessage
}

func newGuard(p *page) *guard {
	g := &guard{p: p, waiting: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{}), guarded: newGuarded()}
	go g.run()
	return g
}

// concerns tells which events of the page the guard looks at.
func concerns(method string) bool {
	return strings.HasPrefix(method, "Debugger.") || strings.HasPrefix(method, "Fetch.") || method == "Network.requestWillBeSent" ||
		method == "Network.webSocketCreated" || method == "Network.webTransportCreated" || method == "Page.frameAttached" ||
		method == "Page.frameRequestedNavigation" || method == "Page.windowOpen"
}

// post hands an event of the page's session to the guard. It runs on the reading
// goroutine and never blocks.
func (g *guard) post(method string, params json.RawMessage) { g.postFrom("", method, params) }

// postFrom is post for any session.
func (g *guard) postFrom(session proto.TargetSessionID, method string, params json.RawMessage) {
	if method == "Page.frameRequestedNavigation" && session == "" {
		g.judgeMade(params)
	}
	g.queue.Lock()
	g.events = append(g.events, guardEvent{session, method, params})
	g.queue.Unlock()
	select {
	case g.waiting <- struct{}{}:
	default: // run will look anyway
	}
}

// run handles the events in their order until stop. The page that has made the
// guard owns this goroutine.
func (g *guard) run() {
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

// stop ends the guard and waits until it is gone.
func (g *guard) stop() {
	close(g.ended)
	<-g.done
}

func (g *guard) handle(e guardEvent) {
	switch e.method {
	case "Debugger.scriptParsed", "Debugger.scriptFailedToParse":
		if v, ok := decode[parsedScript](e.params); ok {
			g.scriptParsed(v)
		}
	case "Debugger.paused":
		if v, ok := decode[paused](e.params); ok {
			g.paused(v)
		}
	case "Network.requestWillBeSent":
		if v, ok := decode[sentRequest](e.params); ok {
			g.requestSent(v)
		}
	case "Fetch.requestPaused":
		if v, ok := decode[pausedRequest](e.params); ok {
			v.session = e.session
			g.requestPaused(v)
		}
	case heldTooLong:
		g.decideHeld(string(e.params))
	case popupAttached:
		g.popupAttached(proto.TargetSessionID(e.params))
	case popupTooLong:
		g.popupTooLong(proto.TargetSessionID(e.params))
	case "Network.webSocketCreated", "Network.webTransportCreated":
		if v, ok := decode[struct {
			URL       string    `json:"url"`
			Initiator initiator `json:"initiator"`
		}](e.params); ok && g.isOurs(v.Initiator.Stack) {
			g.block("open a connection to " + v.URL)
		}
	case "Page.frameAttached":
		if v, ok := decode[struct {
			FrameID string `json:"frameId"`
			Stack   *stack `json:"stack"`
		}](e.params); ok && g.isOurs(v.Stack) {
			g.mu.Lock()
			g.frames[v.FrameID] = true
			g.mu.Unlock()
		}
	case "Page.frameRequestedNavigation":
		if v, ok := decode[requestedNavigation](e.params); ok && v.Disposition == proto.PageClientNavigationDispositionCurrentTab {
			g.navigationRequested(e.session, v)
		}
	case "Page.windowOpen":
		if v, ok := decode[struct {
			URL string `json:"url"`
		}](e.params); ok {
			g.windowOpened(v.URL)
		}
	}
}

// block ends the run: a script has tried what it may not. What it did is in the
// message. The page is not resumed, since that would let it happen: its context
// is disposed of as it stands.
func (g *guard) block(tried string) {
	if len(tried) > maxTried {
		tried = strings.ToValidUTF8(tried[:maxTried], "") + "…"
	}
	g.p.block(routine.Errorf(routine.CodeScriptBlocked, "the script tried to %s, which js_evaluate blocks", tried))
}

// maxTried is how long, in bytes, the part of an error is that says what a
// script has tried.
const maxTried = 300

// block makes err what every further call of the page ends with, and disposes
// of its context at once.
func (p *page) block(err error) {
	first := p.first()
	first.mu.Lock()
	before := first.blocked
	if before == nil {
		first.blocked = err
		first.disposing = p.i.client.send("", "Target.disposeBrowserContext", map[string]any{"browserContextId": p.context})
	}
	first.mu.Unlock()
	if before == nil {
		for _, popup := range first.popupsNow() {
			popup.crash()
		}
		first.crash()
	}
}

// errBlocked is the reason why the run's pages were blocked, if they were.
func (p *page) errBlocked() error {
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	return first.blocked
}

// guarding is the page's guard, nil when no script has been watched yet.
func (p *page) guarding() *guard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.guard
}
