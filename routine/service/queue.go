package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"rote/routine"
	"slices"
	"sync"
	"time"
)

// queue decides which executions run and which wait. It is fair between
// organizations: a free place goes to the organization that has the fewest runs,
// and among equals to the one that was served longest ago. Within an
// organization the first to come is served first.
type queue struct {
	// places is how many executions run at once. One more runs while one
	// organization has all places and another has none, unless places is 1: the
	// runs of one organization can last for minutes, and the other would fail
	// waiting.
	places int
	// limit is how many executions may wait. One organization may have no more of
	// them waiting than there are free places left for others.
	limit int

	mu      sync.Mutex
	shares  map[string]*share // of organizations that run or wait
	running int
	waiting int
	entered int64 // how many tickets there were so far
	served  int64 // how many of them were given a place
}

// share is what one organization has of a queue.
type share struct {
	running int
	waiting []*ticket // in the order in which they came
	// lastServed is the number of the organization's last ticket that was given
	// a place, in the order of all such tickets.
	lastServed int64
}

// ticket is a running or waiting execution.
type ticket struct {
	queue        *queue
	number       int64 // in the order of all tickets
	organization string
	// running is closed when the ticket is given a place.
	running chan struct{}
	left    bool
}

func newQueue(places, limit int) *queue {
	return &queue{places: places, limit: limit, shares: map[string]*share{}}
}

// enter adds an execution of an organization, which runs at once if there is a
// free place. CodeBusy when it would have to wait and may not. The caller calls
// leave.
func (q *queue) enter(organization string) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.shares[organization]
	if s == nil {
		// A newcomer comes after those who have waited longer, but before the
		// one served last.
		s = &share{lastServed: q.served - 1}
	}
	free := q.limit - q.waiting
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

// full is the error for an execution that finds no place in the queue.
func (q *queue) full(own, free int) error {
	message := fmt.Sprintf("the queue is full: %d executions run and %d wait. Call again later", q.running, q.waiting)
	if free > 0 {
		message = fmt.Sprintf("too many executions of your organization wait already: %d. "+
			"The rest of the queue (%d) is kept for other organizations. Call again when some of yours have ended", own, free)
	}
	return &routine.Error{Code: routine.CodeBusy, Message: message, RetryAfter: time.Second}
}

// serve gives free places to waiting tickets.
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

// next is the share whose first waiting ticket is given the next place; nil when
// none waits.
func next(shares []*share) (first *share) {
	for _, s := range shares {
		if len(s.waiting) > 0 && (first == nil || s.before(first)) {
			first = s
		}
	}
	return first
}

// before reports whether it is s's turn rather than other's. Both wait.
func (s *share) before(other *share) bool {
	return cmp.Or(cmp.Compare(s.running, other.running), cmp.Compare(s.lastServed, other.lastServed),
		cmp.Compare(s.waiting[0].number, other.waiting[0].number)) < 0
}

// serve makes the first waiting ticket a running one.
func (s *share) serve(number int64) {
	s.waiting = s.waiting[1:]
	s.running++
	s.lastServed = number
}

// ahead is how many waiting executions are given a place before this one, if no
// more come; 0 when it does not wait.
func (t *ticket) ahead() int {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.left || t.isRunning() {
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

// isRunning reports whether the ticket was given a place.
func (t *ticket) isRunning() bool {
	select {
	case <-t.running:
		return true
	default:
		return false
	}
}

// wait blocks until the ticket is given a place, or until ctx ends, whose cause it
// then returns; the ticket has left the queue.
func (t *ticket) wait(ctx context.Context) error {
	select {
	case <-t.running:
		return nil
	case <-ctx.Done():
		t.leave()
		return routine.CauseOf(ctx)
	}
}

// leave gives the ticket's place to the next. Further calls do nothing.
func (t *ticket) leave() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.left {
		return
	}
	t.left = true
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

// counts are how many executions run and wait.
func (q *queue) counts() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.waiting
}
