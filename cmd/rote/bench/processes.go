package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What the processes of a contender take is read from Linux's /proc.

// share is a kind of process whose processor time is measured.
type share int

const (
	shareRote share = iota
	shareBrowser
	// shareRenderers has the zygotes too, which fork the renderers.
	shareRenderers
	shareGPU
	shareNetwork
	shareOther
	numShares
)

// cpuShares is the processor time that a contender took, by kind of process.
type cpuShares [numShares]time.Duration

func (c cpuShares) plus(d cpuShares) cpuShares {
	for i := range c {
		c[i] += d[i]
	}
	return c
}

func (c cpuShares) minus(d cpuShares) cpuShares {
	for i := range c {
		c[i] -= d[i]
	}
	return c
}

// perRun returns table cells with the time of one run in ms: the sum, and each share.
func (c cpuShares) perRun(runs float64) string {
	sum, shares := time.Duration(0), make([]string, numShares)
	for i, d := range c {
		sum += d
		shares[i] = fmt.Sprintf("%.1f", d.Seconds()*1000/runs)
	}
	return fmt.Sprintf("%.0f | ", sum.Seconds()*1000/runs) + strings.Join(shares, " | ")
}

// shareOf is the share of one of Chromium's processes other than the main one, by its
// command line. Renderers write theirs as one argument with spaces.
func shareOf(command []string) share {
	line := strings.Join(command, " ")
	switch {
	case strings.Contains(line, "--type=renderer"), strings.Contains(line, "--type=zygote"):
		return shareRenderers
	case strings.Contains(line, "--type=gpu-process"):
		return shareGPU
	case strings.Contains(line, "--utility-sub-type=network."):
		return shareNetwork
	}
	return shareOther
}

// commandLine returns the command line of a process.
func commandLine(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), err
}

// tick is the unit of times in /proc/PID/stat. It is the same on all platforms of Go.
const tick = 10 * time.Millisecond

// process is what /proc/PID/stat says of a process.
type process struct {
	pid, parent int
	// own is its processor time, children that of the children that have ended and of
	// theirs.
	own, children time.Duration
}

func readProcess(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the third on; the name may have spaces
	at := func(n int) int {
		v, _ := strconv.Atoi(fields[n-3]) // a number, by proc(5)
		return v
	}
	return process{pid, at(4), time.Duration(at(14)+at(15)) * tick, time.Duration(at(16)+at(17)) * tick}, nil
}

// processes returns all processes. One that ends meanwhile may be left out.
func processes() ([]process, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var all []process
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		if p, err := readProcess(pid); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// descendants returns a process and all that it and its children have started.
func descendants(of int) ([]process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	found := []process{}
	family := []int{of}
	for len(family) > 0 {
		pid := family[0]
		family = family[1:]
		for _, p := range all {
			if p.pid == pid {
				found = append(found, p)
			}
			if p.parent == pid {
				family = append(family, p.pid)
			}
		}
	}
	return found, nil
}

// readShares reads the processor time since their start of rote and of the browser's
// processes. The time of processes that have ended counts as their parent's kind: renderers
// are children of a zygote.
func readShares(rote, browser int) (cpuShares, error) {
	var c cpuShares
	if rote != 0 {
		p, err := readProcess(rote)
		if err != nil {
			return c, err
		}
		c[shareRote] = p.own
	}
	all, err := descendants(browser)
	if err != nil {
		return c, err
	}
	for _, p := range all {
		command, err := commandLine(p.pid)
		if err != nil {
			continue // it has just ended, and now counts as one that has
		}
		kind := shareOf(command)
		if p.pid == browser {
			c[shareBrowser] += p.own
		} else {
			c[kind] += p.own
		}
		c[kind] += p.children
	}
	return c, nil
}

// memoryInterval is the time between two samples of memory.
const memoryInterval = 100 * time.Millisecond

// sampleMemory measures until stop is called, which returns the highest sum of the memory
// that the processes do not share with others, in bytes.
func sampleMemory(rote, browser int) (stop func() int64) {
	end, most := make(chan struct{}), make(chan int64)
	go func() {
		highest := int64(0)
		every := time.NewTicker(memoryInterval)
		defer every.Stop()
		for {
			select {
			case <-end:
				most <- highest
				return
			case <-every.C:
				highest = max(highest, privateMemory(rote, browser))
			}
		}
	}()
	return func() int64 {
		close(end)
		return <-most
	}
}

func privateMemory(rote, browser int) int64 {
	all, err := descendants(browser)
	if err != nil {
		return 0
	}
	if rote != 0 {
		all = append(all, process{pid: rote})
	}
	sum := int64(0)
	for _, p := range all {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.pid))
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 3 {
			continue // it has ended
		}
		resident, _ := strconv.ParseInt(fields[1], 10, 64)
		shared, _ := strconv.ParseInt(fields[2], 10, 64)
		sum += (resident - shared) * int64(os.Getpagesize())
	}
	return sum
}

// browserOf returns the main process of the browser that a rote process has started: the
// child of a child or a child itself, and not one of the browser's own helpers.
func browserOf(rote int) (int, error) {
	return childOf(rote, func(command []string) bool {
		return slices.Contains(command, "--remote-debugging-pipe") && !slices.ContainsFunc(command, func(a string) bool { return strings.HasPrefix(a, "--type=") })
	})
}

// childOf returns the first descendant of a process whose command line fits.
func childOf(pid int, fits func(command []string) bool) (int, error) {
	all, err := descendants(pid)
	if err != nil {
		return 0, err
	}
	for _, p := range all {
		command, err := commandLine(p.pid)
		if err == nil && p.pid != pid && len(command) > 1 && fits(command) {
			return p.pid, nil
		}
	}
	return 0, fmt.Errorf("process %d has no such child", pid)
}

// commandLike returns the command of a browser that is like a running one, whose main process
// is given: the same program with the same arguments, as the same user, and so with the same
// sandbox, which takes processor time too. Only its profile is its own.
func commandLike(browser int, profile string) (*exec.Cmd, error) {
	line, err := commandLine(browser)
	if err != nil {
		return nil, err
	}
	process, err := os.Stat(fmt.Sprintf("/proc/%d", browser))
	if err != nil {
		return nil, err
	}
	owner, ok := process.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, errors.New("the user of a process is not known on this system")
	}
	const profileSwitch = "--user-data-dir="
	for i, argument := range line {
		if strings.HasPrefix(argument, profileSwitch) {
			line[i] = profileSwitch + profile
		}
	}
	command := exec.Command(line[0], line[1:]...)
	command.Env = []string{"HOME=" + profile, "TMPDIR=" + profile, "PATH=" + os.Getenv("PATH")}
	if int(owner.Uid) != os.Geteuid() {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
		err = os.Chown(profile, int(owner.Uid), int(owner.Gid))
	}
	return command, err
}
