//go:build unix && !linux

package browser

import (
	"os/exec"
	"strconv"
	"strings"
)

// memoryUse is how many bytes the browser's processes hold that outlive a run:
// all but the renderers, shared pages included in each. 0 when ps does not tell.
func (p *process) memoryUse() int64 {
	// They are in one process group.
	out, err := exec.Command("ps", "-A", "-o", "pgid=,rss=,command=").Output()
	if err != nil {
		return 0
	}
	held := int64(0)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != strconv.Itoa(p.cmd.Process.Pid) || strings.Contains(line, "--type=renderer") {
			continue
		}
		kib, _ := strconv.ParseInt(f[1], 10, 64)
		held += kib << 10
	}
	return held
}
