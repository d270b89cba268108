package browser

import (
	"context"
	"slices"
	"time"

	"rote/browser/cdp"
)

// rehearsalTime bounds the rehearsal of a page, which takes a few frames.
const rehearsalTime = 2 * time.Second

// newPageResult is a page that was created for a run, or why it was not.
type newPageResult struct {
	p   *page
	err error
}

// newReadyPage waits for the next page that is created. It creates one itself if all those
// under way have a run that waits for them. If the caller gives up, the page is kept for
// another run.
func (b *Browser) newReadyPage(ctx context.Context, i *instance) (*page, error) {
	result := make(chan newPageResult, 1)
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, errClosing
	}
	i.waiting = append(i.waiting, result)
	if i.creating < len(i.waiting) {
		i.creating++
		b.background(i, func() { _ = b.createReady(i) })
	}
	b.mu.Unlock()
	var err error
	select {
	case r := <-result:
		return r.p, r.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-i.failed:
		err = cdp.ErrClosed
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := slices.Index(i.waiting, result); n >= 0 {
		i.waiting = slices.Delete(i.waiting, n, n+1)
	} else if r := <-result; r.err == nil { // it has arrived meanwhile
		b.addReady(i, r.p)
	}
	return nil, err
}

// createReady creates a page, which i.creating counts already. The first run that waits
// gets it, or the error if no other page is being created for that run.
func (b *Browser) createReady(i *instance) error {
	p, err := newPage(b, i, b.config.Egress)
	b.mu.Lock()
	defer b.mu.Unlock()
	i.creating--
	if err == nil {
		b.addReady(i, p)
	} else if len(i.waiting) > i.creating {
		i.waiting[0] <- newPageResult{err: err}
		i.waiting = i.waiting[1:]
	}
	return err
}

// addReady gives an unused page to the first run that waits, or adds it to the ready ones.
// b.mu is held.
func (b *Browser) addReady(i *instance, p *page) {
	switch {
	case len(i.waiting) > 0:
		i.waiting[0] <- newPageResult{p: p}
		i.waiting = i.waiting[1:]
	case !b.closed && !i.retired && len(i.ready) < b.readyContexts(i):
		i.ready = append(i.ready, p)
	default:
		b.discard(p)
	}
}

// needsReady reports whether another ready page should be created. Pages that stay open
// without work do not prevent the first ones. b.mu is held.
func (b *Browser) needsReady(i *instance) bool {
	return len(i.ready)+i.creating < b.readyContexts(i) && b.contexts(i) < b.config.MaxContexts || b.lacksReady(i) && b.isQuiet()
}

// lacksReady reports whether fewer pages are ready than always should be. b.mu is held.
func (b *Browser) lacksReady(i *instance) bool {
	return len(i.ready)+i.creating < min(b.config.Warm, b.readyContexts(i))
}

// readyContexts is how many contexts should be ready. b.mu is held.
func (b *Browser) readyContexts(i *instance) int {
	if i.lowMemory || b.config.Warm < 0 {
		return max(b.config.Warm, 0)
	}
	return b.target.contexts(b.config.Warm, b.config.MaxContexts)
}

// contexts is how many contexts there are: in use, ready, being created, and those that are
// not disposed of yet. b.mu is held.
func (b *Browser) contexts(i *instance) int {
	n := b.working - len(i.waiting) + len(i.ready) + len(i.prepared.pages) + i.creating + len(i.ended)
	if i.prepared.preparing {
		n++
	}
	return n
}

// discard disposes of an unused page in the background. b.mu is held.
func (b *Browser) discard(p *page) {
	b.background(p.i, func() { _ = p.disposeContext() })
}

// warmUp creates the ready pages of an instance that no run uses yet.
func (b *Browser) warmUp(i *instance) {
	for range b.config.Warm {
		p, err := newPage(b, i, b.config.Egress)
		if err != nil {
			b.config.Log.Warn("no context could be made ready", "error", err)
			return
		}
		p.rehearsed = true
		p.rehearse(context.Background())
		b.mu.Lock()
		b.addReady(i, p)
		b.mu.Unlock()
	}
}

// rehearse makes the blank page render text and a field once. The run's site will use the
// same renderer, which has then loaded its fonts, its compositor and the compiled helper:
// that saves some of the form task's time. The page is restored afterwards.
//
// It takes three times the processor time that it saves, and so is worth it only while there
// is nothing else to do.
func (p *page) rehearse(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, rehearsalTime)
	defer cancel()
	_, _ = help[any](ctx, p, "rehearse") // the page can be used without it
}

// rehearsal is a rehearsal under way.
type rehearsal struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when no further request of the rehearsal is sent
}

// startRehearsal returns the rehearsal of a ready page, to be run without b.mu, which is
// held now.
func (b *Browser) startRehearsal(p *page) func() {
	ctx, cancel := context.WithCancel(context.Background())
	r := &rehearsal{cancel, make(chan struct{})}
	p.rehearsed, p.rehearsal = true, r
	return func() {
		p.rehearse(ctx)
		cancel()
		close(r.done)
		b.mu.Lock()
		p.rehearsal = nil
		b.mu.Unlock()
	}
}

// stopRehearsal ends the rehearsal of a page that a run has got, and restores the page.
func (b *Browser) stopRehearsal(ctx context.Context, p *page) error {
	b.mu.Lock()
	r := p.rehearsal
	b.mu.Unlock()
	if r == nil {
		return nil
	}
	r.cancel()
	select {
	case <-r.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	_, err := help[any](ctx, p, "endRehearsal")
	return err
}
