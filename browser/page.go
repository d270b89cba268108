package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/egress"
	"rote/routine"
)

// page is a tab in the browser context of a run, behind the run's own proxy. Its parts
// are described where they are used; mu guards their fields, unless they say otherwise.
//
// The page of a popup shares the context and the proxy of the run. What belongs to the
// whole run is kept by the run's first page, under its lock. A popup's lock may be held
// while that of the first page is taken, never the other way round.
type page struct {
	b       *Browser
	i       *instance
	proxy   *egress.Proxy
	context proto.BrowserBrowserContextID
	target  proto.TargetTargetID // also the id of the main frame
	session proto.TargetSessionID
	// attachedTo is closed when target and session are known.
	attachedTo chan struct{}
	closing    sync.Once
	// priming reports whether prime is at work; it needs no lock. credentialsGiven reports whether
	// the browser has got the credentials of the proxy; only the reading goroutine uses it.
	priming          atomic.Bool // prime.go
	credentialsGiven bool
	// withoutSite reports whether Fetch opens no page of the site. Only the run's goroutine
	// uses it.
	withoutSite bool
	// preparable reports whether pages can be prepared for runs like the page's.
	preparable bool
	// requestsTo is the origin of the empty document that the page has, for a run that only
	// makes requests and keeps no state; empty if it has none.
	requestsTo string

	// Guarded by Browser.mu.

	// rehearsed reports whether the page was rehearsed, while it was ready; rehearsal is
	// the one under way.
	rehearsed bool
	rehearsal *rehearsal
	endedAt   time.Time // when its run has ended
	// runEnded frees what the run has on the Browser; nil while the page has no run.
	runEnded func()

	mu       sync.Mutex
	nav      navigation    // page_events.go
	end      pageEnd       // page_end.go
	warnings warningList   // page_events.go
	frames   frameTree     // frames.go
	guarding guarding      // page_guard.go
	input    inputState    // keys.go
	console  consoleOutput // script.go
	denials  denials       // requests.go
	trace    trace         // trace.go
	chooser  *chooser      // files.go: what the page has asked for while files are handed in
	asPopup  popupState    // popups.go
	// sending is the request with secrets that is under way; nil if there is none.
	sending atomic.Pointer[releasedRequest] // released_request.go; needs no lock

	// Of the run, and so of its first page only.

	// turn is the Turn of the run's [routine.PageOptions]; nil: data never waits.
	turn func(ctx context.Context) (release func(), err error)
	// tabs are the page and the popups that the run follows.
	tabs      *tabs
	windows   windows        // popups.go
	downloads downloads      // downloads.go
	storage   projectStorage // storage_state.go
	clipboard string         // clipboard.go: JSON of what the run has copied, see copied
	released  releases       // secret_exposed.go
	// acceptsDialogs reports whether dialogs are accepted; otherwise they are dismissed.
	acceptsDialogs atomic.Bool // dialogs.go; needs no lock
	// log are the run's requests; nil if they are not recorded.
	log atomic.Pointer[requestLog] // request_log.go; needs no lock
	// blocks are the types of resources that are not loaded; nil if all are loaded.
	blocks atomic.Pointer[blockedTypes] // block.go; needs no lock
	// watch has the secrets that requests must not carry; nil if there are none.
	watch atomic.Pointer[secretWatch] // secret_watch.go; needs no lock
	// userAgent is that of the run; nil: that of the browser.
	userAgent atomic.Pointer[string] // user_agent.go; needs no lock
}

// openTime and disposeTime bound the creation and the disposal of a context. Both take
// milliseconds, even with a hung renderer. A browser that needs longer is suspect.
const (
	openTime    = 20 * time.Second
	disposeTime = 2 * time.Second
)

// newPage creates a context with a page that is ready to be used, under an egress policy.
func newPage(b *Browser, i *instance, policy *egress.Policy) (*page, error) {
	proxy, err := b.openProxy(i, policy)
	if err != nil {
		return nil, unavailable(fmt.Errorf("listen for its proxy: %w", err))
	}
	p := blankPage(b, i, proxy)
	ctx, cancel := context.WithTimeout(context.Background(), openTime)
	defer cancel()
	err = p.open(ctx, "http://"+proxy.Addr())
	if err == nil {
		err = p.prime(ctx, primeTime)
	}
	if err != nil {
		_ = p.disposeContext()
		if ctx.Err() != nil {
			return nil, unavailable(fmt.Errorf("open a page: %w", silentError{openTime}))
		}
		return nil, fmt.Errorf("open a page: %w", p.failure(ctx, err))
	}
	return p, nil
}

func blankPage(b *Browser, i *instance, proxy *egress.Proxy) *page {
	p := &page{b: b, i: i, proxy: proxy, attachedTo: make(chan struct{}), input: inputState{acting: &atomic.Bool{}},
		nav: navigation{state: navState{url: "about:blank"}, changed: make(chan struct{})},
		end: pageEnd{dead: make(chan struct{})}, guarding: guarding{realms: map[proto.RuntimeExecutionContextID]bool{}}}
	p.frames = frameTree{top: &frameView{p: p}, reach: map[proto.PageFrameID]*frameView{}}
	p.tabs = &tabs{first: p}
	return p
}

// startRun assigns a ready page to a run: its egress rules, its stored state and its
// options.
func (p *page) startRun(ctx context.Context, o routine.PageOptions) error {
	if err := p.b.stopRehearsal(ctx, p); err != nil {
		return p.failure(ctx, err)
	}
	p.turn, p.withoutSite = o.Turn, o.RequestsOnly
	p.preparable = canPrepare(o)
	if o.Lifetime > 0 {
		p.proxy.SetTime(o.Lifetime)
	}
	p.proxy.Observe(o.Connecting)
	if len(o.AllowedHosts) > 0 {
		if err := p.proxy.Narrow(o.AllowedHosts); err != nil {
			return routine.Errorf(routine.CodeForbidden, "the hosts that the caller's runs are limited to: %w", err)
		}
	}
	p.mu.Lock()
	p.downloads.maxBytes = o.MaxFiles
	p.mu.Unlock()
	if o.Watch {
		if err := p.watchRequests(ctx); err != nil {
			return p.failure(ctx, err)
		}
	}
	if err := p.setUserAgent(ctx, o.UserAgent); err != nil {
		return p.failure(ctx, err)
	}
	if o.KeepState {
		if err := p.restore(ctx, o.State); err != nil {
			return p.failure(ctx, err)
		}
	}
	return p.failure(ctx, p.blockTypes(ctx, o.Block))
}

// open creates the context and its page. All traffic of the context uses the proxy.
func (p *page) open(ctx context.Context, proxy string) error {
	browser := p.i.client.Browser(ctx)
	made, err := proto.TargetCreateBrowserContext{ProxyServer: proxy, ProxyBypassList: "<-loopback>", DisposeOnDetach: true}.Call(browser)
	if err != nil {
		return err
	}
	if !fileID.MatchString(string(made.BrowserContextID)) {
		return fmt.Errorf("the browser gave a context the id %q", routine.Truncate(string(made.BrowserContextID), 100))
	}
	p.context = made.BrowserContextID
	p.i.targets.register(p)
	allowed := p.allowDownloads()
	opened := p.i.client.Send("", "Target.createTarget", proto.TargetCreateTarget{URL: "about:blank", BrowserContextID: p.context})
	if _, err := allowed.Wait(ctx); err != nil {
		return err
	}
	select { // it is attached before createTarget is answered
	case <-p.attachedTo:
	case a := <-opened.Answer():
		if a.Err != nil {
			return a.Err
		}
	case <-ctx.Done():
	}
	select {
	case <-p.attachedTo:
	case <-p.i.client.Done():
		return cdp.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return cdp.CallAll(ctx, p, append(eachPage, proto.RuntimeRunIfWaitingForDebugger{})...)
}

// eachPage are the requests that set up each page before its scripts run: they enable
// its events and add the helper and the tracking of its frames. Focus emulation makes
// full Chromium draw the page also behind another window of the run.
var eachPage = []proto.Request{
	proto.EmulationSetFocusEmulationEnabled{Enabled: true},
	proto.PageEnable{}, proto.RuntimeEnable{}, networkEnable{}, proto.RuntimeAddBinding{Name: tellRun},
	helperEverywhere, pageCodeEverywhere,
	proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true},
}

func (p *page) viewed() *frameView { return p.frames.top }

// networkEnable is Network.enable without buffers for bodies, which nothing reads, and
// with events that leave out the bodies of uploads. 0 would mean that these are
// included at any size, so their limit is 1 byte.
type networkEnable struct{}

func (networkEnable) ProtoReq() string { return "Network.enable" }
func (networkEnable) MarshalJSON() ([]byte, error) {
	return []byte(`{"maxTotalBufferSize":0,"maxResourceBufferSize":0,"maxPostDataSize":1}`), nil
}

// Send writes a request to the page's session and does not wait for the answer.
func (p *page) Send(m proto.Request) *cdp.Future { return p.SendAll(m)[0] }

// SendAll is Send for several requests, which are written together.
func (p *page) SendAll(ms ...proto.Request) []*cdp.Future {
	for _, m := range ms {
		if strings.HasPrefix(m.ProtoReq(), "Input.") {
			p.input.sent.Add(1)
		}
	}
	return p.i.client.SendAll(p.session, ms...)
}

// errCrashed is the error of calls to a page whose renderer has crashed.
var errCrashed = errors.New("the page crashed")

// Await returns the answer of f. It fails if ctx ends or the page crashes first, because
// a crashed page answers nothing any more.
func (p *page) Await(ctx context.Context, f *cdp.Future) ([]byte, error) {
	select {
	case a := <-f.Answer():
		return a.Result, a.Err
	case <-ctx.Done():
		f.Forget()
		return nil, context.Cause(ctx)
	case <-p.end.dead:
		f.Forget()
		return nil, errCrashed
	}
}

// failure converts an error of the protocol into one of package routine.
func (p *page) failure(ctx context.Context, err error) error {
	var ours *routine.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return err
	case errors.Is(err, errCrashed) && p.errBlocked() != nil:
		return p.errBlocked()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errCrashed) && p.isClosed():
		return routine.Errorf(routine.CodeNavigationFailed, "the popup was closed while the operation was at work")
	case errors.Is(err, errCrashed):
		return routine.Errorf(routine.CodeBrowserCrashed, "the page crashed")
	case errors.Is(err, cdp.ErrClosed):
		return routine.Errorf(routine.CodeBrowserCrashed, "the browser ended")
	case errors.Is(err, cdp.ErrOversize):
		return routine.Errorf(routine.CodeResultTooLarge, "the page gave more than %d MiB at once: ask it for less", cdp.MaxMessage>>20)
	case errors.Is(cdp.AsGone(err), cdp.ErrGone):
		return routine.Errorf(routine.CodeNavigationFailed, "the page was replaced while the operation was at work: wait for the new one first (wait_for_url)")
	}
	return err
}

// Close ends the network of the page and disposes of its context in the background, so that
// the run's result need not wait for that. Further calls do nothing.
func (p *page) Close() { p.closing.Do(func() { p.b.endPage(p) }) }

func (p *page) disposeContext() error {
	p.i.targets.unregister(p)
	if l := p.log.Load(); l != nil {
		l.stop()
	}
	defer p.proxy.Close()
	defer p.removeDownloads()
	p.mu.Lock()
	guards, disposing := p.guarding.all, p.end.disposing
	p.mu.Unlock()
	for _, g := range guards {
		defer g.Stop()
	}
	if p.context == "" || !p.i.alive() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), disposeTime)
	defer cancel()
	var err error
	if disposing != nil { // a script or a flood was blocked
		_, err = disposing.Wait(ctx)
	} else {
		err = proto.TargetDisposeBrowserContext{BrowserContextID: p.context}.Call(p.i.client.Browser(ctx))
	}
	switch {
	case err == nil:
		p.i.targets.disposed(p)
	case errors.Is(err, cdp.ErrClosed):
		return nil // the browser has ended, and the context with it
	}
	return err
}
