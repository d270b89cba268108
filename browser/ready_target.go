package browser

import (
	"slices"
	"time"
)

// readyTarget decides how many contexts are kept ready: as many as there were runs at once in
// the last minutes. It is not safe for concurrent use.
type readyTarget struct {
	// largest are the largest numbers of runs at once in the last periods, the current one
	// first, which began at since.
	largest [burstPeriods]int
	since   time.Time
}

// A number of runs counts for burstPeriods periods of burstPeriod, including the current one.
const (
	burstPeriod  = time.Minute
	burstPeriods = 5
)

// note notes how many runs there are at once.
func (t *readyTarget) note(runs int) {
	t.advance()
	t.largest[0] = max(t.largest[0], runs)
}

// contexts returns how many contexts should be ready, between least and most.
func (t *readyTarget) contexts(least, most int) int {
	t.advance()
	return max(least, min(slices.Max(t.largest[:]), most))
}

// advance starts a new period for each that has passed.
func (t *readyTarget) advance() {
	passed := int(time.Since(t.since) / burstPeriod)
	if passed == 0 {
		return
	}
	t.since = t.since.Add(time.Duration(passed) * burstPeriod)
	kept := t.largest
	t.largest = [burstPeriods]int{}
	if passed < burstPeriods {
		copy(t.largest[passed:], kept[:])
	}
}
