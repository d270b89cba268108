// Package browser is the Browser and the Pages of routine on Chromium. It
// speaks the DevTools Protocol through rod's typed definitions over a client of
// its own, because rod's page and element layer polls, locks and keeps what it
// is told; see client.go.
//
// One Chromium runs at a time, started on first use and warm between runs; see
// supervise.go for when it is replaced. Each run gets a browser context of its
// own that nothing else ever uses; disposing of it is the end of the run,
// whatever state the page is in.
//
// # Scripts
//
// js_evaluate runs in the page's own world, with the page's globals and while
// the page's own requests go on. A script that is proved to only read runs
// plainly. Any other is watched until its document is gone: what it starts
// reaches no network, runs no code made from strings, leaves no hook, opens and
// closes no window and navigates only by the page's own links and forms; what
// it tries ends the run. Whose doing something is, the nearest author's frame on
// the stack decides, followed through promises and timers. So these pass:
//
//   - deputies: a function of the page's that fetches or evaluates what it is
//     given ($.get(url)) does so for a script too, also when it is one of the
//     browser's that the page keeps under a name of its own;
//   - document.cookie = ..., which leaves with the page's next request;
//   - a prefetch over TLS that is written as HTML from pieces: it is noticed,
//     and ends the run, but may have connected by then;
//   - the functions of a frame that loads another document during the call, and
//     for a moment those of a popup that the page opens during it and keeps;
//   - what the run does with what a script has changed, as a click on a link.
//
// A load without a stack (backgrounds, fonts, media, lazy images, icons, what the
// page sends a frame of another site to) names nobody. Once a script may have drawn, those that the document did not hold
// before are refused until it is gone, the page's too, with a warning.
//
// All of it obeys the egress policy.
package browser

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"rote/browser/egress"
	"rote/browser/tempdir"
	"rote/routine"
)

// Config is what a Browser is made of.
type Config struct {
	// Executable is the path of the browser; empty: the best that Find finds.
	Executable string
	// Egress decides what a run may reach.
	Egress *egress.Policy
	// MaxTraffic bounds the bytes that one run may send and receive; 0: none.
	MaxTraffic int64
	// MaxMemory bounds the bytes of data of each process of the browser, where
	// the system can (Linux): a page that needs more fails, alone. 0: no bound.
	MaxMemory int64
	// Warm is how many contexts are kept ready; 0: one per core.
	Warm int
	Log  *slog.Logger
}

// Browser is a supervised Chromium.
type Browser struct {
	config      Config
	endurance   endurance
	loadBound   time.Duration
	answerBound time.Duration
	startBounds startBounds
	openBound   time.Duration
	launcher    launcher
	// outlineTime is the constant's, but in tests.
	outlineTime time.Duration

	mu       sync.Mutex
	current  *instance
	living   map[*instance]bool // current, and retired ones until they are closed
	starting *start
	// startFailure is why the last start failed; nil when it did not.
	startFailure error
	failures     []time.Time // of late, for the back-off
	counts       routine.BrowserStatistics
	closed       bool
	work         sync.WaitGroup // background work: starting, warming, watching, closing
}

var _ routine.Browser = (*Browser)(nil)

// New makes a Browser. Nothing is started before it is needed; profiles that
// killed processes have left are removed.
func New(c Config) *Browser {
	if c.Warm == 0 {
		c.Warm = runtime.NumCPU()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	tempdir.Sweep(profilePrefix)
	return &Browser{config: c, endurance: defaultEndurance, loadBound: loadBound, answerBound: answerBound, startBounds: defaultStartBounds, openBound: openBound, outlineTime: outlineTime, living: map[*instance]bool{}, launcher: launcher{memory: c.MaxMemory, warn: warnUnconfined(c.Log)}}
}

// openTries is how many browsers may end, or stop answering, under one Open.
const openTries = 4

// Open gives a page in a fresh context: a ready one, else one made now. A browser
// that does not start, or does not answer, is replaced meanwhile by another.
func (b *Browser) Open(ctx context.Context, o routine.Opening) (routine.Page, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, b.openBound, unavailable(fmt.Errorf("no page could be opened within %v", b.openBound)))
	defer cancel()
	for range openTries { // again when the browser ended in between
		i, p, err := b.acquire(bounded)
		if err != nil {
			return nil, err
		}
		attempt, stop := i.whileAlive(bounded)
		if p == nil {
			p, err = b.fresh(attempt, i)
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
		err = p.begin(attempt, o)
		stop()
		if err == nil {
			return p.tabs, nil
		}
		p.Close()
		if i.alive() || bounded.Err() != nil {
			return nil, err
		}
	}
	return nil, unavailable(fmt.Errorf("open a page: the browser ended %d times in a row", openTries))
}

// limits are what the traffic of one run is held to. A page that is open for
// longer than any run may take has been forgotten.
func (b *Browser) limits() egress.Limits {
	return egress.Limits{Bytes: b.config.MaxTraffic, Time: routine.MaxRunTimeout + disposeTime}
}

// acquire takes a place on the current instance, starting one first where
// needed, and a ready page when there is one. After a start that was not answered
// it waits for one more.
func (b *Browser) acquire(ctx context.Context) (*instance, *page, error) {
	for again := true; ; {
		i, p, s, err := b.take()
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

// take takes a place at once, or says what start to wait for.
func (b *Browser) take() (*instance, *page, *start, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, nil, errClosing
	}
	b.buryDead()
	i := b.current
	if i == nil {
		s, err := b.begin()
		return nil, nil, s, err
	}
	i.users++
	i.runs++
	if b.due(i) {
		_, _ = b.begin() // this one goes on until the next is there
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

// Close ends the browser and everything in it and waits until nothing of it is
// left. Pages that are still open fail.
func (b *Browser) Close() {
	b.mu.Lock()
	b.closed = true
	if b.starting != nil {
		b.starting.cancel()
	}
	for i := range b.living {
		b.retire(i)
		delete(b.living, i)
		b.work.Go(i.process.close) // ends what still uses it
	}
	b.mu.Unlock()
	b.work.Wait()
}
