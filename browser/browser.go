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
	"errors"
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
	// MaxTraffic bounds the bytes that one run, or one page of a lesson, may send and
	// receive; 0 for no bound.
	MaxTraffic int64
	// MaxMemory bounds the data segment of each browser process in bytes, on Linux
	// only: a page that needs more crashes, and no other. 0 for no bound.
	MaxMemory int64
	// Warm is how many contexts are kept ready; 0 for one per core, negative for none. After
	// a burst of more runs it is as many as the burst had, for some minutes.
	Warm int
	// MaxContexts bounds the contexts for this: at that number no more are made ready, and
	// those of ended runs are disposed of at once. 0 for twice Warm.
	MaxContexts int
	// Gateway is how browsers that rote has not started reach the proxies of their runs; nil if
	// they do so on the loopback interface of this machine.
	Gateway *egress.Gateway
	// Unverified reports whether browsers that rote has not started may be used if they are not
	// verified to confine their pages.
	Unverified bool
	Log        *slog.Logger
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
	// remote reports whether another program has started the browser. Then there is only that
	// one: it is not replaced, and the pool connects to it again when the connection was lost.
	remote bool
	// changed, if it is set, is called when the browser may have become usable or unusable. It
	// must not block.
	changed func()
	// outlineTime and lookTime are the constants', but in tests.
	outlineTime, lookTime time.Duration
	// pageLifetime is how long a page may use the network if its options do not say it. A
	// page that is open for longer than any run may take was never closed.
	pageLifetime time.Duration

	mu        sync.Mutex
	current   *instance
	instances map[*instance]bool // current, and retired ones until they are closed
	starting  *start
	// startFailure is why the last start failed; nil if it did not.
	startFailure error
	failures     []time.Time // recent ones, for the back-off
	// breaker says when a browser of a pool may be started again; nil outside of a pool.
	breaker   *breaker
	lastStart time.Time
	// busyUntil is until when a browser elsewhere has no room for another connection.
	busyUntil time.Time
	// leftBy are the targets of the connection before; nil if there was none.
	leftBy *targets
	// reserved is the address of the browser that pages may not reach; empty if there is none.
	reserved string
	counts   routine.BrowserStatistics
	closed   bool
	work     sync.WaitGroup // background work: starting, warming, watching, closing
	// runs is how many runs wait for a page or have one, working how many of them have a
	// place on an instance, and lastChange when one has last got or left its place.
	runs, working int
	lastChange    time.Time
	target        readyTarget
	starts        startSlots
	processors    int           // as many as there are start slots, but in tests
	endedTime     time.Duration // the constant, but in tests
}

var _ routine.Browser = (*Browser)(nil)

// New creates a Browser. It starts nothing, and removes profiles that killed processes
// have left behind.
func New(c Config) *Browser {
	if c.Warm == 0 {
		c.Warm = runtime.NumCPU()
	}
	if c.MaxContexts == 0 {
		c.MaxContexts = 2 * c.Warm
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Browser{
		config: c, lifetime: defaultLifetime,
		loadBound: loadBound, answerBound: answerBound, startBounds: defaultStartBounds, openBound: openBound,
		outlineTime: outlineTime, lookTime: lookTime,
		pageLifetime: routine.MaxRunTimeout + disposeTime,
		instances:    map[*instance]bool{},
		launcher:     newLocalLauncher(c),
		starts:       make(startSlots, runtime.GOMAXPROCS(0)),
		processors:   runtime.GOMAXPROCS(0),
		target:       readyTarget{since: time.Now()},
		endedTime:    endedTime,
	}
}

// openAttempts is how many browsers may end, or stop answering, during one call of Open.
const openAttempts = 4

// Open returns a page in a fresh context: a ready one, or else a new one. A browser that
// does not start or does not answer is replaced while Open waits.
func (b *Browser) Open(ctx context.Context, o routine.PageOptions) (routine.Page, error) {
	return b.openPage(ctx, o, func() {})
}

// openPage is Open with a function that is called when the run of the page has ended.
func (b *Browser) openPage(ctx context.Context, o routine.PageOptions, ended func()) (routine.Page, error) {
	runEnded := b.runBegan()
	freeSlot, err := b.starts.take(ctx)
	if err != nil {
		runEnded()
		return nil, err
	}
	p, err := b.open(ctx, o)
	if err != nil {
		freeSlot()
		runEnded()
		return nil, err
	}
	b.mu.Lock()
	p.runEnded = func() { freeSlot(); runEnded(); ended() }
	b.mu.Unlock()
	return p.tabs, nil
}

// runBegan counts a run until ended is called.
func (b *Browser) runBegan() (ended func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs++
	b.target.note(b.runs)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.runs--
	}
}

// open is Open for a run that may start now.
func (b *Browser) open(ctx context.Context, o routine.PageOptions) (*page, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, b.openBound, unavailable(fmt.Errorf("no page could be opened within %v", b.openBound)))
	defer cancel()
	for range openAttempts { // again when the browser ended in between
		i, p, err := b.acquire(bounded, o)
		if err != nil {
			return nil, err
		}
		attempt, stop := i.whileAlive(bounded)
		if p == nil {
			p, err = b.newReadyPage(attempt, i)
		}
		if err != nil {
			dead := !i.alive()
			b.giveBack(i, bounded.Err() != nil && ctx.Err() == nil)
			stop()
			if dead && bounded.Err() == nil {
				continue
			}
			return nil, err
		}
		err = p.startRun(attempt, o)
		stop()
		if err == nil {
			return p, nil
		}
		p.Close()
		if i.alive() || bounded.Err() != nil {
			return nil, err
		}
	}
	return nil, unavailable(fmt.Errorf("open a page: the browser ended %d times in a row", openAttempts))
}

// limits are the limits for the traffic of one page.
func (b *Browser) limits() egress.Limits {
	return egress.Limits{Bytes: b.config.MaxTraffic, Time: b.pageLifetime}
}

// acquire reserves a place on the current instance, which it starts first if there is
// none, and takes a ready page if there is one. After a browser that did not answer it
// waits for one more.
func (b *Browser) acquire(ctx context.Context, o routine.PageOptions) (*instance, *page, error) {
	for again := true; ; {
		i, p, s, err := b.tryAcquire(o)
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
func (b *Browser) tryAcquire(o routine.PageOptions) (*instance, *page, *start, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, nil, errClosing
	}
	b.replaceDead()
	i := b.current
	if i == nil {
		if b.remote { // the pool connects to it again
			return nil, nil, nil, unavailable(errNotConnected)
		}
		s, err := b.startInstance()
		return nil, nil, s, err
	}
	i.users++
	i.runs++
	b.workStarted()
	if b.due(i) {
		_, _ = b.startInstance() // this one is used until the next has started
	}
	if p := b.takePrepared(i, o); p != nil {
		return i, p, nil, nil
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

// errNotConnected is the error of a run on a browser elsewhere whose connection was just lost.
var errNotConnected = errors.New("the connection to it was lost")

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
