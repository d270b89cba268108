package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"rote/routine"
)

// Pool implements [routine.Browser] on several browsers: the one of this machine and any that
// other programs have started. A run gets the local one if that has a free slot, or else the
// one of which the smallest share of slots is used. Runs beyond all slots wait, first come,
// first served. A run stays on its browser: if that is lost, the run fails.
type Pool struct {
	log *slog.Logger
	// slotBound bounds the wait of a run for a slot.
	slotBound time.Duration

	mu      sync.Mutex
	members []*poolMember  // the local one first
	waiting []*slotRequest // the first of them first
	closed  bool

	closing chan struct{} // closed by Close
	work    sync.WaitGroup
}

// poolMember is a browser of a pool.
type poolMember struct {
	Endpoint
	browser *Browser
	users   int // runs that have a slot; guarded by Pool.mu
	// changed gets a value when the state of the browser may have changed. It has room for one.
	changed chan struct{}
}

// slotRequest is a run that waits for a slot.
type slotRequest struct {
	tried  map[*poolMember]bool // members that could not open its page
	lesson bool                 // it needs no slot
	given  chan slotResult      // has room for one
}

// slotResult is the member on which a run has got a slot, or why it gets none.
type slotResult struct {
	member *poolMember
	err    error
}

var _ routine.Browser = (*Pool)(nil)

// NewPool creates a Pool of one or more endpoints and starts to connect to those elsewhere. The
// browser of this machine is started on first use.
func NewPool(c Config, endpoints []Endpoint) *Pool {
	p := newPool(c, endpoints)
	p.start()
	return p
}

// newPool is NewPool without connections.
func newPool(c Config, endpoints []Endpoint) *Pool {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Egress != nil {
		c.Egress = c.Egress.WithOwnReservations() // of the browsers of this pool
	}
	p := &Pool{log: c.Log, slotBound: openBound, closing: make(chan struct{})}
	for _, e := range endpoints {
		m := &poolMember{Endpoint: e, changed: make(chan struct{}, 1)}
		m.browser = newMember(c, e, m.changed)
		if e.address == nil {
			p.members = slices.Insert(p.members, 0, m)
		} else {
			p.members = append(p.members, m)
		}
	}
	return p
}

// start starts to connect to the endpoints.
func (p *Pool) start() {
	for _, m := range p.members {
		p.work.Go(func() { p.follow(m) })
	}
}

// follow keeps a member connected and hands its free slots out, until the pool is closed.
func (p *Pool) follow(m *poolMember) {
	for {
		var retry <-chan time.Time
		if wait := m.browser.connect(); wait > 0 {
			retry = time.After(wait)
		}
		p.mu.Lock()
		p.handOut()
		p.mu.Unlock()
		select {
		case <-p.closing:
			return
		case <-m.changed:
		case <-retry:
		}
	}
}

// Open implements [routine.Browser]. If a member cannot open the page, the next one is tried:
// nothing has happened on the page yet.
func (p *Pool) Open(ctx context.Context, o routine.PageOptions) (routine.Page, error) {
	tried := map[*poolMember]bool{}
	var failure error
	for {
		m, err := p.takeSlot(ctx, tried, o.Lesson)
		if err != nil {
			if failure != nil && routine.CodeOf(err) == routine.CodeBrowserUnavailable {
				err = failure // says more
			}
			return nil, err
		}
		free := func() {}
		if !o.Lesson {
			free = sync.OnceFunc(func() { p.freeSlot(m) })
		}
		page, err := m.browser.openPage(ctx, o, free)
		if err == nil {
			m.browser.pageOpened()
			return page, nil
		}
		free()
		if ctx.Err() != nil || routine.CodeOf(err) != routine.CodeBrowserUnavailable {
			return nil, err
		}
		m.browser.pageFailed()
		p.log.Warn("a browser could not open a page; another one is tried", "browser", m.Name, "error", err)
		tried[m], failure = true, err
	}
}

// takeSlot waits for a slot on a member that was not tried. A lesson gets a member without a slot,
// because it may stay for long.
func (p *Pool) takeSlot(ctx context.Context, tried map[*poolMember]bool, lesson bool) (*poolMember, error) {
	r := &slotRequest{tried: tried, lesson: lesson, given: make(chan slotResult, 1)}
	bounded, cancel := context.WithTimeoutCause(ctx, p.slotBound, &routine.Error{Code: routine.CodeBusy, RetryAfter: 5 * time.Second,
		Message: fmt.Sprintf("no browser had a free slot within %v: try again later, or add slots or browsers (--browser-url)", p.slotBound)})
	defer cancel()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosing
	}
	p.waiting = append(p.waiting, r)
	p.handOut()
	p.mu.Unlock()
	select {
	case g := <-r.given:
		return g.member, g.err
	case <-bounded.Done():
	}
	p.mu.Lock()
	n := slices.Index(p.waiting, r)
	if n >= 0 {
		p.waiting = slices.Delete(p.waiting, n, n+1)
	}
	p.mu.Unlock()
	if n < 0 { // it has got one meanwhile
		if g := <-r.given; g.member != nil && !lesson {
			p.freeSlot(g.member)
		}
	}
	return nil, context.Cause(bounded)
}

func (p *Pool) freeSlot(m *poolMember) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.users--
	p.handOut()
}

// handOut gives free slots to the runs that wait, and an error to those for which no member can
// be expected. p.mu is held.
func (p *Pool) handOut() {
	if len(p.waiting) == 0 {
		return
	}
	states := make(map[*poolMember]endpointState, len(p.members))
	for _, m := range p.members {
		states[m] = m.browser.state()
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(r *slotRequest) bool {
		m, expected := p.choose(r, states)
		switch {
		case m != nil:
			if !r.lesson {
				m.users++
			}
			r.given <- slotResult{member: m}
		case !expected:
			r.given <- slotResult{err: p.unavailable()}
		}
		return m != nil || !expected
	})
}

// choose returns the member whose slot a run should get; nil if there is none now. expected
// reports whether there may be one soon. p.mu is held.
func (p *Pool) choose(r *slotRequest, states map[*poolMember]endpointState) (best *poolMember, expected bool) {
	for _, m := range p.members {
		if r.tried[m] || states[m] == endpointDown {
			continue
		}
		expected = true
		if states[m] != endpointReady || !r.lesson && m.users >= m.Slots {
			continue
		}
		if m.address == nil {
			return m, true
		}
		if best == nil || m.users*best.Slots < best.users*m.Slots {
			best = m
		}
	}
	return best, expected
}

// unavailable is the error of a run when no member works.
func (p *Pool) unavailable() error {
	var all []error
	for _, m := range p.members {
		all = append(all, m.browser.whyDown(m.Name))
	}
	return &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: breakerDelay, Cause: errors.Join(all...),
		Message: "no browser of --browser-url can be used now: the log says why, and so does \"rote browser check\""}
}

// Ready returns nil if pages can be opened on a member, and otherwise an error with
// CodeBrowserUnavailable or CodeShuttingDown.
func (p *Pool) Ready(ctx context.Context) error {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return errClosing
	}
	for _, m := range p.members {
		if m.browser.state() == endpointReady && (m.address != nil || m.browser.Ready(ctx) == nil) {
			return nil
		}
	}
	return p.unavailable()
}

// BrowserStatistics counts the starts, connections and ends of all members so far, and the
// members in each state.
func (p *Pool) BrowserStatistics() routine.BrowserStatistics {
	e := &routine.EndpointStatistics{}
	all := routine.BrowserStatistics{Endpoints: e}
	for _, m := range p.members {
		s := m.browser.BrowserStatistics()
		all.Starts, all.Failures, all.Replacements = all.Starts+s.Starts, all.Failures+s.Failures, all.Replacements+s.Replacements
		*map[endpointState]*int{endpointReady: &e.Ready, endpointConnecting: &e.Connecting, endpointBusy: &e.Busy, endpointDown: &e.Down}[m.browser.state()]++
	}
	return all
}

// Close ends the local browser and the connections to the others, whose contexts of ours are
// gone then. Pages that are still open fail.
func (p *Pool) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.closing)
	}
	for _, r := range p.waiting {
		r.given <- slotResult{err: errClosing}
	}
	p.waiting = nil
	p.mu.Unlock()
	for _, m := range p.members {
		p.work.Go(m.browser.Close)
	}
	p.work.Wait()
}
