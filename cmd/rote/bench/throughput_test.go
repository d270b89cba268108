package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// The window counts what ran, how long it took, and what the processes took meanwhile.
func TestWindow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processor time is read from /proc")
	}
	busy := exec.Command("sh", "-c", `sh -c 'while :; do :; done' --type=renderer & while :; do :; done`, "--remote-debugging-pipe")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		all, err := descendants(busy.Process.Pid)
		if err != nil {
			t.Error(err)
		}
		for _, p := range slices.Backward(all) {
			if process, err := os.FindProcess(p.pid); err == nil {
				_ = process.Kill()
			}
		}
		_ = busy.Wait()
	})
	browser, err := browserOf(os.Getpid())
	if err != nil || browser != busy.Process.Pid {
		t.Fatalf("found %d (%v), the browser is %d", browser, err, busy.Process.Pid)
	}
	l := &load{name: floorFresh, engine: "shell", browser: browser, run: func(context.Context) (string, error) {
		<-time.After(10 * time.Millisecond)
		return greeting, nil
	}}
	l.windows = map[int]*window{2: {}}
	w := l.windows[2]
	for range 20 { // other work can take both processors for a while
		if err := l.measure(t.Context(), 2, 300*time.Millisecond, w); err != nil {
			t.Fatal(err)
		}
		if w.cpu[shareBrowser] > 0 && w.cpu[shareRenderers] > 0 {
			break
		}
	}
	if w.cpu[shareBrowser] == 0 || w.cpu[shareRenderers] == 0 || w.memory == 0 || len(w.times) < 4 || slices.Min(w.times) < 10*time.Millisecond {
		t.Fatalf("got %+v", w)
	}
	if table := throughputTable([]*load{l}, []int{2}); !strings.Contains(table, "| 2 | "+floorFresh+" | shell | ") || !strings.Contains(table, " | 1.00 | ") {
		t.Fatal(table)
	}
}

func TestShareOf(t *testing.T) {
	for line, want := range map[string]share{
		"shell --type=renderer --headless=old":                                              shareRenderers,
		"shell --type=zygote --no-zygote-sandbox":                                           shareRenderers,
		"shell --type=gpu-process --disable-gpu":                                            shareGPU,
		"shell --type=utility --utility-sub-type=network.mojom.NetworkService --lang=en-US": shareNetwork,
		"shell --type=utility --utility-sub-type=storage.mojom.StorageService":              shareOther,
		"shell --headless=new --remote-debugging-pipe":                                      shareOther,
	} {
		for _, command := range [][]string{{line}, strings.Fields(line)} {
			if got := shareOf(command); got != want {
				t.Errorf("%q: got share %d, want %d", command, got, want)
			}
		}
	}
	c := cpuShares{shareRote: 20 * time.Millisecond, shareGPU: 10 * time.Millisecond}
	if got, want := c.plus(c).minus(c).perRun(2), "15 | 10.0 | 0.0 | 0.0 | 5.0 | 0.0 | 0.0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
