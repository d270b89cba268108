package browser

import "time"

// breaker keeps runs and attempts to connect away from a browser that fails again and again. It
// opens for a while after breakerFailures failures within breakerWindow. Then one attempt is
// made: if that fails it opens again, for twice as long. It is not safe for concurrent use.
type breaker struct {
	failures []time.Time // recent ones
	until    time.Time   // when the next attempt may be made
	delay    time.Duration
	// tripped reports whether there was no success since it has opened.
	tripped bool
	// stable is since when it is closed.
	stable time.Time
}

const (
	breakerFailures = 3
	breakerWindow   = 30 * time.Second
	// breakerDelay is for how long it opens first, maxBreakerDelay for how long at most.
	breakerDelay    = 5 * time.Second
	maxBreakerDelay = 2 * time.Minute
)

// failed notes a failure. It reports whether the breaker opens.
func (b *breaker) failed(now time.Time) bool {
	if b.tripped && now.Before(b.until) { // another failure of the same kind
		return false
	}
	for len(b.failures) > 0 && now.Sub(b.failures[0]) > breakerWindow {
		b.failures = b.failures[1:]
	}
	b.failures = append(b.failures, now)
	if !b.tripped && len(b.failures) < breakerFailures {
		return false
	}
	if !b.tripped && now.Sub(b.stable) > breakerWindow {
		b.delay = 0
	}
	b.delay = min(max(2*b.delay, breakerDelay), maxBreakerDelay)
	b.until, b.tripped, b.failures = now.Add(b.delay), true, nil
	return true
}

// succeeded notes that the browser was connected to.
func (b *breaker) succeeded(now time.Time) {
	if b.tripped {
		b.tripped, b.failures, b.stable = false, nil, now
	}
}

// wait is how long no attempt may be made from now on; 0 if one may be made.
func (b *breaker) wait(now time.Time) time.Duration { return max(b.until.Sub(now), 0) }
