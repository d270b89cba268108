// Package recorder opens a browser with a window and reports what a person does in it, as the
// events of a recording.
package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser"
	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/browser/sitestorage"
	"rote/routine/browserstate"
	"rote/routine/recording"
)

// Config is how to open a window.
type Config struct {
	// Executable is a browser that can open windows: see [chromium.FindWindowed].
	Executable string
	// URL is the page to start with.
	URL string
	// Proxy is the address of the proxy through which the pages reach the network.
	Proxy string
	// State is the login with which the pages start; nil: none. UserAgent is that of the pages;
	// empty: that of the browser.
	State     *browserstate.State
	UserAgent string
	// Warn is called with what the confinement of the browser lacks, and why.
	Warn func(lacks string, why error)
	// Headless opens no window, for tests.
	Headless bool
}

const (
	// openTime is how long the browser may take to open its window.
	openTime = 60 * time.Second
	// askTime is how long the pages may take to answer a question.
	askTime = 2 * time.Second
	// maxWaiting is how many events may wait to be handled; a person does not get that far ahead.
	maxWaiting = 1000
)

// Window is a browser with a window of a person. Its profile is in a temporary directory.
type Window struct {
	process *chromium.Process
	client  *cdp.Client
	config  Config
	script  string

	mu sync.Mutex
	// views are the pages, and the frames with processes of their own, by their sessions.
	views map[proto.TargetSessionID]*view
	// pages counts those that are open.
	pages int

	opened  chan struct{}        // has room for one signal
	pending chan func()          // what the handling goroutine does next
	events  chan recording.Event // to the reader
	closed  chan struct{}
	stop    context.CancelFunc
	ctx     context.Context
	handled sync.WaitGroup
	once    sync.Once
}

// Open opens a browser with one page, and goes to its URL. Profiles that killed processes have
// left are removed.
func Open(ctx context.Context, c Config) (*Window, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	chromium.RemoveOldProfiles()
	launcher := chromium.Launcher{Warn: c.Warn, Window: &chromium.Window{Headless: c.Headless, Proxy: c.Proxy}}
	process, err := launcher.Start(ctx, c.Executable)
	if err != nil {
		return nil, err
	}
	w := &Window{process: process, client: process.Client(), config: c, script: browser.RecorderScript(), views: map[proto.TargetSessionID]*view{},
		opened: make(chan struct{}, 1), pending: make(chan func(), maxWaiting), events: make(chan recording.Event), closed: make(chan struct{})}
	w.ctx, w.stop = context.WithCancel(context.Background())
	if err := w.open(ctx); err != nil {
		w.stop()
		process.Close()
		return nil, fmt.Errorf("open a window: %w", err)
	}
	w.handled.Go(w.handle)
	return w, nil
}

func (w *Window) open(ctx context.Context) error {
	w.client.Listen("", func(method string, params json.RawMessage) { w.event(nil, method, params) })
	// The files end with the browser: only that there are some matters.
	downloads := proto.BrowserSetDownloadBehavior{Behavior: proto.BrowserSetDownloadBehaviorBehaviorAllow, DownloadPath: w.process.Home(), EventsEnabled: true}
	if err := downloads.Call(w.client.Browser(ctx)); err != nil {
		return err
	}
	err := proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true, Filter: proto.TargetTargetFilter{{Type: "page"}}}.
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
	if err := w.logIn(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for session, v := range w.views {
		v.asked = true
		// The person sees whether the page loads.
		w.client.Send(session, "Page.navigate", proto.PageNavigate{URL: w.config.URL}).Forget()
	}
	w.send(recording.Event{Kind: recording.Navigate, URL: w.config.URL, Page: w.firstPage()})
	return nil
}

// logIn gives the browser the login with which it starts, before it has a page of a site.
func (w *Window) logIn(ctx context.Context) error {
	if w.config.State == nil {
		return nil
	}
	set := map[string]any{"cookies": w.config.State.Cookies}
	if _, err := w.client.Send("", "Storage.setCookies", set).Wait(ctx); err != nil {
		return fmt.Errorf("set the saved cookies: %w", err)
	}
	storage, err := sitestorage.Open(ctx, w.client)
	if err != nil {
		return err
	}
	defer storage.Close()
	for _, o := range w.config.State.Storage {
		if err := storage.Write(ctx, o.Origin, o.Items); err != nil {
			return fmt.Errorf("restore the storage of %s: %w", o.Origin, err)
		}
	}
	return nil
}

// firstPage is the page that is there. w.mu is held.
func (w *Window) firstPage() string {
	for _, v := range w.views {
		return v.page
	}
	return ""
}

// Events returns what the person does. It must be read.
func (w *Window) Events() <-chan recording.Event { return w.events }

// Closed is closed when the person has closed the last page, or the browser has ended.
func (w *Window) Closed() <-chan struct{} { return w.closed }

// Client is the connection to the browser, for tests that act as the person.
func (w *Window) Client() *cdp.Client { return w.client }

// Close ends the browser and removes its profile. It may be called more than once.
func (w *Window) Close() {
	w.once.Do(func() {
		w.stop()
		w.process.Close()
		w.handled.Wait()
	})
}

// handle handles events in their order. It may ask the pages, which the reading goroutine of the
// client must not.
func (w *Window) handle() {
	for {
		select {
		case next := <-w.pending:
			next()
		case <-w.client.Done():
			close(w.closed)
			return
		case <-w.ctx.Done():
			return
		}
	}
}

// later makes the handling goroutine do something. What is more than maxWaiting is dropped.
func (w *Window) later(do func()) {
	select {
	case w.pending <- do:
	default: // the pages send more than a person can do
	}
}

// send gives an event to the reader, in its turn.
func (w *Window) send(e recording.Event) {
	e.At = time.Now()
	w.later(func() { w.give(e) })
}

// give gives an event to the reader.
func (w *Window) give(e recording.Event) {
	select {
	case w.events <- e:
	case <-w.ctx.Done():
	}
}

// errNoPointer is the error for a mark while the pointer is over no page.
var errNoPointer = errors.New("the pointer is over no element of a page: move it over the result first, or click the result with Alt")

// Mark makes the element under the pointer a result.
func (w *Window) Mark(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var latest float64
	var at world
	for _, in := range w.worlds(ctx) {
		since, err := evaluate[float64](ctx, in, "rotePointedAt()")
		if err == nil && since > latest {
			latest, at = since, in
		}
	}
	if latest == 0 {
		return errNoPointer
	}
	_, err := evaluate[*int](ctx, at, "void roteMark()")
	return err
}
