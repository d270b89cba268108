// Package browser is the Browser and the Pages of routine on Chromium. It
// speaks the DevTools Protocol through package cdp and rod's typed definitions,
// because rod's page and element layer polls, locks and retains events.
//
// One Chromium runs at a time. It is started on first use and kept running between
// runs; supervisor.go says when it is replaced. Each run gets a browser context that
// nothing else ever uses. It is disposed of at the end of the run, whatever state the
// page is in.
//
// # Scripts
//
// js_evaluate runs in the page's main world, with the page's globals, while the page
// continues to run. A script that is proved to only read runs without a guard. Any
// other is watched until its document is gone; package guard says what it may not do, and
// what the guard does not prevent.
package browser

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"rote/browser/egress"
	"rote/routine"
)

// Config configures a Browser.
type Config struct {
	// Executable is the path of the browser; empty for the one that [chromium.Find] returns.
	Executable string
	// Egress decides which hosts a run may reach.
	Egress *egress.Policy
	// MaxTraffic bounds the bytes that one run may send and receive; 0 for no bound.
	MaxTraffic int64
	// MaxMemory bounds the data segment of each browser process in bytes, on Linux
	// only: a page that needs more crashes, and no other. 0 for no bound.
	MaxMemory int64
	// Warm is how many contexts are kept ready; 0 for one per core.
	Warm int
	Log  *slog.Logger
}

// Browser implements [routine.Browser] on a supervised Chromium.
type Browser struct {
	config      Config
	lifetime    processLifetime
	loadBound   time.Duration
	answerBound time.Duration
	startBounds startBounds
	openBound   time.Duration
	launcher    launcher
	// outlineTime is the constant's, but in tests.
	outlineTime time.Duration

	mu        sync.Mutex
	current   *instance
	instances map[*instance]bool // current, and retired ones until they are closed
	starting  *start
	// startFailure is why the last start failed; nil if it did not.
	startFailure error
	failures     []time.Time // recent ones, for the back-off
	counts       routine.BrowserStatistics
	closed       bool
	work         sync.WaitGroup // background work: starting, warming, watching, closing
}

var _ routine.Browser = (*Browser)(nil)

// New creates a Browser. It starts nothing, and removes profiles that killed processes
// have left behind.
func New(c Config) *Browser {
	if c.Warm == 0 {
		c.Warm = runtime.NumCPU()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Browser{
		config: c, lifetime: defaultLifetime,
		loadBound: loadBound, answerBound: answerBound, startBounds: defaultStartBounds, openBound: openBound, outlineTime: outlineTime,
		instances: map[*instance]bool{},
		launcher:  newLocalLauncher(c),
	}
}

// openAttempts is how many browsers may end, or stop answering, during one call of Open.
const openAttempts = 4

// Open returns a page in a fresh context: a ready one, or else a new one. A browser that
// does not start or does not answer is replaced while Open waits.
func (b *Browser) Open(ctx context.Context, o routine.PageOptions) (routine.Page, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, b.openBound, unavailable(fmt.Errorf("no page could be opened within %v", b.openBound)))
	defer cancel()
	for range openAttempts { // again when the browser ended in between
		i, p, err := b.acquire(bounded)
		if err != nil {
			return nil, err
		}
		attempt, stop := i.whileAlive(bounded)
		if p == nil {
			p, err = b.newReadyPage(attempt, i)
		}
		if err != nil {
			dead := !i.alive()
			b.release(i, bounded.Err() != nil && ctx.Err() == nil)
			stop()
			if dead && bounded.Err() == nil {
				continue
			}
			return nil, err
		}
		err = p.startRun(attempt, o)
		stop()
		if err == nil {
			return p.tabs, nil
		}
		p.Close()
		if i.alive() || bounded.Err() != nil {
			return nil, err
		}
	}
	return nil, unavailable(fmt.Errorf("open a page: the browser ended %d times in a row", openAttempts))
}

// limits are the limits for the traffic of one run. A page that is open for longer than
// any run may take was never closed.
func (b *Browser) limits() egress.Limits {
	return egress.Limits{Bytes: b.config.MaxTraffic, Time: routine.MaxRunTimeout + disposeTime}
}

// acquire reserves a place on the current instance, which it starts first if there is
// none, and takes a ready page if there is one. After a browser that did not answer it
// waits for one more.
func (b *Browser) acquire(ctx context.Context) (*instance, *page, error) {
	for again := true; ; {
		i, p, s, err := b.tryAcquire()
		if err != nil || i != nil {
			return i, p, err
		}
		select {
		case <-s.done:
			if s.err != nil && !(again && s.silent) {
				return nil, nil, s.err
			}
			again = again && s.err == nil
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// tryAcquire reserves a place without waiting, or returns the start to wait for.
func (b *Browser) tryAcquire() (*instance, *page, *start, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, nil, errClosing
	}
	b.replaceDead()
	i := b.current
	if i == nil {
		s, err := b.startInstance()
		return nil, nil, s, err
	}
	i.users++
	i.runs++
	if b.due(i) {
		_, _ = b.startInstance() // this one is used until the next has started
	}
	for len(i.ready) > 0 {
		p := i.ready[0]
		i.ready = i.ready[1:]
		if p.usable() {
			return i, p, nil, nil
		}
		b.discard(p)
	}
	return i, nil, nil, nil
}

var errClosing = &routine.Error{Code: routine.CodeShuttingDown, Message: "the browser is being closed"}

// Close ends the browser and waits until all its processes and files are gone. Pages
// that are still open fail.
func (b *Browser) Close() {
	b.mu.Lock()
	b.closed = true
	if b.starting != nil {
		b.starting.cancel()
	}
	for i := range b.instances {
		b.retire(i)
		delete(b.instances, i)
		b.work.Go(i.process.Close) // calls that still use it fail
	}
	b.mu.Unlock()
	b.work.Wait()
}
