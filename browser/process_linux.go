package browser

import (
	"os/exec"
	"syscall"
)

// boundToUs puts Chromium into a process group of its own and has the kernel
// kill it when we die, also by SIGKILL.
func boundToUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
