package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// own is a browser of the test's own, closed with it.
func own(t *testing.T) *Browser {
	t.Helper()
	b := newBrowser()
	t.Cleanup(b.Close)
	return b
}

func mustOpen(t *testing.T, b *Browser) *page {
	t.Helper()
	return mustOpenWith(t, b, routine.PageOptions{})
}

func mustOpenWith(t *testing.T, b *Browser, o routine.PageOptions) *page {
	t.Helper()
	if missing(b) {
		skipFull(t)
	}
	p, err := b.Open(testContext(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p.(*tabs).first
}

func gonePid(pid int) bool { return errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) }

func waitGone(t *testing.T, pid int) {
	t.Helper()
	soon(t, fmt.Sprintf("process group %d ends", pid), func() bool { return gonePid(pid) })
}

// soon waits until something holds, which it must do within half a minute.
func soon(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(testTime / 2)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within %v", what, testTime/2)
		}
	}
}

// waitIdle waits until no run is on any browser and all that is there are the
// ready contexts of the current one.
func waitIdle(t *testing.T, b *Browser) {
	t.Helper()
	soon(t, "the browser rests", func() bool {
		b.mu.Lock()
		gone := b.current == nil
		b.mu.Unlock()
		if gone { // it took too long to dispose of a context, and the next run starts another
			mustOpen(t, b).Close()
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		i := b.current
		return len(b.instances) == 1 && b.instances[i] && i.users == 0 && len(i.ready) == b.readyContexts(i)
	})
	b.mu.Lock()
	i := b.current
	ready := b.readyContexts(i)
	b.mu.Unlock()
	contexts, err := proto.TargetGetBrowserContexts{}.Call(i.client.Browser(testContext(t)))
	if err != nil || len(contexts.BrowserContextIDs) != ready {
		t.Fatalf("%d contexts, want the %d ready ones: %v", len(contexts.BrowserContextIDs), ready, err)
	}
	targets, err := proto.TargetGetTargets{}.Call(i.client.Browser(testContext(t)))
	if err != nil || len(targets.TargetInfos) != ready+1 { // one came with the browser
		t.Fatalf("%d targets, want %d: %v", len(targets.TargetInfos), ready+1, err)
	}
	if requests, sessions := i.client.InUse(); requests > 0 || sessions != 1+ready {
		t.Errorf("%d requests and %d sessions are remembered", requests, sessions)
	}
}

func TestNothingStartsBeforeItIsNeeded(t *testing.T) {
	if b := own(t); b.current != nil {
		t.Fatal("a browser runs already")
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	b := newBrowser()
	p := mustOpen(t, b)
	if _, err := p.Navigate(testContext(t), site(t, map[string]any{"/": `<script>setTimeout(() => { while (true) {} }, 50)</script>`})+"/"); err != nil {
		t.Fatal(err)
	}
	pid, dir := pidOf(p), filepath.Dir(p.i.process.Home())
	p.Close()
	b.Close()
	waitGone(t, pid)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("the profile is left: ", err)
	}
	if _, err := b.Open(testContext(t), routine.PageOptions{}); routine.CodeOf(err) != routine.CodeShuttingDown {
		t.Fatal(err)
	}
}

func TestKilledBrowser(t *testing.T) {
	b := own(t)
	var log bytes.Buffer
	b.config.Log = slog.New(slog.NewTextHandler(&log, nil))
	p := mustOpen(t, b)
	failed := make(chan error, 1)
	go func() {
		_, err := p.Evaluate(testContext(t), script(`(() => new Promise(() => {}))()`, 20*time.Second))
		failed <- err
	}()
	if err := syscall.Kill(-pidOf(p), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-failed, routine.CodeBrowserCrashed, "the browser ended")
	p.Close()
	formTask(t, mustOpen(t, b), site(t, map[string]any{"/form": form})+"/form")
	b.Close()
	if said := log.String(); strings.Count(said, "ended by itself") != 1 || !strings.Contains(said, "signal: killed") {
		t.Errorf("logged %s", said)
	}
}

func TestCrashedPage(t *testing.T) {
	b := own(t)
	p, other := mustOpen(t, b), mustOpen(t, b)
	if _, err := p.Navigate(testContext(t), "chrome://crash"); err == nil {
		t.Fatal("no error")
	}
	_, err := p.Evaluate(testContext(t), script(`(() => 1)()`, time.Second))
	wantCode(t, err, routine.CodeBrowserCrashed, "the page crashed")
	p.Close()
	formTask(t, other, site(t, map[string]any{"/form": form})+"/form")
}

// If a caller gives up while the browser starts, the browser still starts for the
// others.
func TestStartOutlivesItsFirstCaller(t *testing.T) {
	b := own(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Open(ctx, routine.PageOptions{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	mustOpen(t, b)
	if len(b.failures) != 0 {
		t.Fatal("the start was counted as a failure")
	}
}

// If a caller gives up while its page is made, the page is kept for the next caller.
func TestCancelledOpenLeavesNothing(t *testing.T) {
	t.Parallel()
	b := own(t)
	mustOpen(t, b).Close()
	for n := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*time.Millisecond/8)
		if p, err := b.Open(ctx, routine.PageOptions{}); err == nil {
			p.Close()
		}
		cancel()
	}
	waitIdle(t, b)
	formTask(t, mustOpen(t, b), site(t, map[string]any{"/form": form})+"/form")
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	b := own(t)
	url := site(t, map[string]any{"/form": form}) + "/form"
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			p, err := b.Open(testContext(t), routine.PageOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			formTask(t, p.(*tabs).first, url)
			p.Close()
		})
	}
	all.Wait()
	waitIdle(t, b)
}

func TestUnusableExecutable(t *testing.T) {
	script := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho no display here >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, words := range map[string]string{"/nowhere/chromium": "rote browser install", script: "no display here"} {
		b := New(Config{Executable: path, Egress: shared.config.Egress})
		t.Cleanup(b.Close)
		_, err := b.Open(testContext(t), routine.PageOptions{})
		wantCode(t, err, routine.CodeBrowserUnavailable, words)
	}
	t.Run("is not started again and again", func(t *testing.T) {
		b := New(Config{Executable: script, Egress: shared.config.Egress})
		t.Cleanup(b.Close)
		for range maxFailures {
			if _, err := b.Open(testContext(t), routine.PageOptions{}); err == nil || strings.Contains(err.Error(), "within a minute") {
				t.Fatal(err)
			}
		}
		_, err := b.Open(testContext(t), routine.PageOptions{})
		wantCode(t, err, routine.CodeBrowserUnavailable, "within a minute")
	})
}
