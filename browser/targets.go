package browser

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// targets are the pages, popups and workers of one browser. They receive the events of the
// browser's own session and pass each on to the page whose context it is about.
type targets struct {
	client *cdp.Client

	mu sync.Mutex
	// pages are the first pages of runs, by their context.
	pages map[proto.BrowserBrowserContextID]*page
	// contexts are those that were created and whose disposal the browser has not confirmed.
	contexts map[proto.BrowserBrowserContextID]bool
	// refused are the popups that are being closed before they load anything.
	refused map[proto.TargetTargetID]bool
	// pausesRequests reports whether the browser pauses the requests of all pages.
	pausesRequests atomic.Bool
}

// attachTargets makes the browser announce its targets. Every new page and worker waits
// until it is resumed, so that it can be set up before its first script runs.
func attachTargets(ctx context.Context, c *cdp.Client) (*targets, error) {
	t := &targets{client: c, pages: map[proto.BrowserBrowserContextID]*page{}, contexts: map[proto.BrowserBrowserContextID]bool{},
		refused: map[proto.TargetTargetID]bool{}}
	c.Listen("", t.event)
	err := proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true}.Call(c.Browser(ctx))
	if err != nil {
		return nil, err
	}
	return t, t.declineChallenges(ctx)
}

// register makes the page receive the targets of its context; unregister ends that.
func (t *targets) register(p *page) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pages[p.context], t.contexts[p.context] = p, true
}

// created notes a context of ours that no run uses.
func (t *targets) created(c proto.BrowserBrowserContextID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.contexts[c] = true
}

// disposed notes that the context of a page is gone.
func (t *targets) disposed(p *page) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.contexts, p.context)
}

// leftContexts are the contexts that may still exist.
func (t *targets) leftContexts() []proto.BrowserBrowserContextID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.contexts))
}

func (t *targets) unregister(p *page) {
	t.mu.Lock()
	delete(t.pages, p.context)
	t.mu.Unlock()
	p.mu.Lock()
	session := p.session // it may be set concurrently
	p.mu.Unlock()
	for _, own := range append(p.openPopups(), p) {
		for _, f := range own.currentFrames() { // the page may be changing them
			t.client.Unlisten(f.session)
		}
	}
	if session != "" { // it was attached; the empty session is the browser's
		t.client.Unlisten(session)
	}
}

// event handles the events of the browser's own session. It passes new targets to the
// page whose context they are in.
func (t *targets) event(method string, params json.RawMessage) {
	if method == "Target.detachedFromTarget" {
		if e, ok := cdp.Decode[proto.TargetDetachedFromTarget](params); ok {
			t.mu.Lock()
			delete(t.refused, e.TargetID)
			t.mu.Unlock()
			t.detached(e.SessionID)
		}
		return
	}
	if strings.HasPrefix(method, "Fetch.") {
		t.answerPaused(method, params)
		return
	}
	if strings.HasPrefix(method, "Browser.download") {
		t.downloadEvent(method, params)
		return
	}
	if method != "Target.attachedToTarget" {
		return
	}
	e, ok := cdp.Decode[proto.TargetAttachedToTarget](params)
	if !ok || e.TargetInfo == nil {
		return
	}
	t.mu.Lock()
	p := t.pages[e.TargetInfo.BrowserContextID]
	t.mu.Unlock()
	if p != nil && e.TargetInfo.Type == proto.TargetTargetInfoTypePage {
		p.targetAttached(&e)
		return
	}
	if p != nil { // a worker that is no single page's
		p.sendUserAgent(e.SessionID)
	}
	t.client.ResumeTarget(&e)
}

// detached handles the end of a target: a page, a popup or a worker.
func (t *targets) detached(session proto.TargetSessionID) {
	t.client.Unlisten(session)
	for _, p := range t.currentPages() {
		p.popupClosed(session)
	}
}

// currentPages are the pages that are registered, in any order.
func (t *targets) currentPages() []*page {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.pages))
}
