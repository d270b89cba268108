// Package browser is the Browser and the Pages of routine on Chromium. It
// speaks the DevTools Protocol through rod's typed definitions over a client of
// its own, because rod's page and element layer polls, locks and keeps what it
// is told; see client.go.
//
// One Chromium runs at a time, started on first use and warm between runs. Each
// run gets a browser context of its own that nothing else ever uses; disposing
// of it is the end of the run, whatever state the page is in.
package browser

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"rote/browser/egress"
	"rote/browser/tempdir"
	"rote/routine"
)

// A Chromium is replaced after so many runs or so long; runs that are on it
// finish there. Measured growth is 7 KiB a run, so this is hygiene.
const (
	maxRuns = 1000
	maxAge  = time.Hour
)

// Config is what a Browser is made of.
type Config struct {
	// Executable is the path of the browser; empty: the best that Find finds.
	Executable string
	// Egress decides what a run may reach.
	Egress *egress.Policy
	// MaxTraffic bounds the bytes that one run may send and receive; 0: none.
	MaxTraffic int64
	// Warm is how many contexts are kept ready; 0: one per core.
	Warm int
	Log  *slog.Logger
}

// Browser is a supervised Chromium.
type Browser struct {
	config    Config
	maxRuns   int
	loadBound time.Duration
	launcher  launcher

	mu       sync.Mutex
	current  *instance
	starting *start
	failures []time.Time // of late, for the back-off
	closed   bool
	work     sync.WaitGroup // background work: starting, warming, draining
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
	return &Browser{config: c, maxRuns: maxRuns, loadBound: loadBound, launcher: launcher{warn: func(lacks string, why error) {
		c.Log.Warn("BROWSER IS NOT CONFINED: "+lacks, "because", why)
	}}}
}

// instance is one Chromium with its ready pages.
type instance struct {
	*process
	born time.Time

	// Guarded by Browser.mu.
	ready   []*page
	warming int
	users   int // pages out, and warming in progress
	runs    int
	retired bool
}

// alive tells whether the connection still stands.
func (i *instance) alive() bool {
	select {
	case <-i.client.done:
		return false
	default:
		return true
	}
}

// Open gives a page in a fresh context: a ready one, else one made now.
func (b *Browser) Open(ctx context.Context, o routine.Opening) (routine.Page, error) {
	for range 2 { // a second time when the browser died in between
		i, ready, err := b.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if ready == nil {
			if ready, err = newPage(ctx, b, i); err != nil {
				dead := !i.alive()
				b.release(i, dead)
				if dead {
					continue
				}
				return nil, err
			}
		}
		if err := ready.begin(o); err != nil {
			return nil, errors.Join(err, ready.Close())
		}
		return ready, nil
	}
	return nil, unavailable("open a page", errors.New("the browser ended twice in a row"))
}

// limits are what the traffic of one run is held to. A page that is open for
// longer than any run may take has been forgotten.
func (b *Browser) limits() egress.Limits {
	return egress.Limits{Bytes: b.config.MaxTraffic, Time: routine.MaxRunTimeout + disposeTime}
}

// acquire takes a place on the current instance, starting or replacing it
// first where needed, and a ready page when there is one.
func (b *Browser) acquire(ctx context.Context) (*instance, *page, error) {
	for {
		i, p, s, err := b.take()
		if err != nil || i != nil {
			return i, p, err
		}
		select {
		case <-s.done:
			if s.err != nil {
				return nil, nil, s.err
			}
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
	if i := b.current; i != nil && !i.alive() {
		b.failures = append(b.failures, time.Now())
		b.retire(i)
	}
	if i := b.current; i != nil && (i.runs >= b.maxRuns || time.Since(i.born) > maxAge) {
		b.retire(i)
	}
	i := b.current
	if i == nil {
		s, err := b.begin()
		return nil, nil, s, err
	}
	i.users++
	i.runs++
	for len(i.ready) > 0 {
		p := i.ready[len(i.ready)-1]
		i.ready = i.ready[:len(i.ready)-1]
		if p.usable() {
			return i, p, nil, nil
		}
		b.background(i, func() { _ = p.dispose() })
	}
	return i, nil, nil, nil
}

var errClosing = &routine.Error{Code: routine.CodeShuttingDown, Message: "the browser is being closed"}

// A browser that has failed so often within the window is not started again at
// once.
const (
	maxFailures   = 5
	failureWindow = time.Minute
)

// start is a Chromium coming up. It belongs to no caller: one that gives up
// does not end it for the others.
type start struct {
	done chan struct{}
	err  error // set before done is closed
}

// begin starts an instance in the background, or joins the start under way. The
// lock is held.
func (b *Browser) begin() (*start, error) {
	if b.starting != nil {
		return b.starting, nil
	}
	now := time.Now()
	for len(b.failures) > 0 && now.Sub(b.failures[0]) > failureWindow {
		b.failures = b.failures[1:]
	}
	if len(b.failures) >= maxFailures {
		return nil, unavailable("start it", errors.New("it failed five times within a minute"))
	}
	executable, err := Find(b.config.Executable)
	if err != nil {
		return nil, unavailable("find one (rote browser install gets it)", err)
	}
	s := &start{done: make(chan struct{})}
	b.starting = s
	b.work.Go(func() {
		p, err := b.launcher.start(context.Background(), executable) // bounds itself
		b.mu.Lock()
		defer b.mu.Unlock()
		b.starting, s.err = nil, err
		switch {
		case err != nil:
			b.failures = append(b.failures, time.Now())
		case b.closed:
			s.err = errClosing
			b.work.Go(p.close)
		default:
			b.config.Log.Info("browser started", "executable", executable)
			b.current = &instance{process: p, born: time.Now()}
		}
		close(s.done)
	})
	return s, nil
}

// retire lets nothing new onto the instance and closes it when the last page on
// it is gone. The lock is held.
func (b *Browser) retire(i *instance) {
	if i.retired {
		return
	}
	i.retired = true
	if b.current == i {
		b.current = nil
	}
	for _, p := range i.ready {
		b.work.Go(p.proxy.Close)
	}
	i.ready = nil
	b.settle(i)
}

// release gives the place back; suspect tells that the instance should not be
// used any more.
func (b *Browser) release(i *instance, suspect bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i.users--
	if suspect {
		b.retire(i)
	}
	b.settle(i)
	b.warm(i)
}

// settle closes a retired instance that nobody is on any more. The lock is
// held.
func (b *Browser) settle(i *instance) {
	if i.retired && i.users == 0 {
		b.work.Go(i.process.close)
	}
}

// warm makes contexts ready in the background until there are enough. The lock
// is held.
func (b *Browser) warm(i *instance) {
	for !b.closed && !i.retired && len(i.ready)+i.warming < b.config.Warm {
		i.warming++
		b.background(i, func() {
			ctx, cancel := context.WithTimeout(context.Background(), startTime)
			defer cancel()
			p, err := newPage(ctx, b, i)
			b.mu.Lock()
			defer b.mu.Unlock()
			i.warming--
			switch {
			case err != nil && (b.closed || i.retired || !i.alive()): // expected then
			case err != nil:
				b.config.Log.Warn("no context could be made ready", "error", err)
			case i.retired || b.closed:
				p.proxy.Close()
			default:
				i.ready = append(i.ready, p)
			}
		})
	}
}

// background does work that keeps the instance open. The lock is held.
func (b *Browser) background(i *instance, do func()) {
	i.users++
	b.work.Go(func() {
		do()
		b.mu.Lock()
		defer b.mu.Unlock()
		i.users--
		b.settle(i)
	})
}

// Close ends the browser and everything in it and waits until nothing of it is
// left. Pages that are still open fail.
func (b *Browser) Close() {
	b.mu.Lock()
	b.closed = true
	i := b.current
	if i != nil {
		i.users++
		b.retire(i)
	}
	b.mu.Unlock()
	if i != nil {
		i.process.close() // ends what still uses it
		b.mu.Lock()
		i.users--
		b.mu.Unlock()
	}
	b.work.Wait()
}
