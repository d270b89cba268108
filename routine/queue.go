package routine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// queue bounds how many executions run at once and how many wait, first come
// first served.
type queue struct {
	slots    chan struct{} // a send takes a slot; Go serves blocked senders in order
	limit    int64         // of tickets: running and waiting
	admitted atomic.Int64

	mu   sync.Mutex
	line []*ticket // that wait for a slot, the first first
}

func newQueue(concurrency, waiting int) *queue {
	return &queue{slots: make(chan struct{}, concurrency), limit: int64(concurrency + waiting)}
}

// ticket is a place in the queue.
type ticket struct {
	q    *queue
	held bool
}

// enter takes a place at once or says busy, so that a caller beyond the bound
// does not wait at all. The holder leaves.
func (q *queue) enter() (*ticket, error) {
	if q.admitted.Add(1) > q.limit {
		q.admitted.Add(-1)
		return nil, &Error{Code: CodeBusy, Message: fmt.Sprintf("%d executions run or wait already: try again later", q.limit), RetryAfter: time.Second}
	}
	t := &ticket{q: q}
	select { // in the order of the calls, not of their goroutines
	case q.slots <- struct{}{}:
		t.held = true
	default:
		q.mu.Lock()
		defer q.mu.Unlock()
		q.line = append(q.line, t)
	}
	return t, nil
}

// ahead is how many wait before the ticket; 0 when it does not wait.
func (t *ticket) ahead() int {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	return max(slices.Index(t.q.line, t), 0)
}

// waiting is how many tickets wait for a slot.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.line)
}

// step takes the ticket out of the line.
func (t *ticket) step() {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.q.line = slices.DeleteFunc(t.q.line, func(other *ticket) bool { return other == t })
}

// wait blocks until a slot is free.
func (t *ticket) wait(ctx context.Context) error {
	if t.held {
		return nil
	}
	defer t.step()
	select {
	case t.q.slots <- struct{}{}:
		t.held = true
		return nil
	case <-ctx.Done():
		e := AsError(causeOf(ctx))
		return &Error{Code: e.Code, Message: e.Message + ", waiting for a free browser", cause: e}
	}
}

func (t *ticket) leave() {
	if t.held {
		<-t.q.slots
	} else {
		t.step()
	}
	t.q.admitted.Add(-1)
}
