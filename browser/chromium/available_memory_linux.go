package chromium

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// AvailableMemory is how much more memory the processes of this machine may use, in bytes:
// what the kernel has available, or less if the control group of this process is limited.
func AvailableMemory() (int64, bool) { return availableMemory("/") }

// availableMemory is AvailableMemory for the files below a root directory.
func availableMemory(root string) (int64, bool) {
	available, known := numberAfter(filepath.Join(root, "proc/meminfo"), "MemAvailable:")
	available <<= 10
	if !known {
		available = math.MaxInt64
	}
	group, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(group)) {
		path, found := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !found { // a group of version 1
			continue
		}
		dir := filepath.Join(root, "sys/fs/cgroup", path)
		limit, limited := numberAfter(filepath.Join(dir, "memory.max"), "")
		used, _ := numberAfter(filepath.Join(dir, "memory.current"), "")
		cached, _ := numberAfter(filepath.Join(dir, "memory.stat"), "inactive_file")
		if limited {
			available, known = min(available, limit-used+cached), true
		}
	}
	return available, known
}

// numberAfter returns the number that follows a word in a line of a file; if the word is
// empty, the file's first word.
func numberAfter(file, word string) (int64, bool) {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if word != "" {
			if len(fields) == 0 || fields[0] != word {
				continue
			}
			fields = fields[1:]
		}
		if len(fields) > 0 {
			n, err := strconv.ParseInt(fields[0], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
