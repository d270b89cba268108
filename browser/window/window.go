// Package window opens a browser with a window, in which a person logs in to a site, and reads
// the cookies and the local storage that the sites leave in it.
package window

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/browser/sitestorage"
	"rote/routine/browserstate"
)

// Config is how to open a window.
type Config struct {
	// Executable is a browser that can open windows: see [chromium.FindWindowed].
	Executable string
	// URL is the page to start with.
	URL string
	// Until matches the URL of a page with which the login is complete. It may be nil.
	Until *regexp.Regexp
	// Warn is called with what the confinement of the browser lacks, and why.
	Warn func(lacks string, why error)
	// Headless opens no window, for tests.
	Headless bool
}

const (
	// openTime is how long the browser may take to open its window.
	openTime = 60 * time.Second
	// readInterval is how often the state is read, in case the person quits the browser.
	readInterval = time.Second
	// settleTime is how long a page that Until matches may go on loading.
	settleTime = 10 * time.Second
)

// Window is a browser with a window of a person. Its profile is in a temporary directory.
type Window struct {
	process   *chromium.Process
	client    *cdp.Client
	storage   *sitestorage.Page
	until     *regexp.Regexp
	userAgent string

	mu sync.Mutex
	// tabs are the pages, by the session that watches them.
	tabs map[proto.TargetSessionID]*tab
	// origins are those of the documents, up to browserstate.MaxOrigins.
	origins map[string]bool

	reading sync.Mutex          // serializes State
	last    *browserstate.State // what State has read last; nil: nothing

	// These have room for one signal, and are sent by the goroutine that reads events.
	opened, emptied, matched, settled chan struct{}

	reached, closed chan struct{}
	stop, watched   chan struct{}
	once            sync.Once
}

// tab is a page.
type tab struct {
	target proto.TargetTargetID
	// loader is that of its document, and settled whether that one loads nothing more.
	loader  proto.NetworkLoaderID
	settled bool
	// matched reports whether Until has matched its URL.
	matched bool
}

// Open opens a browser with one page. Profiles that killed processes have left are removed.
func Open(ctx context.Context, c Config) (*Window, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	chromium.RemoveOldProfiles()
	launcher := chromium.Launcher{Warn: c.Warn, Window: &chromium.Window{Headless: c.Headless}}
	process, err := launcher.Start(ctx, c.Executable)
	if err != nil {
		return nil, err
	}
	one := func() chan struct{} { return make(chan struct{}, 1) }
	w := &Window{process: process, client: process.Client(), until: c.Until, tabs: map[proto.TargetSessionID]*tab{}, origins: map[string]bool{},
		opened: one(), emptied: one(), matched: one(), settled: one(),
		reached: make(chan struct{}), closed: make(chan struct{}), stop: make(chan struct{}), watched: make(chan struct{})}
	if err := w.open(ctx, c.URL); err != nil {
		process.Close()
		return nil, fmt.Errorf("open a window: %w", err)
	}
	go w.watch()
	return w, nil
}

func (w *Window) open(ctx context.Context, page string) error {
	version, err := proto.BrowserGetVersion{}.Call(w.client.Browser(ctx))
	if err != nil {
		return err
	}
	w.userAgent = version.UserAgent
	w.client.Listen("", func(method string, params json.RawMessage) { w.event("", method, params) })
	err = proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true, Filter: proto.TargetTargetFilter{{Type: "page"}}}.
		Call(w.client.Browser(ctx))
	if err != nil {
		return err
	}
	select {
	case <-w.opened:
	case <-w.client.Done():
		return w.client.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	w.mu.Lock()
	var first proto.TargetSessionID
	for session := range w.tabs {
		first = session
	}
	w.mu.Unlock()
	if w.storage, err = sitestorage.Open(ctx, w.client); err != nil {
		return err
	}
	// The person sees whether the page loads.
	w.client.Send(first, "Page.navigate", proto.PageNavigate{URL: page}).Forget()
	return nil
}

// UserAgent is what the browser calls itself to sites.
func (w *Window) UserAgent() string { return w.userAgent }

// Reached is closed when Until has matched and that page has loaded.
func (w *Window) Reached() <-chan struct{} { return w.reached }

// Closed is closed when the person has closed the last page, or the browser has ended.
func (w *Window) Closed() <-chan struct{} { return w.closed }

// Client is the connection to the browser, for tests that act as the person.
func (w *Window) Client() *cdp.Client { return w.client }

// Close ends the browser and removes its profile. It may be called more than once.
func (w *Window) Close() {
	w.once.Do(func() {
		close(w.stop)
		w.process.Close()
		<-w.watched
	})
}

// watch reads the state regularly, and decides when the person is done.
func (w *Window) watch() {
	defer close(w.watched)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(readInterval)
	defer tick.Stop()
	var late <-chan time.Time // when to wait no longer for a page that has matched
	matched, settled := w.matched, w.settled
	done := func() {
		close(w.reached)
		late, settled = nil, nil
	}
	for {
		select {
		case <-w.stop:
			return
		case <-w.client.Done():
			close(w.closed)
			return
		case <-w.emptied:
			if w.isEmpty(ctx) {
				_, _ = w.State(ctx) // before the browser may end too
				close(w.closed)
				return
			}
		case <-matched:
			matched, late = nil, time.After(settleTime)
		case <-settled:
			done()
		case <-late:
			done()
		case <-tick.C:
			_, _ = w.State(ctx)
			w.mu.Lock()
			if len(w.tabs) == 0 { // the last one may have been listed when isEmpty looked
				signal(w.emptied)
			}
			w.mu.Unlock()
		}
	}
}

// isEmpty reports whether the browser has no page.
func (w *Window) isEmpty(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	targets, err := proto.TargetGetTargets{}.Call(w.client.Browser(ctx))
	if err != nil {
		return false // if it has ended, Done is closed
	}
	for _, t := range targets.TargetInfos {
		if t.Type == "page" {
			return false
		}
	}
	return true
}

// event handles an event of a session. It must not block.
func (w *Window) event(session proto.TargetSessionID, method string, params json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch method {
	case "Target.attachedToTarget":
		if e, ok := cdp.Decode[proto.TargetAttachedToTarget](params); ok {
			w.attached(&e)
		}
	case "Target.detachedFromTarget":
		if e, ok := cdp.Decode[proto.TargetDetachedFromTarget](params); ok {
			w.detached(e.SessionID)
		}
	case "Page.frameNavigated":
		if e, ok := cdp.Decode[struct {
			Frame struct {
				ID     proto.PageFrameID     `json:"id"`
				Loader proto.NetworkLoaderID `json:"loaderId"`
				URL    string                `json:"url"`
			} `json:"frame"`
		}](params); ok {
			w.visit(e.Frame.URL)
			if t := w.tabs[session]; t != nil && t.isTop(e.Frame.ID) {
				t.loader, t.settled = e.Frame.Loader, false
				w.check(t, e.Frame.URL)
			}
		}
	case "Page.navigatedWithinDocument":
		if e, ok := cdp.Decode[proto.PageNavigatedWithinDocument](params); ok {
			if t := w.tabs[session]; t != nil && t.isTop(e.FrameID) {
				w.check(t, e.URL)
			}
		}
	case "Page.lifecycleEvent":
		if e, ok := cdp.Decode[proto.PageLifecycleEvent](params); ok && e.Name == proto.PageLifecycleEventNameNetworkIdle {
			if t := w.tabs[session]; t != nil && e.LoaderID == t.loader {
				t.settled = true
				w.check(t, "")
			}
		}
	}
}

// isTop reports whether a frame is that of the page itself.
func (t *tab) isTop(frame proto.PageFrameID) bool { return string(frame) == string(t.target) }

// attached watches a new page, or a frame with a process of its own. w.mu is held.
func (w *Window) attached(e *proto.TargetAttachedToTarget) {
	session := e.SessionID
	w.client.Listen(session, func(method string, params json.RawMessage) { w.event(session, method, params) })
	w.client.SendAll(session, proto.PageEnable{}, proto.PageSetLifecycleEventsEnabled{Enabled: true},
		proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true, Filter: proto.TargetTargetFilter{{Type: "iframe"}}})
	w.client.ResumeTarget(e)
	w.visit(e.TargetInfo.URL)
	if e.TargetInfo.Type == "page" {
		w.tabs[session] = &tab{target: e.TargetInfo.TargetID}
		signal(w.opened)
	}
}

// detached forgets a page or frame that is gone. w.mu is held.
func (w *Window) detached(session proto.TargetSessionID) {
	w.client.Unlisten(session)
	if w.tabs[session] == nil {
		return
	}
	if delete(w.tabs, session); len(w.tabs) == 0 {
		signal(w.emptied)
	}
}

// visit records the origin of a document. w.mu is held.
func (w *Window) visit(document string) {
	u, err := url.Parse(document)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && len(w.origins) < browserstate.MaxOrigins {
		w.origins[u.Scheme+"://"+u.Host] = true
	}
}

// check notes whether Until matches the URL of a page, and signals that it has matched and
// that the page has loaded then. w.mu is held.
func (w *Window) check(t *tab, at string) {
	if w.until == nil {
		return
	}
	if at != "" && w.until.MatchString(at) {
		t.matched = true
		signal(w.matched)
	}
	if t.matched && t.settled {
		signal(w.settled)
	}
}

// signal sends on a channel with room for one signal, unless one waits already.
func signal(on chan struct{}) {
	select {
	case on <- struct{}{}:
	default:
	}
}
