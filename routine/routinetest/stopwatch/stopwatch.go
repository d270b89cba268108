// Package stopwatch measures how long code takes that computes and does not
// wait, on a machine that may be busy with other work.
package stopwatch

import (
	"syscall"
	"time"
)

// Time runs f and returns how long that took: the time on the clock, or the
// processor time that this process used meanwhile, whichever is less. While the
// process waits for a processor only the clock advances.
func Time(f func()) time.Duration {
	start, used := time.Now(), ProcessorTime()
	f()
	return min(time.Since(start), ProcessorTime()-used)
}

// ProcessorTime returns the processor time that this process has used, the garbage
// collector's included. It does not grow while other processes run.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
