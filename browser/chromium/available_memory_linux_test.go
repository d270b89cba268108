package chromium

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAvailableMemory(t *testing.T) {
	const meminfo, group = "MemTotal: 9000 kB\nMemAvailable:  2000 kB\n", "0::/service\n"
	for name, row := range map[string]struct {
		files map[string]string
		want  int64
		known bool
	}{
		"no files":      {nil, 0, false},
		"no group":      {map[string]string{"proc/meminfo": meminfo}, 2000 << 10, true},
		"no limit":      {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": group, "sys/fs/cgroup/service/memory.max": "max\n"}, 2000 << 10, true},
		"a large limit": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": group, "sys/fs/cgroup/service/memory.max": "900000000\n"}, 2000 << 10, true},
		"a small limit": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "1:cpu:/\n" + group, "sys/fs/cgroup/service/memory.max": "1000000\n",
			"sys/fs/cgroup/service/memory.current": "700000\n", "sys/fs/cgroup/service/memory.stat": "anon 1\ninactive_file 50000\n"}, 350000, true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range row.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got, known := availableMemory(root); known != row.known || known && got != row.want {
				t.Fatalf("got %d, %v, want %d, %v", got, known, row.want, row.known)
			}
		})
	}
	if got, known := (&Process{}).AvailableMemory(); !known || got < 1<<20 {
		t.Errorf("this machine has %d bytes, %v", got, known)
	}
}
