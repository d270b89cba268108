package browser

import (
	"slices"
	"time"
)

// Contexts are disposed of and made ready while the machine has capacity that no run needs,
// one at a time. That takes as much processor time as the runs themselves.

// When no run has started or ended for pauseTime, the next one is not expected at once. Several
// callers that make one run after the other leave shorter gaps.
// endedTime is how long a context may exist after its run while there is no idle capacity, and
// recheckTime how often that is checked.
const (
	pauseTime   = 250 * time.Millisecond
	endedTime   = 400 * time.Millisecond
	recheckTime = 100 * time.Millisecond
)

// hasCapacity reports whether there is a processor that no run needs. A run that has lasted
// longer than its start slot mostly waits: for the network, for an author, or in a sleep.
func (b *Browser) hasCapacity() bool { return len(b.starts) < b.processors }

// isQuiet reports whether no run needs a processor, and none is expected at once. b.mu is held.
func (b *Browser) isQuiet() bool { return len(b.starts) == 0 && time.Since(b.lastChange) >= pauseTime }

// workStarted counts a run that has got a place on an instance, workEnded one that has left
// it. b.mu is held.
func (b *Browser) workStarted() {
	b.working++
	b.lastChange = time.Now()
}

func (b *Browser) workEnded() {
	b.working--
	b.lastChange = time.Now()
}

// startIdleWork starts the work that is due on the instance as long as there is capacity, and
// checks again later if there is none. b.mu is held.
func (b *Browser) startIdleWork(i *instance) {
	if b.closed || i.retired || i.idleWork {
		return
	}
	do, later := b.takeIdleWork(i)
	switch {
	case do != nil:
		i.idleWork = true
		b.background(i, func() { b.doIdleWork(i, do) })
	case later:
		b.recheckLater(i)
	}
}

// recheckLater makes a timer call recheckIdleWork. b.mu is held.
func (b *Browser) recheckLater(i *instance) {
	if !i.recheck {
		i.recheck = true
		time.AfterFunc(recheckTime, func() { b.recheckIdleWork(i) })
	}
}

// doIdleWork does one piece of work after the other. A failure ends it until the next run
// ends.
func (b *Browser) doIdleWork(i *instance, do func() error) {
	for do != nil {
		err := do()
		b.mu.Lock()
		if do = nil; err == nil {
			do, _ = b.takeIdleWork(i)
		} else if i.alive() {
			b.config.Log.Warn("no context could be made ready", "error", err)
		}
		if do == nil {
			i.idleWork = false
			if err == nil {
				b.startIdleWork(i) // later, if there is something left
			}
		}
		b.mu.Unlock()
	}
}

// takeIdleWork returns the next piece of work, nil if there is none or no capacity for it.
// later reports whether there is some without capacity. b.mu is held.
func (b *Browser) takeIdleWork(i *instance) (do func() error, later bool) {
	if b.closed || i.retired {
		return nil, false
	}
	unrehearsed := slices.IndexFunc(i.ready, func(p *page) bool { return !p.rehearsed })
	capacity := b.hasCapacity()
	switch {
	case len(i.ended) > 0:
		if capacity {
			p := i.ended[0]
			i.ended = i.ended[1:]
			return func() error { b.disposeEnded(p); return nil }, false
		}
	case len(i.ready) > 0 && len(i.ready) > b.readyContexts(i):
		last := len(i.ready) - 1
		p := i.ready[last]
		i.ready = i.ready[:last]
		return func() error { _ = p.disposeContext(); return nil }, false
	case b.hasOldPrepared(i):
		do, i.prepared.pages = discardPrepared(i.prepared.pages), nil
		return do, false
	case unrehearsed >= 0 && b.isQuiet():
		rehearse := b.startRehearsal(i.ready[unrehearsed])
		return func() error { rehearse(); return nil }, false
	case b.needsReady(i):
		if capacity {
			i.creating++
			return func() error { return b.createReady(i) }, false
		}
	case b.needsPrepared(i):
		if capacity {
			i.prepared.preparing = true
			origin := i.prepared.wanted()
			return func() error { return b.makePrepared(i, origin) }, false
		}
	default:
		return nil, unrehearsed >= 0 || b.lacksReady(i)
	}
	return nil, true
}

// recheckIdleWork disposes of contexts that have waited for too long, and does the rest if
// there is capacity now.
func (b *Browser) recheckIdleWork(i *instance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i.recheck = false
	for len(i.ended) > 0 && time.Since(i.ended[0].endedAt) >= b.endedTime {
		b.disposeFirstEnded(i)
	}
	b.startIdleWork(i)
	if len(i.ended) > 0 {
		b.recheckLater(i)
	}
}

// endPage ends the page of a run. Its network ends at once, its context when there is
// capacity, but soon in any case.
func (b *Browser) endPage(p *page) {
	p.proxy.Disconnect()
	b.mu.Lock()
	b.workEnded()
	runEnded := p.runEnded
	b.mu.Unlock()
	if runEnded != nil {
		runEnded()
	}
	b.mu.Lock()
	soon := b.hasCapacity() && !p.i.idleWork
	b.mu.Unlock()
	if !soon {
		p.stopScripts()
	}
	b.mu.Lock()
	closed := b.closed
	if !closed {
		b.addEnded(p)
	}
	b.mu.Unlock()
	if closed { // Close no longer waits for background work
		b.disposeEnded(p)
	}
}

// addEnded adds a page whose context is to be disposed of. b.mu is held.
func (b *Browser) addEnded(p *page) {
	i := p.i
	p.endedAt = time.Now()
	i.prepared.note(p.requestsTo)
	i.ended = append(i.ended, p)
	for len(i.ended) > 0 && (i.retired || !i.alive() || b.contexts(i) > b.config.MaxContexts) {
		b.disposeFirstEnded(i)
	}
	b.startIdleWork(i)
	if len(i.ended) > 0 {
		b.recheckLater(i)
	}
}

// disposeFirstEnded disposes of the context that has waited longest, in the background. b.mu
// is held.
func (b *Browser) disposeFirstEnded(i *instance) {
	p := i.ended[0]
	i.ended = i.ended[1:]
	b.work.Go(func() { b.disposeEnded(p) })
}

// disposeEnded disposes of the context of a run and then releases its place on the instance.
func (b *Browser) disposeEnded(p *page) {
	err := p.disposeContext()
	if err != nil {
		b.config.Log.Warn("a context could not be disposed of in time", "error", err, "browser_is_replaced", !b.remote)
	}
	b.release(p.i, err != nil)
}
