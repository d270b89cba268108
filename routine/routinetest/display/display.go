// Package display gives tests a display without a screen.
package display

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Use starts Xvfb and makes it the display of this process until the test ends. Without Xvfb the
// test is skipped; in CI it fails.
func Use(t *testing.T) {
	t.Helper()
	path, err := exec.LookPath("Xvfb")
	if err != nil {
		text := "this test needs a display (apt-get install xvfb): " + err.Error()
		if os.Getenv("CI") == "" {
			t.Skip(text)
		}
		t.Fatal(text)
	}
	number, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer number.Close()
	cmd := exec.Command(path, "-displayfd", "3", "-screen", "0", "1400x1000x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{theirs}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() })
	line, err := bufio.NewReader(number).ReadString('\n')
	if err != nil {
		t.Fatal("Xvfb did not start:", err)
	}
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(line))
	t.Setenv("WAYLAND_DISPLAY", "")
}
