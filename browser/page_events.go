package browser

import (
	"context"
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/guard"
)

// navigation is where the page is, and on its way to.
type navigation struct {
	state navState
	// changed is closed and replaced when the state changes, or anything else that
	// waitFor waits for.
	changed chan struct{}
	// settled is the loader of the last document that the run has waited for. Only the
	// run's goroutine uses it.
	settled string
}

// navState is the navigation state of the page's main frame, as its events report it.
type navState struct {
	url    string
	loader string // of the current document
	// loaded reports whether that document has fired its load event.
	loaded bool
	// bodyBroke reports whether the document's body broke off, so that no load event will
	// come.
	bodyBroke bool
	// requests counts the navigations of the main frame to other documents, from when they
	// are requested.
	requests int
	// pending counts the navigations that were requested and have not started yet.
	pending int
	// current is the loader of the navigation under way; empty if there is none. lastStarted is
	// the loader of the last one that started, and currentURL the URL of the last one that
	// was requested or started.
	current, currentURL, lastStarted string
	// unreachable is the URL that the browser shows an error page for. failure is why the
	// last navigation brought no document, such as net::ERR_CONNECTION_RESET.
	unreachable, failure string
	// status is the HTTP status of the document with loader statusOf.
	status   int
	statusOf string
}

// withoutDocument reports whether the last answer had no document: 204 No Content or 205 Reset
// Content.
func (s navState) withoutDocument() bool { return s.status == 204 || s.status == 205 }

// navigating reports whether a navigation to another document is under way.
func (s navState) navigating() bool { return s.pending > 0 || s.current != "" }

// event handles the events of the page's session. It runs on the reading goroutine, so
// it must not wait for anything.
func (p *page) event(method string, params json.RawMessage) {
	if p.answerPrime(method, params) || !p.countConsole(method, params) {
		return
	}
	if method == "Fetch.requestPaused" && p.answerPaused(p.session, params) {
		return
	}
	if !p.isBlockedLoad(method, params) {
		p.trace.note(method, params)
	}
	p.logRequests(p.session, method, params)
	if guard.Handles(method) {
		if g := p.currentGuard(); g != nil {
			g.Post(method, params)
		}
	}
	switch method {
	case "Page.frameNavigated":
		p.frameEvent(p.session, method, params)
		p.navigation(method, params)
	case "Page.navigatedWithinDocument", "Page.loadEventFired", "Page.frameRequestedNavigation", "Page.frameStartedNavigating", "Page.frameStoppedLoading":
		p.navigation(method, params)
	case "Network.responseReceived", "Network.requestWillBeSent", "Network.loadingFinished":
		if e, ok := cdp.Decode[requestEvent](params); ok {
			p.requestEvent(method, &e)
		}
	case "Network.loadingFailed":
		if e, ok := cdp.Decode[loadingFailed](params); ok {
			p.trackRequests(method, &requestEvent{ID: e.ID})
			p.noteFailure(e)
		}
	case "Runtime.consoleAPICalled":
		if e, ok := cdp.Decode[proto.RuntimeConsoleAPICalled](params); ok {
			p.noteConsole(&e)
		}
	case "Fetch.requestPaused":
		p.answerBlank(params)
	case "Inspector.targetCrashed":
		p.crash()
	default:
		p.sessionEvent(p.session, method, params)
	}
}

// navigation updates the navigation state of the main frame.
func (p *page) navigation(method string, params json.RawMessage) {
	switch method {
	case "Page.frameNavigated":
		if e, ok := cdp.Decode[proto.PageFrameNavigated](params); ok && e.Frame.ParentID == "" {
			p.update(func(s *navState) {
				s.url, s.unreachable = e.Frame.URL+e.Frame.URLFragment, e.Frame.UnreachableURL
				s.newDocument(string(e.Frame.LoaderID))
				if s.current == s.loader {
					s.current = ""
				}
				s.pending = 0 // those of the old document
				p.recordVisit(s.url)
			})
		}
	case "Page.navigatedWithinDocument":
		if e, ok := cdp.Decode[proto.PageNavigatedWithinDocument](params); ok && p.isMain(e.FrameID) {
			p.update(func(s *navState) { s.url = e.URL })
		}
	case "Page.loadEventFired": // of the main frame
		p.update(func(s *navState) { s.loaded = true })
	case "Page.frameRequestedNavigation":
		if e, ok := cdp.Decode[proto.PageFrameRequestedNavigation](params); ok && p.isMain(e.FrameID) &&
			e.Disposition == proto.PageClientNavigationDispositionCurrentTab {
			p.update(func(s *navState) { s.requests++; s.pending++; s.currentURL = e.URL })
		}
	case "Page.frameStartedNavigating":
		if e, ok := cdp.Decode[startedNavigating](params); ok && p.isMain(e.FrameID) && !e.within() {
			p.update(func(s *navState) {
				if s.pending > 0 {
					s.pending--
				} else {
					s.requests++
				}
				s.current, s.lastStarted, s.currentURL, s.failure = e.LoaderID, e.LoaderID, e.URL, ""
				p.noteStarted(e)
			})
		}
	case "Page.frameStoppedLoading":
		if e, ok := cdp.Decode[proto.PageFrameStoppedLoading](params); ok && p.isMain(e.FrameID) {
			// The navigation under way has arrived or was cancelled. If a later one has
			// cancelled it, that one has yet to start.
			p.update(func(s *navState) { s.current = "" })
		}
	}
}

// startedNavigating is the Page.frameStartedNavigating event, which rod does not define.
type startedNavigating struct {
	FrameID  proto.PageFrameID `json:"frameId"`
	LoaderID string            `json:"loaderId"`
	URL      string            `json:"url"`
	Type     string            `json:"navigationType"`
}

// within reports whether the navigation stays within the document.
func (e *startedNavigating) within() bool {
	return e.Type == "sameDocument" || e.Type == "historySameDocument"
}

// restores reports whether the browser may fill the fields of the document as they were.
func (e *startedNavigating) restores() bool { return e.Type != "differentDocument" }

// sessionEvent handles the events that any session of the page may send: of dialogs,
// frames, execution contexts and workers.
func (p *page) sessionEvent(session proto.TargetSessionID, method string, params json.RawMessage) {
	switch method {
	case "Page.javascriptDialogOpening":
		if e, ok := cdp.Decode[proto.PageJavascriptDialogOpening](params); ok {
			p.answerDialog(session, &e)
		}
	case "Page.fileChooserOpened":
		p.noteChooser(session, params)
	case "Runtime.bindingCalled":
		p.copied(params)
	case "Page.downloadWillBegin":
		if e, ok := cdp.Decode[proto.PageDownloadWillBegin](params); ok {
			first := p.first()
			first.update(func(*navState) { first.downloadStarted(&e) })
		}
	case "Target.attachedToTarget":
		switch e, ok := cdp.Decode[proto.TargetAttachedToTarget](params); {
		case !ok || e.TargetInfo == nil:
		case e.TargetInfo.Type == "iframe":
			around, _ := cdp.Decode[struct {
				TargetInfo struct {
					ParentID proto.PageFrameID `json:"parentId"` // not defined by rod
				} `json:"targetInfo"`
			}](params)
			p.frameMoved(&e, around.TargetInfo.ParentID)
		default: // a worker of this page
			p.sendUserAgent(e.SessionID)
			p.i.client.ResumeTarget(&e)
		}
	case "Target.detachedFromTarget":
		if e, ok := cdp.Decode[proto.TargetDetachedFromTarget](params); ok {
			p.i.client.Unlisten(e.SessionID)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.dropFrames(func(v *frameView) bool { return v.session == e.SessionID })
		}
	case "Runtime.executionContextCreated", "Runtime.executionContextDestroyed", "Runtime.executionContextsCleared":
		p.contexts(session, method, params)
	case "Page.frameAttached", "Page.frameDetached", "Page.frameNavigated":
		p.frameEvent(session, method, params)
	}
}

func (p *page) isMain(frame proto.PageFrameID) bool { return string(frame) == string(p.target) }

// newDocument records a new document, which has yet to load.
func (s *navState) newDocument(loader string) {
	if s.loader == loader {
		return
	}
	s.loader, s.loaded, s.bodyBroke = loader, false, false
}

func (p *page) update(change func(*navState)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	loader := p.nav.state.loader
	change(&p.nav.state)
	if p.guarding.guard != nil && p.nav.state.loader != loader {
		p.guarding.guard.DocumentReplaced()
	}
	p.notify()
	if first := p.first(); first != p { // the first page may be waiting for its popups
		first.mu.Lock()
		defer first.mu.Unlock()
		first.notify()
	}
}

// notify makes all goroutines in waitFor check the state again. p.mu is held.
func (p *page) notify() {
	close(p.nav.changed)
	p.nav.changed = make(chan struct{})
}

// warningList are the page's warnings that the run has not taken yet.
type warningList struct {
	list  []string
	count int // so far, whether they were kept or not
}

// maxWarnings bounds the warnings of a page, so that it cannot fill a run's result.
const maxWarnings = 50

func (p *page) warn(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.warnings.count++
	switch {
	case p.warnings.count < maxWarnings:
		p.warnings.list = append(p.warnings.list, text)
	case p.warnings.count == maxWarnings:
		p.warnings.list = append(p.warnings.list, "more page events are not listed")
	}
}

// Warnings returns the warnings since the last call.
func (p *page) Warnings() []string {
	if g := p.currentGuard(); g != nil {
		g.WarnOfRefused()
	}
	p.warnOfUnfollowedPopups()
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.warnings.list
	p.warnings.list = nil
	return w
}

// now returns a copy of the state.
func (p *page) now() navState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nav.state
}

// waitFor waits until the state satisfies done, which is asked at once and
// after each change.
func (p *page) waitFor(ctx context.Context, done func(navState) (bool, error)) error {
	for {
		p.mu.Lock()
		changed := p.nav.changed
		p.mu.Unlock()
		if ok, err := done(p.now()); ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-p.end.dead:
			return p.failure(ctx, errCrashed)
		case <-p.i.client.Done():
			return p.failure(ctx, cdp.ErrClosed)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
