package chromium

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MemoryUse is the memory of the browser's processes that outlive a run, all but the
// renderers, in bytes. Shared pages count in part (PSS), or whole if the kernel does not
// report that. It is 0 if nothing can be read.
func (p *Process) MemoryUse() int64 {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		// PID (NAME) STATE PARENT …, and the name may hold anything.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 1 {
			parent, _ := strconv.Atoi(string(fields[1]))
			children[parent] = append(children[parent], pid)
		}
	}
	var sum func(pid int) int64
	sum = func(pid int) int64 {
		held := int64(0)
		if args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); !bytes.Contains(args, []byte("--type=renderer")) {
			held = memoryOf(pid)
		}
		for _, child := range children[pid] {
			held += sum(child)
		}
		return held
	}
	return sum(p.PID())
}

func memoryOf(pid int) int64 {
	for _, from := range []struct{ file, line string }{{"smaps_rollup", "Pss:"}, {"status", "VmRSS:"}} {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, from.file))
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == from.line {
				kib, _ := strconv.ParseInt(f[1], 10, 64)
				return kib << 10
			}
		}
	}
	return 0
}
