package browser

import (
	"context"
	"time"

	"rote/browser/cdp"
)

// rehearsalTime bounds the rehearsal of a page, which takes a few frames.
const rehearsalTime = 2 * time.Second

// newReadyPage creates a page for a run that waits for it. If the caller gives up, the page is
// kept for another run.
func (b *Browser) newReadyPage(ctx context.Context, i *instance) (*page, error) {
	type outcome struct {
		p   *page
		err error
	}
	made := make(chan outcome)
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, errClosing
	}
	b.background(i, func() {
		p, err := newPage(b, i)
		select {
		case made <- outcome{p, err}:
			return
		case <-ctx.Done():
		case <-i.failed:
		}
		if err == nil {
			b.addReady(i, p)
		}
	})
	b.mu.Unlock()
	select {
	case m := <-made:
		return m.p, m.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-i.failed:
		return nil, cdp.ErrClosed
	}
}

// fillReady creates ready contexts in the background, one at a time, until there are enough.
// It is called at the end of runs only, so that it takes no time from a run that starts.
// b.mu is held.
func (b *Browser) fillReady(i *instance) {
	if i.filling || !b.needsReady(i) {
		return
	}
	i.filling = true
	b.background(i, func() {
		for b.makeReady(i) {
		}
	})
}

// needsReady reports whether more ready pages are needed. b.mu is held.
func (b *Browser) needsReady(i *instance) bool {
	return !b.closed && !i.retired && len(i.ready) < b.config.Warm
}

// makeReady creates one ready page and reports whether another one is needed.
func (b *Browser) makeReady(i *instance) bool {
	p, err := newPage(b, i)
	if err == nil {
		p.rehearse()
		b.addReady(i, p)
	} else if i.alive() {
		b.config.Log.Warn("no context could be made ready", "error", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i.filling = err == nil && b.needsReady(i)
	return i.filling
}

// addReady adds an unused page to the ready ones.
func (b *Browser) addReady(i *instance, p *page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.needsReady(i) {
		i.ready = append(i.ready, p)
	} else {
		b.discard(p)
	}
}

// discard disposes of an unused page in the background. b.mu is held.
func (b *Browser) discard(p *page) {
	b.background(p.i, func() { _ = p.disposeContext() })
}

// rehearse makes the blank page render text and a field once. The run's site will use the
// same renderer, which has then loaded its fonts, its compositor and the compiled helper:
// that saves a quarter of the form task's time. The page is restored afterwards.
func (p *page) rehearse() {
	ctx, cancel := context.WithTimeout(context.Background(), rehearsalTime)
	defer cancel()
	_, _ = help[any](ctx, p, "rehearse") // the page can be used without it
}
