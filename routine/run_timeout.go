package routine

import "time"

// Bounds of a run's timeout. Service.trackRun of package service enforces the timeout.
const (
	DefaultRunTimeout = 60 * time.Second
	MinRunTimeout     = 1 * time.Second
	MaxRunTimeout     = 300 * time.Second
)

// ValidRunTimeout reports whether a run may have a timeout of that many seconds: from
// [MinRunTimeout] to [MaxRunTimeout]. It takes a number because a Duration could not hold
// every number of seconds that a caller may send.
func ValidRunTimeout(seconds float64) bool {
	return seconds >= MinRunTimeout.Seconds() && seconds <= MaxRunTimeout.Seconds()
}
