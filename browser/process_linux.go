package browser

import (
	"fmt"
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

// limited runs the executable with a bound on the data of it and of every
// process that it starts, which a program can only set for itself: the shell
// does so and becomes the executable.
func limited(memory int64, executable string, args []string) *exec.Cmd {
	if memory <= 0 {
		return exec.Command(executable, args...)
	}
	script := fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, memory>>10)
	return exec.Command("/bin/sh", append([]string{"-c", script, executable}, args...)...)
}
