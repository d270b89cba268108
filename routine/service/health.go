package service

import (
	"rote/routine"
	"sync"
	"time"
)

const (
	// unhealthyOpenings is how many pages in a row could not be opened when the
	// browser counts as broken.
	unhealthyOpenings = 3
	// unhealthyTime is how long it counts so after the last of them: whoever asks
	// sends no calls meanwhile, and only a call can show that it works again.
	unhealthyTime = 30 * time.Second
)

// openings remembers how the last pages opened.
type openings struct {
	mu     sync.Mutex
	failed int
	at     time.Time
	err    error
}

// note takes what came of opening a page.
func (o *openings) note(err error, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch routine.CodeOf(err) {
	case "":
		o.failed = 0
	case routine.CodeBrowserUnavailable:
		o.failed, o.at, o.err = o.failed+1, at, err
	}
}

// broken says that there is no browser to run anything in. CodeBrowserUnavailable.
func (o *openings) broken(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if wait := o.at.Add(unhealthyTime).Sub(now); o.failed >= unhealthyOpenings && wait > 0 {
		return &routine.Error{Code: routine.CodeBrowserUnavailable, Message: "the browser does not start: the failed executions say why", RetryAfter: wait, Cause: o.err}
	}
	return nil
}

// notStarted hides from callers, who may be anybody, why the browser does not
// start.
func notStarted(err error) error {
	e := routine.AsError(err)
	if e.Code != routine.CodeBrowserUnavailable {
		return err
	}
	return &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: e.RetryAfter, Cause: err,
		Message: "no browser is running: it is still starting, or it does not start, and then the log of the service says why"}
}

// MayReadStatistics tells whether p may see how the service as a whole is
// doing: nil, CodeUnauthenticated or CodeForbidden.
func (s *Service) MayReadStatistics(p routine.Principal) error { return may(p, toReadStatistics, nil) }

// Statistics is a snapshot, cheap enough for every few seconds.
func (s *Service) Statistics() routine.Statistics {
	t := routine.Statistics{RunningLimit: s.queue.places, WaitingLimit: s.queue.limit, StoreBytes: -1}
	t.Running, t.Waiting = s.queue.counts()
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
