package chromium

import "testing"

func TestMemoryUse(t *testing.T) {
	if held := startBrowser(t, &Launcher{}).MemoryUse(); held < 20<<20 || held > 600<<20 {
		t.Fatalf("%d MiB", held>>20)
	}
}
