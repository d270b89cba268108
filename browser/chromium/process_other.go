//go:build unix && !linux

package chromium

import (
	"os/exec"
	"syscall"
)

// dieWithParent puts Chromium into a process group of its own. It dies with us all
// the same: it exits when the pipe closes.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// closeOnExec does nothing here: only Linux lists the files that our process has
// inherited.
func closeOnExec() {}

// withMemoryLimit is the command that runs the executable, without a bound on its
// memory: this system has no limit for that.
func withMemoryLimit(_ int64, executable string, args []string) *exec.Cmd {
	return exec.Command(executable, args...)
}

// lowerPriority adds busyNiceness to the niceness of a process of a process group,
// and reports whether it could.
func lowerPriority(pid, group int) bool {
	nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	if of, errGroup := syscall.Getpgid(pid); err != nil || errGroup != nil || of != group {
		return false
	}
	return syscall.Setpriority(syscall.PRIO_PROCESS, pid, nice+busyNiceness) == nil
}
