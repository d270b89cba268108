package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rote/browser/cdp"
	"rote/routine"
)

const (
	// lastStartBound is how long a Chromium may take to answer on a slow machine.
	lastStartBound = 20 * time.Second
	// openBound bounds the wait of a run for its page, so that it does not wait until its
	// own timeout for a browser that does not answer. It is enough for two starts.
	openBound = 35 * time.Second
	// readyBound bounds the wait of Ready for a browser that is starting.
	readyBound = 2 * time.Second
)

// startBounds are how long a browser has to answer after it was started: the first one,
// and the next one after a browser that did not answer.
type startBounds struct{ first, next time.Duration }

// defaultStartBounds are those outside of tests. A start takes less than a second, or
// several on a busy machine. A process that hangs is soon replaced by another one.
var defaultStartBounds = startBounds{first: 10 * time.Second, next: lastStartBound}

// silentError is the error for a browser that was started and did not answer in time.
type silentError struct{ within time.Duration }

func (e silentError) Error() string { return fmt.Sprintf("it did not answer within %v", e.within) }

func isSilent(err error) bool {
	var silent silentError
	return errors.As(err, &silent)
}

// Ready returns nil if pages can be opened, and otherwise an error with
// CodeBrowserUnavailable or CodeShuttingDown. If no browser is running it starts one and
// waits for it up to readyBound, because only that shows whether one can be started.
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

// startIfNone starts a browser if none is running. It returns nil if one is.
func (b *Browser) startIfNone() (*start, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosing
	}
	b.replaceDead()
	if b.current != nil {
		return nil, nil
	}
	return b.startInstance()
}

// replaceDead gives up the current instance if it has ended or does not answer. b.mu is
// held.
func (b *Browser) replaceDead() {
	if i := b.current; i != nil && !i.alive() {
		b.noteFailure()
		b.giveUp(i)
	}
}

// whileAlive returns a context that also ends, with cdp.ErrClosed, when the instance has
// stopped answering. The caller must call stop.
func (i *instance) whileAlive(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-i.failed:
			cancel(cdp.ErrClosed)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
