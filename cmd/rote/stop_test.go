package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitFor waits for a condition that another process brings about.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(testTime)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("waited in vain for ", what)
		}
	}
}

// waitClosed waits until the server takes no more calls: it has heard of its
// stop.
func (s *server) waitClosed() {
	s.t.Helper()
	waitFor(s.t, "the listener to close", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
}

// startNap executes a routine that sleeps for longer than the drain timeout. It
// returns when the run has started; the channel gets the response.
func (s *server) startNap() (answered chan map[string]any) {
	s.t.Helper()
	_, created := s.call("POST", "/routines/", `{"name":"nap","description":"Sleeps.","operations":[{"type":"sleep","timeout_seconds":50}]}`)
	answered = make(chan map[string]any, 1)
	go func() {
		_, answer, _ := s.try("POST", "/routines/"+created["id"].(string)+"/execute", `{"parameters":{}}`)
		answered <- answer
	}()
	waitFor(s.t, "a run", func() bool { return strings.Contains(s.log.String(), "browser started") })
	return answered
}

// A server that is stopped twice cancels its runs at once and ends in order.
func TestServerStoppedTwice(t *testing.T) {
	r := newRote(t)
	s := r.serve()
	answered := s.startNap()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.waitClosed()
	start := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	answer := <-answered // which is there before the browser has ended
	if took := time.Since(start); took > defaultDrainTime/2 {
		t.Errorf("took %v", took)
	}
	_ = s.cmd.Wait()
	endedInOrder(t, r, s, answer)
}

// A browser that hangs while it starts does not delay the stop of the server.
func TestHungBrowserDoesNotDelayStop(t *testing.T) {
	r := newRote(t)
	started := filepath.Join(r.home, "started")
	hung := r.file("hung", "#!/bin/sh\ntouch "+started+"\nexec sleep 600\n")
	if err := os.Chmod(hung, 0o755); err != nil {
		t.Fatal(err)
	}
	s := r.serve("--browser", hung)
	_, created := s.call("POST", "/routines/", `{"name":"nap","description":"Sleeps.","operations":[{"type":"sleep","timeout_seconds":1}]}`)
	go func() { _, _, _ = s.try("POST", "/routines/"+created["id"].(string)+"/execute", `{"parameters":{}}`) }()
	waitFor(t, "the browser to hang", func() bool { _, err := os.Stat(started); return err == nil })
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.waitClosed()
	start := time.Now()
	s.stop(syscall.SIGTERM)
	if took := time.Since(start); took > defaultDrainTime/2 {
		t.Errorf("took %v\n%s", took, s.log)
	}
}

// endedInOrder fails unless the server has ended its one run as interrupted and
// left nothing behind.
func endedInOrder(t *testing.T, r *rote, s *server, answer map[string]any) {
	t.Helper()
	if answer["code"] != "interrupted" || s.cmd.ProcessState.ExitCode() != 0 {
		t.Fatalf("%v\n%s", answer, s.log)
	}
	waitNone(t, "--user-data-dir="+r.home)
	if n := openExecutions(t, r.home); n != 0 {
		t.Errorf("%d executions were left open", n)
	}
}
