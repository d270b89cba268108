package jobs

import (
	"context"
	"time"

	"rote/routine"
)

// attempt is an attempt at a job that has its place.
type attempt struct {
	// do makes the attempt. postponed reports whether the job waits for a place of
	// another kind, so that looking for more at once is no use.
	do func(ctx context.Context) (postponed bool, err error)
	// end frees the place.
	end func()
}

// worker makes the attempts that find returns. One goroutine uses it, which also calls find
// and the ends of attempts.
type worker struct {
	*Poller
	find func(ctx context.Context) ([]attempt, error)
	// made is JobHandler.Made.
	made    <-chan struct{}
	working int
	ended   chan endedAttempt
	// more reports whether there may be due jobs that wait for a place.
	more bool
	// healthy reports whether the last call of the store succeeded.
	healthy bool
}

// endedAttempt is an attempt that has ended. err is why it could not be made or saved.
type endedAttempt struct {
	end       func()
	postponed bool
	err       error
}

func newWorker(p *Poller, h routine.JobHandler, find func(context.Context) ([]attempt, error)) *worker {
	return &worker{Poller: p, find: find, made: h.Made, ended: make(chan endedAttempt), healthy: true}
}

// work does due jobs until ctx ends, and returns when all attempts have ended.
func (w *worker) work(ctx context.Context) {
	tick := time.NewTicker(claimInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// That none was started may be because of those in flight.
			w.more = w.start(ctx) > 0 || w.more
		case <-w.made:
			w.more = w.start(ctx) > 0 || w.more
		case e := <-w.ended:
			w.end(ctx, e)
			w.endOthers(ctx)
			w.more = w.more && w.start(ctx) > 0
		case <-ctx.Done():
			for w.working > 0 {
				w.end(ctx, <-w.ended)
			}
			return
		}
	}
}

// start starts the due jobs for which there are places, and returns how many.
func (w *worker) start(ctx context.Context) int {
	attempts, err := w.find(ctx)
	w.healthy = w.logFailure(ctx, w.healthy, err)
	for _, a := range attempts {
		w.working++
		go func() {
			postponed, err := a.do(ctx)
			w.ended <- endedAttempt{a.end, postponed, err}
		}()
	}
	return len(attempts)
}

// end frees the place of an attempt.
func (w *worker) end(ctx context.Context, e endedAttempt) {
	w.working--
	e.end()
	if e.postponed || e.err != nil {
		w.more = false // the store is asked again at the next tick
	}
	if e.err != nil {
		w.healthy = w.logFailure(ctx, w.healthy, e.err)
	}
}

// endOthers frees the places of all attempts that have ended by now, so that one call of
// the store fills them all.
func (w *worker) endOthers(ctx context.Context) {
	for {
		select {
		case e := <-w.ended:
			w.end(ctx, e)
		default:
			return
		}
	}
}
