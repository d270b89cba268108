package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"rote/routine"
)

// storeQueue limits the queued executions in the store.
type storeQueue struct {
	mu      sync.Mutex     // not held while the store is called
	counted time.Time      // of the clock that is never set back
	runs    map[string]int // by organization
	// counting is the call of the store that counts at this moment; nil if there is none.
	counting *queueCount
}

// queueCount is a call of the store for whose end all wait who need a new count.
type queueCount struct {
	done chan struct{} // closed at the end
	err  error
}

const (
	// maxCountAge is how old the count of queued executions may be. Those that this process
	// has queued since are added.
	maxCountAge = time.Second
	// refusalAge is how old it may be when an execution is refused. Some that were counted
	// may have been taken from the queue.
	refusalAge = 50 * time.Millisecond
)

// admit returns nil if one more execution of an organization may be queued. CodeBusy,
// CodeStoreUnavailable.
func (q *storeQueue) admit(ctx context.Context, s *Service, organization string) (full error) {
	for _, age := range []time.Duration{maxCountAge, refusalAge} {
		if err := q.refresh(ctx, s.store, age); err != nil {
			return storeError(ctx, "count queued executions", err)
		}
		if full = q.take(organization, s.queue.limit); full == nil {
			return nil
		}
	}
	return full
}

// take adds one execution of an organization to the count if there is room for it. CodeBusy.
func (q *storeQueue) take(organization string, limit int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.checkRoom(organization, limit)
	if err == nil {
		q.runs[organization]++
	}
	return err
}

// refresh counts the queued executions again if the count has reached an age. One caller calls
// the store, and the others wait for its result, each as long as its ctx allows.
func (q *storeQueue) refresh(ctx context.Context, store routine.QueueStore, age time.Duration) error {
	q.mu.Lock()
	if time.Since(q.counted) < age {
		q.mu.Unlock()
		return nil
	}
	if c := q.counting; c != nil {
		q.mu.Unlock()
		select {
		case <-c.done:
			return c.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c := &queueCount{done: make(chan struct{})}
	q.counting = c
	q.mu.Unlock()
	q.count(context.WithoutCancel(ctx), store, c) // others need the result even if the caller has gone
	return c.err
}

// count calls the store and ends c.
func (q *storeQueue) count(ctx context.Context, store routine.QueueStore, c *queueCount) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	began := time.Now()
	c.err = errors.New("the store panicked") // unless it returns
	var runs map[string]int
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.counting = nil; c.err == nil {
			q.counted, q.runs = began, runs
		}
		close(c.done)
	}()
	runs, c.err = store.CountQueued(ctx)
}

// checkRoom returns nil if one more execution of an organization may be queued. As in queue,
// one organization may have at most as many waiting as remain free for the others. CodeBusy.
func (q *storeQueue) checkRoom(organization string, limit int) error {
	total := 0
	for n := range maps.Values(q.runs) {
		total += n
	}
	own, free := q.runs[organization], limit-total
	switch {
	case own < free:
		return nil
	case free > 0:
		return tooManyWaiting(own, free)
	}
	return &routine.Error{Code: routine.CodeBusy, RetryAfter: time.Second,
		Message: fmt.Sprintf("the queue is full: %d executions wait. Call again later", total)}
}
