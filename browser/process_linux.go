package browser

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// boundToUs puts Chromium into a process group of its own and has the kernel
// kill it when we die, also by SIGKILL.
func boundToUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// closeOnExec keeps from Chromium what we were started with ourselves: all that
// Go opens is marked already.
func closeOnExec() {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
