//go:build unix

package routine

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used: it does not run while other processes
// do, unlike the clock, but counts the collector's own cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
