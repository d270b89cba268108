package service

import (
	"context"
	"sync"
	"time"

	"rote/routine"
)

const (
	// maxFailedOpens is after how many failed attempts in a row to open a page the
	// browser counts as broken.
	maxFailedOpens = 3
	// unhealthyTime is how long the browser then counts as broken. Afterwards readiness
	// turns true again: a load balancer that saw not-ready sends no calls, and only a call
	// can prove that the browser works again.
	unhealthyTime = 30 * time.Second
)

// countTimeout is how long Statistics waits for the store.
const countTimeout = 2 * time.Second

// browserHealth remembers how the last attempts to open a page ended.
type browserHealth struct {
	mu         sync.Mutex
	failed     int // attempts in a row that failed because of the browser
	lastFailed time.Time
	lastErr    error
}

// record takes the result of an attempt to open a page. Errors that are not the browser's
// do not count.
func (h *browserHealth) record(err error, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch routine.CodeOf(err) {
	case "":
		h.failed = 0
	case routine.CodeBrowserUnavailable:
		h.failed, h.lastFailed, h.lastErr = h.failed+1, at, err
	}
}

// check returns CodeBrowserUnavailable if the browser counts as broken, and nil otherwise.
func (h *browserHealth) check(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if wait := h.lastFailed.Add(unhealthyTime).Sub(now); h.failed >= maxFailedOpens && wait > 0 {
		return &routine.Error{Code: routine.CodeBrowserUnavailable, Message: "the browser does not start: the failed executions say why",
			RetryAfter: wait, Cause: h.lastErr}
	}
	return nil
}

// hideBrowserFault removes from an error of the browser why it does not start, because
// anybody may call for the readiness. Only the log says why.
func hideBrowserFault(err error) error {
	e := routine.AsError(err)
	if e.Code != routine.CodeBrowserUnavailable {
		return err
	}
	return &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: e.RetryAfter, Cause: err,
		Message: "no browser is running: it is still starting, or it does not start, and then the log of the service says why"}
}

// MayReadStatistics returns nil if p may read the statistics of the whole service.
// CodeUnauthenticated, CodeForbidden.
func (s *Service) MayReadStatistics(p routine.Principal) error { return may(p, toReadStatistics, nil) }

// Condition says which parts of the service work; nil: the part works.
type Condition struct{ Store, Browser *routine.Error }

// Condition returns the condition of the service for a page that people open often. Other than
// Ready, it starts no browser: the browser counts as working until runs cannot open pages.
// CodeUnauthenticated, CodeForbidden.
func (s *Service) Condition(ctx context.Context, p routine.Principal) (Condition, error) {
	if err := may(p, toReadStatistics, nil); err != nil {
		return Condition{}, err
	}
	var c Condition
	if err := s.store.Ping(ctx); err != nil {
		c.Store = routine.AsError(storeError(ctx, "ping", err))
	}
	c.Browser = routine.AsError(s.browserHealth.check(s.now()))
	return c, nil
}

// Statistics returns the present load of the service. It is cheap enough to be called
// every few seconds. A size that the store cannot tell is -1.
func (s *Service) Statistics() routine.Statistics {
	t := routine.Statistics{RunningLimit: s.queue.places, WaitingLimit: s.queue.limit, StoreBytes: -1}
	t.Running, t.Waiting = s.queue.counts()
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	queued, err := s.store.CountQueued(ctx)
	for _, n := range queued {
		t.WaitingRuns += n
	}
	if err != nil {
		t.WaitingRuns = -1
	}
	if t.WaitingWebhooks, err = s.store.CountDueWebhooks(ctx, s.now()); err != nil {
		t.WaitingWebhooks = -1
	}
	if size, err := s.store.Size(); err == nil {
		t.StoreBytes = size
	}
	if b, counts := s.browser.(interface {
		BrowserStatistics() routine.BrowserStatistics
	}); counts {
		t.Browser = new(b.BrowserStatistics())
	}
	return t
}
