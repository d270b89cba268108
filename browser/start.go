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

// After maxFailures failures within failureWindow, the next start is delayed.
const (
	maxFailures   = 5
	failureWindow = time.Minute
)

// start is a browser that is starting. It continues if a caller that waits for
// it gives up.
type start struct {
	done   chan struct{}
	err    error // set before done is closed, as is silent
	silent bool  // the browser did not answer
	cancel context.CancelFunc
}

// startInstance starts an instance in the background, or returns the start under way. b.mu is
// held.
func (b *Browser) startInstance() (*start, error) {
	if b.starting != nil {
		return b.starting, nil
	}
	if err := b.mayStart(); err != nil {
		return nil, unavailable(err)
	}
	b.lastStart = time.Now()
	executable, err := b.launcher.Find()
	if err != nil {
		if b.breaker != nil {
			b.startFailure = err
			b.noteFailure()
		}
		return nil, unavailable(fmt.Errorf("find one (rote browser install gets it): %w", err))
	}
	within := b.startBounds.first
	if isSilent(b.startFailure) {
		within = b.startBounds.next
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &start{done: make(chan struct{}), cancel: cancel}
	b.starting = s
	successor := b.current != nil
	b.work.Go(func() {
		defer close(s.done)
		defer cancel()
		i, err := b.launch(ctx, executable, within)
		if err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			s.err, s.silent = b.startFailed(err), isSilent(err)
			return
		}
		b.config.Log.Info("browser started", "executable", executable)
		if successor {
			b.warmUp(i)
		}
		s.err = b.setCurrent(i)
	})
	return s, nil
}

// mayStart returns why no browser may be started now; nil if one may. b.mu is held.
func (b *Browser) mayStart() error {
	now := time.Now()
	for len(b.failures) > 0 && now.Sub(b.failures[0]) > failureWindow {
		b.failures = b.failures[1:]
	}
	var err error
	switch {
	case b.breaker != nil && b.breaker.wait(now) > 0:
		err = fmt.Errorf("it failed repeatedly, and is tried again in %v", b.breaker.wait(now).Round(time.Second))
	case b.breaker == nil && len(b.failures) >= maxFailures:
		err = fmt.Errorf("it failed %d times within a minute, and is started again a minute after", maxFailures)
	}
	if err != nil && b.startFailure != nil {
		err = fmt.Errorf("%w. The last start: %w", err, b.startFailure)
	}
	return err
}

// startFailed handles a start that has failed, and returns the error of the runs that wait for
// it. b.mu is held.
func (b *Browser) startFailed(err error) error {
	b.starting, b.startFailure = nil, err
	busy, isBusy := busyTime(err)
	switch {
	case isBusy:
		b.busyUntil = time.Now().Add(busy)
		b.config.Log.Warn("the browser has no room for another connection and is tried again later", "error", err, "after", busy)
		b.notify()
	default:
		b.noteFailure()
	}
	if !b.closed && !isBusy {
		b.config.Log.Error("the browser did not start", "error", err)
	}
	return unavailable(err)
}

// launch starts a browser. It fails with a silentError if that does not answer in time.
func (b *Browser) launch(ctx context.Context, executable string, within time.Duration) (*instance, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, silentError{within})
	defer cancel()
	p, err := b.launcher.Start(ctx, executable)
	if err != nil {
		return nil, err
	}
	i := &instance{process: p, client: p.Client(), born: time.Now(), failed: make(chan struct{})}
	if b.remote {
		err = b.takeOver(ctx, i)
	}
	if err == nil {
		i.targets, err = attachTargets(ctx, p.Client())
	}
	if err == nil && b.remote {
		err = i.markUse(ctx)
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("set up %s: %w", executable, err)
	}
	if err := b.verify(ctx, i); err != nil {
		p.Close()
		return nil, &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: 5 * time.Second,
			Message: fmt.Sprintf("the browser %s may not be used: %v", executable, err)}
	}
	if b.remote {
		if err := b.checkAlone(ctx, i); err != nil {
			p.Close()
			return nil, fmt.Errorf("set up %s: %w", executable, err)
		}
	}
	return i, nil
}
