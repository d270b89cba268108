//go:build unix && !linux

package browser

import (
	"os/exec"
	"syscall"
)

// boundToUs puts Chromium into a process group of its own. It dies with us all
// the same: it exits when the pipe closes.
func boundToUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// closeOnExec would keep from Chromium what we were started with ourselves;
// there is no way here to know it.
func closeOnExec() {}
