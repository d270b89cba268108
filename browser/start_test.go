package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rote/browser/chromium"
	"rote/routine"
)

// pretender gives a Browser whose executable is a shell script. In it $real is a
// browser that works, and $n counts the starts from 1.
func pretender(t *testing.T, script string) *Browser {
	t.Helper()
	executable, err := chromium.Find("")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for d := dir; d != filepath.Dir(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil { // the browser may run as another user
			break
		}
	}
	path := filepath.Join(dir, "browser")
	text := fmt.Sprintf("#!/bin/sh\nreal=%q\necho >> %q\nn=$(wc -l < %q)\n%s\n", executable, path+".starts", path+".starts", script)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".starts", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path+".starts", 0o666); err != nil {
		t.Fatal(err)
	}
	b := New(Config{Executable: path, Egress: shared.config.Egress, Log: complaints})
	t.Cleanup(b.Close)
	b.startBounds = startBounds{first: 500 * time.Millisecond, next: 20 * time.Second}
	return b
}

// A browser that starts and says nothing is given up for another process, which
// serves the run.
func TestSilentStartIsFollowedByAnother(t *testing.T) {
	b := pretender(t, `[ $n = 1 ] && exec sleep 600; exec "$real" "$@"`)
	mustOpen(t, b)
	if s := b.BrowserStatistics(); s.Failures != 1 || s.Starts != 1 {
		t.Errorf("counted as %+v", s)
	}
}

// A browser that never says anything costs a run two starts, not its whole time,
// and those after it nothing.
func TestBrowserThatIsAlwaysSilent(t *testing.T) {
	t.Parallel()
	b := pretender(t, `exec sleep 600`)
	b.startBounds.next = 700 * time.Millisecond
	began := time.Now()
	_, err := b.Open(testContext(t), routine.PageOptions{})
	wantCode(t, err, routine.CodeBrowserUnavailable, "it did not answer within 700ms")
	if took := time.Since(began); took >= b.openBound {
		t.Errorf("after %v", took)
	}
	if s := b.BrowserStatistics(); s.Failures != 2 || s.Starts != 0 {
		t.Errorf("counted as %+v", s)
	}
	for err == nil || !strings.Contains(err.Error(), "within a minute") {
		if _, err = b.Open(testContext(t), routine.PageOptions{}); err == nil {
			t.Fatal("a page was opened")
		}
	}
	before := b.BrowserStatistics()
	_, err = b.Open(testContext(t), routine.PageOptions{})
	wantCode(t, err, routine.CodeBrowserUnavailable, "it did not answer")
	if after := b.BrowserStatistics(); after != before {
		t.Errorf("a browser was started: %+v after %+v", after, before)
	}
}

// If a page is not opened in time, the error says so regardless of the run's own
// limit, and the next run gets another browser.
func TestOpenIsBounded(t *testing.T) {
	b := own(t)
	b.config.Warm = -1 // no context is ready
	b.lifetime.watch, b.openBound = time.Hour, 300*time.Millisecond
	first := func() *page {
		b.openBound = 20 * time.Second
		defer func() { b.openBound = 300 * time.Millisecond }()
		return mustOpen(t, b)
	}()
	pid := pidOf(first)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := b.Open(testContext(t), routine.PageOptions{})
	wantCode(t, err, routine.CodeBrowserUnavailable, "no page could be opened within 300ms")
	b.openBound = 20 * time.Second
	if p := mustOpen(t, b); p.i == first.i {
		t.Error("served by the browser that hangs")
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// Whether a browser can be started is known without a run.
func TestReadiness(t *testing.T) {
	for name, row := range map[string]struct {
		browser *Browser
		want    string
	}{
		"missing":         {New(Config{Executable: "/nowhere/chromium", Egress: shared.config.Egress}), "rote browser install"},
		"no browser":      {pretender(t, "echo no display here >&2; exit 1"), "no display here"},
		"always silent":   {pretender(t, "exec sleep 600"), "it did not answer within"},
		"one that works":  {own(t), ""},
		"silent at first": {pretender(t, `[ $n = 1 ] && exec sleep 600; exec "$real" "$@"`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(row.browser.Close)
			row.browser.startBounds.next = 5 * time.Second
			soon(t, "it is known", func() bool {
				err := row.browser.Ready(testContext(t))
				if err == nil {
					return row.want == ""
				}
				if routine.CodeOf(err) != routine.CodeBrowserUnavailable || routine.AsError(err).RetryAfter == 0 {
					t.Fatal(err)
				}
				return row.want != "" && strings.Contains(err.Error(), row.want)
			})
		})
	}
	t.Run("closed", func(t *testing.T) {
		b := New(Config{Egress: shared.config.Egress})
		b.Close()
		wantCode(t, b.Ready(context.Background()), routine.CodeShuttingDown, "closed")
	})
}
