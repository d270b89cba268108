package browser

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rote/routine"
)

// Runs that only make requests often follow each other with the same origin. After two of them
// pages are prepared for the next ones: each in a fresh context, with an empty document of that
// origin, and without a connection to it.

// preparedPages are those of an instance. Browser.mu guards them.
type preparedPages struct {
	pages []*page
	// origin is the one that the pages are for; empty if none are wanted.
	origin string
	// lastOrigin is that of the last run that made such requests, which ended at lastRun.
	lastOrigin string
	lastRun    time.Time
	preparing  bool // a page is being prepared
}

// preparedTime is how long prepared pages are kept after the last run that only made requests.
const preparedTime = 5 * time.Minute

// note notes the origin of a run that has ended; empty if it was one of another kind.
func (s *preparedPages) note(origin string) {
	if origin == "" {
		return
	}
	if origin == s.lastOrigin {
		s.origin = origin
	}
	s.lastOrigin, s.lastRun = origin, time.Now()
}

// wanted returns the origin for which pages should be prepared at the moment; empty if there is
// none.
func (s *preparedPages) wanted() string {
	if time.Since(s.lastRun) > preparedTime {
		return ""
	}
	return s.origin
}

// takePrepared returns a page that is prepared for the requests of a run; nil if there is none.
// b.mu is held.
func (b *Browser) takePrepared(i *instance, o routine.PageOptions) *page {
	for {
		n := slices.IndexFunc(i.prepared.pages, func(p *page) bool { return canPrepare(o) && p.requestsTo == o.RequestsTo })
		if n < 0 {
			return nil
		}
		p := i.prepared.pages[n]
		i.prepared.pages = slices.Delete(i.prepared.pages, n, n+1)
		if p.usable() {
			return p
		}
		b.discard(p)
	}
}

// canPrepare reports whether pages are prepared for runs with these options. A page with a
// saved state is made for its run alone.
func canPrepare(o routine.PageOptions) bool {
	return o.RequestsOnly && o.RequestsTo != "" && !o.KeepState
}

// needsPrepared reports whether another page should be prepared. b.mu is held.
func (b *Browser) needsPrepared(i *instance) bool {
	return i.prepared.wanted() != "" && !i.lowMemory && !i.prepared.preparing && len(i.prepared.pages) < b.config.Warm &&
		b.contexts(i) < b.config.MaxContexts
}

// hasOldPrepared reports whether the prepared pages are no longer wanted: they are for another
// origin, there was no run for them for some time, or memory is low. b.mu is held.
func (b *Browser) hasOldPrepared(i *instance) bool {
	return len(i.prepared.pages) > 0 && (i.lowMemory || i.prepared.pages[0].requestsTo != i.prepared.wanted())
}

// discardPrepared returns the work that disposes of pages.
func discardPrepared(pages []*page) func() error {
	return func() error {
		for _, p := range pages {
			_ = p.disposeContext()
		}
		return nil
	}
}

// makePrepared prepares a page for an origin. i.prepared.preparing is set already. After a failure no more
// pages are prepared for the origin until two runs have made requests to it.
func (b *Browser) makePrepared(i *instance, origin string) error {
	p, err := newPage(b, i, b.config.Egress)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), openTime)
		err = p.startEmpty(ctx, origin)
		cancel()
		p.requestsTo = origin
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i.prepared.preparing = false
	if err != nil {
		i.prepared.origin, i.prepared.lastOrigin = "", ""
		err = fmt.Errorf("prepare a page for requests to %s: %w", origin, err)
	}
	switch {
	case err == nil && !b.closed && !i.retired && origin == i.prepared.wanted():
		i.prepared.pages = append(i.prepared.pages, p)
	case p != nil:
		b.discard(p)
	}
	return err
}
