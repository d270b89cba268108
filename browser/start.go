package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rote/routine"
)

const (
	// lastStartBound is how long a Chromium may take to answer on a slow machine.
	lastStartBound = 20 * time.Second
	// openBound is how long a run waits for its page at most, so that one whose
	// browser is silent does not wait until its own timeout. It is time for two
	// starts.
	openBound = 35 * time.Second
	// readyBound is how long Ready waits for a browser that is starting.
	readyBound = 2 * time.Second
)

// startBounds are how long a browser has to answer after it was started: the
// first one, and the next after one that did not answer.
type startBounds struct{ first, next time.Duration }

// defaultStartBounds: a start takes less than a second, and several on a machine
// that is busy. A process that hangs is given up for another one soon.
var defaultStartBounds = startBounds{first: 10 * time.Second, next: lastStartBound}

// silentError is of a browser that was started and did not answer.
type silentError struct{ within time.Duration }

func (e silentError) Error() string { return fmt.Sprintf("it did not answer within %v", e.within) }

func isSilent(err error) bool {
	var silent silentError
	return errors.As(err, &silent)
}

// Ready reports whether pages can be opened: nil, CodeBrowserUnavailable or
// CodeShuttingDown. It starts a browser where none runs, and waits a little for
// it: only that shows whether one can be started.
func (b *Browser) Ready(ctx context.Context) error {
	s, err := b.startIfNone()
	if s == nil || err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.startFailure != nil {
		return unavailable(b.startFailure)
	}
	return &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: readyBound, Message: "the browser is starting"}
}

// startIfNone begins a start where no browser runs; nil: one does.
func (b *Browser) startIfNone() (*start, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosing
	}
	b.buryDead()
	if b.current != nil {
		return nil, nil
	}
	return b.begin()
}

// buryDead gives up the current instance if it has ended or does not answer. The
// lock is held.
func (b *Browser) buryDead() {
	if i := b.current; i != nil && !i.alive() {
		b.noteFailure()
		b.giveUp(i)
	}
}

// whileAlive gives a context that also ends, with errClosed, when the instance has
// stopped answering. The caller calls stop.
func (i *instance) whileAlive(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-i.failed:
			cancel(errClosed)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
