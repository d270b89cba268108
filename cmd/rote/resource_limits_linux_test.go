package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rote/routine/routinetest/optional"
)

// works fails unless the server reads, writes and answers.
func (s *server) works() {
	s.t.Helper()
	start := time.Now()
	status, created := s.call("POST", "/routines/", `{"name":"n","description":"d","operations":[{"type":"sleep","timeout_seconds":0}]}`)
	if status != 201 {
		s.t.Fatalf("%d %v", status, created)
	}
	if status, got := s.call("GET", "/routines/"+created["id"].(string), ""); status != 200 {
		s.t.Fatalf("%d %v", status, got)
	}
	if took := time.Since(start); took > testTime/2 {
		s.t.Errorf("two calls took %v", took)
	}
}

// fails runs a routine that cannot run, and returns the code of its failure.
func (s *server) fails() string {
	s.t.Helper()
	_, created := s.call("POST", "/routines/", `{"name":"go","description":"d","operations":[{"type":"navigate","url":"`+s.shop+`/"}]}`)
	status, answer := s.call("POST", "/routines/"+created["id"].(string)+"/execute", `{"parameters":{}}`)
	if status < 500 {
		s.t.Fatalf("%d %v", status, answer)
	}
	return answer["code"].(string)
}

// program writes an executable file into the home and returns its path.
func (r *rote) program(name, text string) string {
	r.t.Helper()
	path := r.file(name, text)
	if err := os.Chmod(path, 0o755); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// If the browser cannot start, everything that needs no browser still works.
func TestMissingBrowser(t *testing.T) {
	t.Run("removed", func(t *testing.T) {
		r := newRote(t)
		removed := r.program("removed", "")
		s := r.serve("--browser", removed)
		if err := os.Remove(removed); err != nil {
			t.Fatal(err)
		}
		if code := s.fails(); code != "browser_unavailable" {
			t.Error(code)
		}
		s.works()
	})
	t.Run("exits at once, again and again", func(t *testing.T) {
		r := newRote(t)
		s := r.serve("--browser", r.program("broken", "#!/bin/sh\nexit 1\n"))
		if status, answer := s.call("GET", "/readyz", ""); status != 503 || answer["code"] != "browser_unavailable" { // before any run
			t.Errorf("readiness: %d %v", status, answer)
		}
		for range 7 {
			if code := s.fails(); code != "browser_unavailable" {
				t.Error(code)
			}
		}
		s.works()
	})
	t.Run("no room for its profile", func(t *testing.T) {
		r := newRote(t)
		small(t, filepath.Join(r.home, "tmp"), "nr_inodes=1")
		s := r.serve()
		if code := s.fails(); code != "browser_unavailable" {
			t.Error(code)
		}
		s.works()
		s.stop(syscall.SIGTERM)
	})
}

// small puts a file system that is full into a directory, for as long as the
// test goes.
func small(t *testing.T, dir, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skip("a small disk cannot be had: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
}

// A browser that cannot write to disk works, because runs keep their data in
// memory.
func TestFullTempDirectory(t *testing.T) {
	r := newRote(t)
	small(t, filepath.Join(r.home, "tmp"), "size=4k")
	s := r.serve()
	_, created := s.call("POST", "/routines/", `{"name":"go","description":"d","operations":[{"type":"navigate","url":"`+s.shop+`/"}]}`)
	if status, answer := s.call("POST", "/routines/"+created["id"].(string)+"/execute", `{"parameters":{}}`); status != 201 {
		t.Errorf("%d %v", status, answer)
	}
	s.stop(syscall.SIGTERM)
	waitNone(t, "--user-data-dir="+r.home)
}

// A program that has no descriptors left says so, keeps what it has, and leaves
// nothing behind.
func TestOutOfFileDescriptors(t *testing.T) {
	r := newRote(t)
	s := r.start(func(c *exec.Cmd) {
		c.Args = append([]string{"sh", "-c", `ulimit -n 36 && exec "$0" "$@"`}, c.Args...)
		c.Path = "/bin/sh"
	})
	for range 3 {
		if code := s.fails(); code != "browser_unavailable" {
			t.Error(code)
		}
	}
	s.works()
	s.stop(syscall.SIGTERM)
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d\n%s", code, s.log)
	}
	waitNone(t, "--user-data-dir="+r.home)
}

// Idle connections cost descriptors and nothing else.
func TestIdleConnections(t *testing.T) {
	t.Parallel() // the server waits for new connections when it stops
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	s := newRote(t).serve()
	most := 1000
	if optional.IsFullSize() {
		most = 5000
	}
	for range min(most, int(limit.Cur)/2) {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	s.works()
	start := time.Now()
	s.stop(syscall.SIGTERM)
	if took := time.Since(start); took > testTime/2 || s.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("stopped with %d after %v", s.cmd.ProcessState.ExitCode(), took)
	}
}

// A client that never reads its response does not delay others.
func TestClientThatNeverReads(t *testing.T) {
	t.Parallel() // it waits for the end of a limit
	r := newRote(t)
	s := r.serve()
	_, created := s.call("POST", "/routines/", `{"name":"big","description":"d","parameters":[{"name":"site","type":"url"}],"operations":[{"type":"navigate","url":"{{site}}/"},
		{"type":"js_evaluate","js":"(() => 'x'.repeat(8e6))()","timeout_seconds":10,"session_storage_key":"k"},{"type":"return","session_storage_key":"k"}]}`)
	id := created["id"].(string)
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := fmt.Sprintf(`{"parameters":{"site":%q}}`, r.shop)
	fmt.Fprintf(c, "POST /routines/%s/execute HTTP/1.1\r\nHost: localhost\r\nX-Service-Token: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", id, s.token, len(body), body)
	waitFor(t, "the run to end", func() bool { return strings.Contains(s.log.String(), `"msg":"execution"`) })
	s.works()
	if status, answer := s.call("POST", "/routines/"+id+"/execute", body); status != 201 {
		t.Fatalf("%d %v", status, answer["code"])
	}
	start := time.Now()
	s.stop(syscall.SIGTERM)
	if took := time.Since(start); took > responseTimeout+testTime/2 {
		t.Errorf("it held up the stop for %v", took)
	}
}
