package browser

import (
	"context"
	"time"
)

// rehearsalTime bounds a page's rehearsal, which takes some frames.
const rehearsalTime = 2 * time.Second

// fresh makes a page for a run that waits. Its making belongs to no caller: of
// one that gives up, the page is kept for another.
func (b *Browser) fresh(ctx context.Context, i *instance) (*page, error) {
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
			b.keep(i, p)
		}
	})
	b.mu.Unlock()
	select {
	case m := <-made:
		return m.p, m.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-i.failed:
		return nil, errClosed
	}
}

// fill makes contexts ready in the background, one at a time, until there are
// enough. Nothing is made while a run begins: only its end asks for more. The
// lock is held.
func (b *Browser) fill(i *instance) {
	if i.filling || !b.wants(i) {
		return
	}
	i.filling = true
	b.background(i, func() {
		for b.makeReady(i) {
		}
	})
}

// wants tells whether more ready pages are to be made. The lock is held.
func (b *Browser) wants(i *instance) bool {
	return !b.closed && !i.retired && len(i.ready) < b.config.Warm
}

// makeReady makes one page ready and tells whether another is wanted.
func (b *Browser) makeReady(i *instance) bool {
	p, err := newPage(b, i)
	if err == nil {
		p.rehearse()
		b.keep(i, p)
	} else if i.alive() {
		b.config.Log.Warn("no context could be made ready", "error", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i.filling = err == nil && b.wants(i)
	return i.filling
}

// keep puts an unused page where the next run finds it.
func (b *Browser) keep(i *instance, p *page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wants(i) {
		i.ready = append(i.ready, p)
	} else {
		b.discard(p)
	}
}

// discard disposes of an unused page in the background. The lock is held.
func (b *Browser) discard(p *page) {
	b.background(p.i, func() { _ = p.dispose() })
}

// rehearse has the blank page draw text and a field once. Its renderer is the
// one that the run's site will have, and then has its fonts, its compositor and
// the helper's compiled code at hand: a quarter of the form task's time. The
// page is left as it was.
func (p *page) rehearse() {
	ctx, cancel := context.WithTimeout(context.Background(), rehearsalTime)
	defer cancel()
	_, _ = help[any](ctx, p, "rehearse") // a page that cannot is as good as one that has not
}
