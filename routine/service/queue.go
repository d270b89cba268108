package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"rote/routine"
)

// queue decides which executions run and which wait. It is fair between organizations: a
// free place goes to the organization with the fewest running executions, and among equals
// to the one whose last turn is longest ago. Within an organization the order is first in,
// first out.
type queue struct {
	// places is how many executions run at the same time. One more runs while one
	// organization has all places and another has none, unless places is 1: runs can take
	// minutes, and without this exception the runs of the second organization would time out
	// while they wait.
	places int
	// limit is how many executions may wait. One organization may have at most as many
	// waiting as remain free for the others.
	limit int

	mu      sync.Mutex
	shares  map[string]*share // by organizations with running or waiting executions
	running int
	waiting int
	parked  int   // tickets that have given their place back for some time
	entered int64 // tickets so far
	served  int64 // tickets that got a place so far
}

// share has the executions of one organization in a queue.
type share struct {
	running int
	waiting []*ticket // first in, first out
	// lastServed is the count of served tickets at which the organization last got a place.
	lastServed int64
}

// ticket is a running or waiting execution.
type ticket struct {
	queue        *queue
	number       int64 // counts all tickets of the queue
	organization string
	// running is closed when the ticket gets a place.
	running chan struct{}
	parked  bool
	left    bool
	// lent counts the tickets to which this one has lent its place, and lender is the one
	// that has lent its place to this one.
	lent   int
	lender *ticket
}

func newQueue(places, limit int) *queue {
	return &queue{places: places, limit: limit, shares: map[string]*share{}}
}

// enter adds an execution of an organization. It runs at once if there is a free place.
// CodeBusy when it would have to wait and the queue is full. The caller calls leave
// afterwards.
func (q *queue) enter(organization string) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.shareOf(organization)
	free := q.limit - q.waiting - q.parked
	runsAtOnce := q.waiting == 0 && q.running < q.places || q.mayExceed(s)
	if !runsAtOnce && len(s.waiting) >= free {
		return nil, q.full(len(s.waiting), free)
	}
	q.entered++
	t := &ticket{queue: q, number: q.entered, organization: organization, running: make(chan struct{})}
	q.shares[organization] = s
	s.waiting = append(s.waiting, t)
	q.waiting++
	q.serve()
	return t, nil
}

// shareOf returns the share of an organization, or a new one.
func (q *queue) shareOf(organization string) *share {
	if s := q.shares[organization]; s != nil {
		return s
	}
	// A new organization comes after those that have waited longer, but before the one that
	// got the last place.
	return &share{lastServed: q.served - 1}
}

// full returns the error for an execution of an organization with own waiting executions,
// of at most free.
func (q *queue) full(own, free int) error {
	message := fmt.Sprintf("the queue is full: %d executions run and %d wait. Call again later", q.running, q.waiting)
	if free > 0 {
		return tooManyWaiting(own, free)
	}
	return &routine.Error{Code: routine.CodeBusy, Message: message, RetryAfter: time.Second}
}

// tooManyWaiting returns the error for an execution of an organization with own waiting
// executions, of at most free.
func tooManyWaiting(own, free int) error {
	return &routine.Error{Code: routine.CodeBusy, RetryAfter: time.Second, Message: fmt.Sprintf("too many executions of your organization wait already: %d. "+
		"The rest of the queue (%d) is kept for other organizations. Call again when some of yours have ended", own, free)}
}

// serve moves waiting tickets to free places.
func (q *queue) serve() {
	for {
		s := next(slices.Collect(maps.Values(q.shares)))
		if s == nil || q.running >= q.places && !q.mayExceed(s) {
			return
		}
		t := s.waiting[0]
		q.waiting--
		q.running++
		q.served++
		s.serve(q.served)
		close(t.running)
	}
}

// mayExceed reports whether the organization with this share may run one
// execution more than there are places.
func (q *queue) mayExceed(s *share) bool {
	if q.places == 1 || q.running != q.places || s.running > 0 {
		return false
	}
	for _, other := range q.shares {
		if other.running == q.places {
			return true
		}
	}
	return false
}

// next returns the share whose first waiting ticket gets the next place, or nil if no ticket
// waits.
func next(shares []*share) (first *share) {
	for _, s := range shares {
		if len(s.waiting) > 0 && (first == nil || s.before(first)) {
			first = s
		}
	}
	return first
}

// before reports whether s gets a place before other. Both have waiting tickets.
func (s *share) before(other *share) bool {
	return cmp.Or(cmp.Compare(s.running, other.running), cmp.Compare(s.lastServed, other.lastServed),
		cmp.Compare(s.waiting[0].number, other.waiting[0].number)) < 0
}

// serve moves the first waiting ticket to the running ones.
func (s *share) serve(number int64) {
	s.waiting = s.waiting[1:]
	s.running++
	s.lastServed = number
}

// ahead returns how many waiting executions get a place before this one, if no more come. It
// is 0 for a ticket that does not wait.
func (t *ticket) ahead() int {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.left || t.parked || t.isRunning() {
		return 0
	}
	var copies []*share
	for _, s := range q.shares {
		copies = append(copies, new(*s))
	}
	for n := 0; ; n++ {
		s := next(copies)
		if s.waiting[0] == t {
			return n
		}
		s.serve(q.served + int64(n) + 1)
	}
}

// isRunning reports whether the ticket has got a place.
func (t *ticket) isRunning() bool {
	select {
	case <-t.running:
		return true
	default:
		return false
	}
}

// wait blocks until the ticket gets a place. If ctx ends first, the ticket leaves the queue
// and wait returns the cause of ctx.
func (t *ticket) wait(ctx context.Context) error {
	select {
	case <-t.running:
		return nil
	case <-ctx.Done():
		t.leave()
		return routine.CauseOf(ctx)
	}
}

// lend returns a ticket that runs in the place of t, which is free only when both have left.
// The caller calls leave of it. t runs, and does not use its place until then.
func (t *ticket) lend() *ticket {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	t.lent++
	return &ticket{queue: q, number: t.number, organization: t.organization, running: t.running, lender: t}
}

// leave removes the ticket from the queue and frees its place, unless it is lent. A second call
// does nothing.
func (t *ticket) leave() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.left {
		return
	}
	t.left = true
	if t.lender != nil {
		t.lender.lent--
		if t = t.lender; !t.left {
			return
		}
	}
	if t.lent > 0 {
		return
	}
	if t.parked {
		q.parked--
		return
	}
	t.giveBack()
}

// giveBack frees the place of the ticket, in the queue or among the running ones. queue.mu is held.
func (t *ticket) giveBack() {
	q := t.queue
	s := q.shares[t.organization]
	if t.isRunning() {
		s.running--
		q.running--
	} else {
		s.waiting = slices.DeleteFunc(s.waiting, func(other *ticket) bool { return other == t })
		q.waiting--
	}
	if s.running == 0 && len(s.waiting) == 0 {
		delete(q.shares, t.organization)
	}
	q.serve()
}

// park gives the place of the ticket back until unpark. It still counts as one that waits.
func (t *ticket) park() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	t.giveBack()
	t.parked, t.running = true, make(chan struct{})
	q.parked++
}

// unpark makes a parked ticket wait for a place again, as the last of its organization. It is
// never refused.
func (t *ticket) unpark() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	t.parked = false
	q.parked--
	s := q.shareOf(t.organization)
	q.shares[t.organization] = s
	s.waiting = append(s.waiting, t)
	q.waiting++
	q.serve()
}

// counts returns how many executions run and how many wait.
func (q *queue) counts() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.waiting + q.parked
}
