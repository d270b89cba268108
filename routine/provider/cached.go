package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"rote/routine"
)

const (
	// readTimeout limits the reading of one value, with all requests that it takes.
	readTimeout = 5 * time.Second
	// valueAge and errorAge are how long a value and an error are used without asking again.
	valueAge, errorAge = time.Minute, 5 * time.Second
	// maxCached limits the values and errors that are kept of one provider.
	maxCached = 1000
	// maxFailures is after how many failures in a row the provider is not asked for breakTime.
	maxFailures = 3
	breakTime   = 10 * time.Second
)

// errUnusable is wrapped by errors that are about one value and not about the provider, which
// a single organization can cause. They do not count as failures of the provider.
var errUnusable = errors.New("the value cannot be used")

// errAbandoned is the error of a reading whose caller has ended it.
var errAbandoned = errors.New("the reading was abandoned")

// source is a provider over the network.
type source interface {
	Scheme() string
	ReadSecret(ctx context.Context, ref routine.ProviderReference) (routine.Hidden, error)
}

// cached is a provider that asks another one. It keeps values for a minute and errors for five
// seconds, asks once for callers that want the same value at the same time, and does not ask
// a provider for ten seconds that has failed three times in a row.
type cached struct {
	source

	mu       sync.Mutex
	readings map[routine.ProviderReference]*reading
	// failures counts those in a row, lastFailure is the newest, and askAgain is when the
	// provider may be asked after too many of them.
	failures    int
	lastFailure error
	askAgain    time.Time
}

// reading is the result of asking for a value. It does not change after done is closed.
type reading struct {
	done  chan struct{}
	value routine.Hidden
	err   error
	// expires is when it is used no longer; zero while the provider is being asked.
	expires time.Time
}

func newCached(s source) *cached {
	return &cached{source: s, readings: map[routine.ProviderReference]*reading{}}
}

// Unavailable implements [routine.SecretProvider].
func (c *cached) Unavailable(ref routine.ProviderReference) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if r := c.readings[ref]; r != nil && r.err == nil && now.Before(r.expires) {
		return 0
	}
	return c.pause(now)
}

// pause returns for how long the provider is not asked. The caller holds c.mu.
func (c *cached) pause(now time.Time) time.Duration {
	if c.failures < maxFailures {
		return 0
	}
	return max(c.askAgain.Sub(now), 0)
}

// ReadSecret implements [routine.SecretProvider].
func (c *cached) ReadSecret(ctx context.Context, ref routine.ProviderReference) (routine.Hidden, error) {
	asking, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	for {
		r, first, err := c.join(ref)
		if err != nil {
			return "", err
		}
		if first {
			c.ask(ctx, asking, ref, r)
		}
		select {
		case <-r.done:
			if !errors.Is(r.err, errAbandoned) || ctx.Err() != nil {
				return r.value, r.err
			}
		case <-asking.Done():
			return "", asking.Err()
		}
	}
}

// join returns the reading of a value, and whether the caller is the one to ask for it.
func (c *cached) join(ref routine.ProviderReference) (_ *reading, first bool, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if r := c.readings[ref]; r != nil && (r.expires.IsZero() || now.Before(r.expires)) {
		return r, false, nil
	}
	if pause := c.pause(now); pause > 0 {
		return nil, false, fmt.Errorf("it failed %d times in a row and is asked again in %s: %w", c.failures, pause.Round(time.Second), c.lastFailure)
	}
	// After too many failures only one caller asks, and the others wait for its success.
	c.askAgain = now.Add(breakTime)
	c.makeRoom(now)
	r := &reading{done: make(chan struct{})}
	c.readings[ref] = r
	return r, true, nil
}

// makeRoom removes readings if there are too many: the expired ones, or else any that is not
// in progress. The caller holds c.mu.
func (c *cached) makeRoom(now time.Time) {
	if len(c.readings) < maxCached {
		return
	}
	maps.DeleteFunc(c.readings, func(_ routine.ProviderReference, r *reading) bool {
		return !r.expires.IsZero() && !now.Before(r.expires)
	})
	for ref, r := range c.readings {
		if len(c.readings) < maxCached {
			return
		}
		if !r.expires.IsZero() {
			delete(c.readings, ref)
		}
	}
}

// ask asks the provider for the value of a reading and ends the reading. caller is the context
// of the caller, and asking the one with the time limit.
func (c *cached) ask(caller, asking context.Context, ref routine.ProviderReference, r *reading) {
	r.err = errAbandoned // also if the provider panics
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.end(ref, r)
		close(r.done)
	}()
	value, err := c.source.ReadSecret(asking, ref)
	if caller.Err() == nil || err == nil {
		r.value, r.err = value, err
	}
}

// end keeps the result of a reading and counts it. The caller holds c.mu.
func (c *cached) end(ref routine.ProviderReference, r *reading) {
	now := time.Now()
	switch {
	case errors.Is(r.err, errAbandoned):
		delete(c.readings, ref)
		c.askAgain = now // the next caller may ask instead
		return
	case r.err == nil:
		r.expires = now.Add(valueAge)
	default:
		r.expires = now.Add(errorAge)
	}
	if answered(r.err) {
		c.failures, c.lastFailure = 0, nil
		return
	}
	c.failures, c.lastFailure, c.askAgain = c.failures+1, r.err, now.Add(breakTime)
}

// answered reports whether err is an answer about one value, and the provider works.
func answered(err error) bool {
	return err == nil || errors.Is(err, routine.ErrNotFound) || errors.Is(err, routine.ErrProviderDenied) || errors.Is(err, errUnusable)
}
