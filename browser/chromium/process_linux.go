package chromium

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// dieWithParent puts Chromium into a process group of its own and makes the kernel kill it
// when our process dies, even by SIGKILL.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// closeOnExec prevents Chromium from inheriting the files that our own process has
// inherited. Those that Go opens are marked already.
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

// withMemoryLimit is the command that runs the executable with a bound on its data segment and
// that of every process that it starts. A process can only set that for itself, so a
// shell sets it and then executes the program.
func withMemoryLimit(memory int64, executable string, args []string) *exec.Cmd {
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
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, nice+busyNiceness) // the thread may have ended
		}
	}
	return true
}

// niceness is the niceness of a process, from -20 to 19.
func niceness(pid int) (int, error) {
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	return 20 - priority, err // the system call returns 40 to 1
}
