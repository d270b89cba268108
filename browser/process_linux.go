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

// lowerPriority adds busyNiceness to the niceness of a process of a process group,
// and reports whether it could. Each thread has a niceness of its own.
func lowerPriority(pid, group int) bool {
	nice, err := niceness(pid)
	if of, errGroup := syscall.Getpgid(pid); err != nil || errGroup != nil || of != group {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return false
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, nice+busyNiceness) // it may have ended
		}
	}
	return true
}

// niceness is that of a process, from -20 to 19.
func niceness(pid int) (int, error) {
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	return 20 - priority, err // the system call gives 1 to 40
}
