package browser

import (
	"context"
	"slices"
	"sync/atomic"
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
	// measure is how often its memory is measured, which takes tens of milliseconds of
	// processor time.
	measure time.Duration
	// forget is how long a browser elsewhere has to forget an earlier connection to it.
	forget time.Duration
}

var defaultLifetime = processLifetime{
	runs: 1000, age: time.Hour, memory: 768 << 20,
	watch: 5 * time.Second, answer: 2 * time.Second, patience: 10 * time.Second, measure: 30 * time.Second,
	forget: 2 * time.Second,
}

// spareMemory is how many bytes of memory the machine must have left for more ready contexts
// than [Config.Warm]. A context takes 15 MiB.
const spareMemory = 512 << 20

// instance is a started browser with its ready pages.
type instance struct {
	process process
	client  *cdp.Client // of process
	targets *targets
	born    time.Time
	failed  chan struct{} // closed when it was given up because of a failure
	// others are the contexts of other programs that have left when we connected.
	others map[proto.BrowserBrowserContextID]bool
	// suspects are those that seemed to be another program's at the last check. Only supervise
	// uses them.
	suspects []proto.BrowserBrowserContextID
	// throughGateway reports whether it reaches the proxies of its runs through the gateway,
	// because it is not on this machine.
	throughGateway bool
	// unverified reports whether it is used although it may not confine its pages.
	unverified atomic.Bool

	// Guarded by Browser.mu.
	ready    []*page
	prepared preparedPages        // prepared_pages.go
	waiting  []chan newPageResult // runs that wait for a page, the first of them first
	creating int                  // pages, which those runs or later ones will get
	ended    []*page              // of runs that have ended, whose contexts still exist
	idleWork bool                 // a goroutine does such work
	recheck  bool                 // a timer will call recheckIdleWork
	users    int                  // pages in use, and background work on it
	runs     int
	memory   int64 // bytes, when last measured
	// lowMemory reports whether the machine has little memory left, as last measured.
	lowMemory bool
	retired   bool
	silent    bool // a browser elsewhere has not answered the last check
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

// setCurrent makes i the current instance.
func (b *Browser) setCurrent(i *instance) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.starting, b.startFailure, b.leftBy = nil, nil, i.targets
	b.instances[i] = true
	b.counts.Starts++
	if b.breaker != nil {
		b.breaker.succeeded(time.Now())
	}
	defer b.notify()
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
	memory, measured := int64(0), time.Now()
	for {
		select {
		case <-i.client.Done():
			how := i.process.EndReason(b.lifetime.answer)
			b.replaceFailed(i, true)
			switch {
			case how != "" && b.remote:
				b.config.Log.Error("the connection to the browser was lost, and the runs on it fail", "connection", i.client.Err())
			case how != "":
				b.config.Log.Error("the browser ended by itself and is replaced", "how", how, "connection", i.client.Err(), "said", i.process.Output())
			}
			return
		case <-tick.C:
		}
		if b.remote {
			b.checkRemote(i)
		} else if !i.answers(b.lifetime.answer) {
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
		if time.Since(measured) >= b.lifetime.measure {
			memory, measured = i.process.MemoryUse(), time.Now()
		}
		available, known := i.process.AvailableMemory()
		b.mu.Lock()
		i.memory, i.lowMemory = memory, known && available < spareMemory
		b.startIdleWork(i) // the number of contexts that should be ready may have changed
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
	if b.breaker != nil && b.breaker.failed(time.Now()) && !b.closed {
		b.config.Log.Warn("the browser failed repeatedly and gets no runs for a while", "time", b.breaker.delay)
	}
	b.notify()
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
	b.notify()
	for _, p := range slices.Concat(i.ready, i.prepared.pages) {
		b.work.Go(p.proxy.Close)
	}
	i.ready, i.prepared.pages = nil, nil
	for len(i.ended) > 0 {
		b.disposeFirstEnded(i)
	}
	b.closeIfUnused(i)
}

// giveBack is release for a run that got no page.
func (b *Browser) giveBack(i *instance, suspect bool) {
	b.mu.Lock()
	b.workEnded()
	b.mu.Unlock()
	b.release(i, suspect)
}

// release releases a place on the instance. suspect reports whether the instance should
// not be used any more. A browser elsewhere is used nonetheless, until checkRemote finds that it
// does not answer: another connection would reach the same one, and end the runs on this one.
func (b *Browser) release(i *instance, suspect bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i.users--
	if suspect && !b.remote {
		b.retire(i)
	}
	b.closeIfUnused(i)
	b.startIdleWork(i)
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
