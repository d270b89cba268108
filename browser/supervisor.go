package browser

import (
	"context"
	"fmt"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// processLifetime says when a Chromium process is replaced. It grows by 7 KiB per run, so
// replacing it is a precaution. Its runs finish on it, and the next process is started
// before it is retired.
type processLifetime struct {
	runs int
	age  time.Duration
	// memory bounds the memory of the processes that outlive a run, in bytes. Idle, those
	// of the headless shell take 130 MiB, those of full Chromium 240 MiB.
	memory int64
	// watch is how often a browser is checked, answer how long it has to answer. One that
	// does not is replaced, and killed after patience, so that its runs may still finish
	// if only the machine was slow.
	watch, answer, patience time.Duration
}

var defaultLifetime = processLifetime{
	runs: 1000, age: time.Hour, memory: 768 << 20,
	watch: 5 * time.Second, answer: 2 * time.Second, patience: 10 * time.Second,
}

// instance is a started browser with its ready pages.
type instance struct {
	process process
	client  *cdp.Client // of process
	targets *targets
	born    time.Time
	failed  chan struct{} // closed when it was given up because of a failure

	// Guarded by Browser.mu.
	ready   []*page
	filling bool
	users   int // pages in use, and background work on it
	runs    int
	memory  int64 // bytes, when last measured
	retired bool
}

// alive reports whether the connection is open and the browser has answered the last
// check.
func (i *instance) alive() bool {
	select {
	case <-i.failed:
		return false
	default:
		return i.client.Err() == nil
	}
}

// due reports whether the instance should be replaced. b.mu is held.
func (b *Browser) due(i *instance) bool {
	return i.runs >= b.lifetime.runs || time.Since(i.born) >= b.lifetime.age || i.memory > b.lifetime.memory
}

// After maxFailures failures within failureWindow, the next start is delayed.
const (
	maxFailures   = 5
	failureWindow = time.Minute
)

// start is a browser that is starting. It continues if a caller that waits for
// it gives up.
type start struct {
	done   chan struct{}
	err    error // set before done is closed, as is silent
	silent bool  // the browser did not answer
	cancel context.CancelFunc
}

// startInstance starts an instance in the background, or returns the start under way. b.mu is
// held.
func (b *Browser) startInstance() (*start, error) {
	if b.starting != nil {
		return b.starting, nil
	}
	now := time.Now()
	for len(b.failures) > 0 && now.Sub(b.failures[0]) > failureWindow {
		b.failures = b.failures[1:]
	}
	if len(b.failures) >= maxFailures {
		err := fmt.Errorf("it failed %d times within a minute, and is started again a minute after", maxFailures)
		if b.startFailure != nil {
			err = fmt.Errorf("%w. The last start: %w", err, b.startFailure)
		}
		return nil, unavailable(err)
	}
	executable, err := b.launcher.Find()
	if err != nil {
		return nil, unavailable(fmt.Errorf("find one (rote browser install gets it): %w", err))
	}
	within := b.startBounds.first
	if isSilent(b.startFailure) {
		within = b.startBounds.next
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &start{done: make(chan struct{}), cancel: cancel}
	b.starting = s
	successor := b.current != nil
	b.work.Go(func() {
		defer close(s.done)
		defer cancel()
		i, err := b.launch(ctx, executable, within)
		if err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.starting, b.startFailure = nil, err
			s.err, s.silent = unavailable(err), isSilent(err)
			b.noteFailure()
			if !b.closed {
				b.config.Log.Error("the browser did not start", "error", err)
			}
			return
		}
		b.config.Log.Info("browser started", "executable", executable)
		for successor && b.makeReady(i) {
		}
		s.err = b.setCurrent(i)
	})
	return s, nil
}

// launch starts a browser. It fails with a silentError if that does not answer in time.
func (b *Browser) launch(ctx context.Context, executable string, within time.Duration) (*instance, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, silentError{within})
	defer cancel()
	p, err := b.launcher.Start(ctx, executable)
	if err != nil {
		return nil, err
	}
	t, err := attachTargets(ctx, p.Client())
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("set up %s: %w", executable, err)
	}
	return &instance{process: p, client: p.Client(), targets: t, born: time.Now(), failed: make(chan struct{})}, nil
}

// setCurrent makes i the current instance.
func (b *Browser) setCurrent(i *instance) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.starting, b.startFailure = nil, nil
	b.instances[i] = true
	b.counts.Starts++
	if b.closed {
		b.retire(i)
		return errClosing
	}
	if b.current != nil {
		b.counts.Replacements++
		b.retire(b.current)
	}
	b.current = i
	b.work.Go(func() { b.supervise(i) })
	b.work.Go(func() { b.lowerPriorities(i) })
	return nil
}

// supervise checks i until it has ended. It replaces the instance when it is due, has died
// or does not answer.
func (b *Browser) supervise(i *instance) {
	tick := time.NewTicker(b.lifetime.watch)
	defer tick.Stop()
	for {
		select {
		case <-i.client.Done():
			how := i.process.EndReason(b.lifetime.answer)
			b.replaceFailed(i, true)
			if how != "" {
				b.config.Log.Error("the browser ended by itself and is replaced", "how", how, "connection", i.client.Err(), "said", i.process.Output())
			}
			return
		case <-tick.C:
		}
		if !i.answers(b.lifetime.answer) {
			b.config.Log.Error("the browser does not answer and is replaced", "after", b.lifetime.answer)
			b.replaceFailed(i, false)
			if !i.answers(b.lifetime.patience) {
				b.mu.Lock()
				b.noteFailure()
				b.mu.Unlock()
				b.config.Log.Error("the browser still does not answer and is killed, with the runs on it", "after", b.lifetime.patience, "said", i.process.Output())
				i.process.Close()
				return
			}
		}
		memory := i.process.MemoryUse()
		b.mu.Lock()
		i.memory = memory
		if b.current == i && b.due(i) {
			_, _ = b.startInstance()
		}
		b.mu.Unlock()
	}
}

// priorityInterval is how often the processes of pages are checked while there are runs.
// priorityTime bounds one check.
const (
	priorityInterval = 500 * time.Millisecond
	priorityTime     = 20 * time.Second
)

// lowerPriorities lowers the priority of pages that use much processor time, in favour of
// the pages of other runs, the browser and the service. It returns when the browser has
// ended. The priority is never raised again, because no other run uses that process.
func (b *Browser) lowerPriorities(i *instance) {
	lowered := map[int]bool{} // process ids
	tick := time.NewTicker(priorityInterval)
	defer tick.Stop()
	for {
		select {
		case <-i.client.Done():
			return
		case <-tick.C:
		}
		b.mu.Lock()
		used := i.users > 0
		b.mu.Unlock()
		if used {
			ctx, cancel := context.WithTimeout(context.Background(), priorityTime)
			lowered = i.process.LowerPriorities(ctx, lowered)
			cancel()
		}
	}
}

// answers reports whether the browser answers within d or has ended.
func (i *instance) answers(d time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	_, err := proto.BrowserGetVersion{}.Call(i.client.Browser(ctx))
	return err == nil || i.client.Err() != nil
}

// replaceFailed replaces the instance if it is the current one. If it only does not answer, that
// does not count as a failure yet: on a slow machine the next one may not answer in time
// either.
func (b *Browser) replaceFailed(i *instance, dead bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != i || b.closed {
		return
	}
	if dead {
		b.noteFailure()
	}
	b.giveUp(i)
	_, _ = b.startInstance()
}

// giveUp retires an instance that has failed. b.mu is held.
func (b *Browser) giveUp(i *instance) {
	close(i.failed)
	b.retire(i)
}

// noteFailure counts a browser that did not start, died or was killed. b.mu is held.
func (b *Browser) noteFailure() {
	b.failures = append(b.failures, time.Now())
	b.counts.Failures++
}

// BrowserStatistics counts the starts and ends so far.
func (b *Browser) BrowserStatistics() routine.BrowserStatistics {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts
}

// retire gives the instance no new pages and closes it when its last page is closed.
// b.mu is held.
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
	b.closeIfUnused(i)
}

// disposePage disposes of a page and then releases its place on the instance.
func (b *Browser) disposePage(p *page) {
	dispose := func() {
		err := p.disposeContext()
		if err != nil {
			b.config.Log.Warn("a context could not be disposed of; its browser is replaced", "error", err)
		}
		b.release(p.i, err != nil)
	}
	b.mu.Lock()
	closed := b.closed
	if !closed {
		b.work.Go(dispose)
	}
	b.mu.Unlock()
	if closed { // Close no longer waits for background work
		dispose()
	}
}

// release releases a place on the instance. suspect reports whether the instance should
// not be used any more.
func (b *Browser) release(i *instance, suspect bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i.users--
	if suspect {
		b.retire(i)
	}
	b.closeIfUnused(i)
	b.fillReady(i)
}

// closeIfUnused closes a retired instance without users. b.mu is held.
func (b *Browser) closeIfUnused(i *instance) {
	if !i.retired || i.users > 0 || !b.instances[i] {
		return
	}
	delete(b.instances, i)
	b.work.Go(i.process.Close)
}

// background runs work in the background, during which the instance stays open. b.mu is
// held.
func (b *Browser) background(i *instance, do func()) {
	i.users++
	b.work.Go(func() {
		do()
		b.mu.Lock()
		defer b.mu.Unlock()
		i.users--
		b.closeIfUnused(i)
	})
}
