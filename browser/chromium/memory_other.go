//go:build unix && !linux

package chromium

import (
	"os/exec"
	"strconv"
	"strings"
)

// MemoryUse is the memory of the browser's processes that outlive a run, all but the
// renderers, in bytes. Shared pages count in each. It is 0 if ps does not report it.
func (p *Process) MemoryUse() int64 {
	// They are in one process group.
	out, err := exec.Command("ps", "-A", "-o", "pgid=,rss=,command=").Output()
	if err != nil {
		return 0
	}
	held := int64(0)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != strconv.Itoa(p.PID()) || strings.Contains(line, "--type=renderer") {
			continue
		}
		kib, _ := strconv.ParseInt(f[1], 10, 64)
		held += kib << 10
	}
	return held
}

// AvailableMemory is not known here.
func AvailableMemory() (int64, bool) { return 0, false }
