package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/cmd/rote/practice"
	"rote/routine/routinetest/scratch"
)

// These tests run the program itself: the test binary, started again as rote.
const beRote = "ROTE_TEST_BE_ROTE"

func TestMain(m *testing.M) {
	if os.Getenv(beRote) != "" {
		main()
		return
	}
	remove, err := scratch.Use()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue { // many tests wait as long as they work
		_ = f.Value.Set(strconv.Itoa(runtime.GOMAXPROCS(0) + 1))
	}
	code := postgresServer.Main(m)
	if err := remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// testTime bounds one command; what a test waits for comes much sooner.
const testTime = 60 * time.Second

// rote is a place to run the program in: an empty home and temporary directory
// of its own, and a practice shop that runs may reach.
type rote struct {
	t    *testing.T
	home string
	shop string
	life time.Duration // of a command, at most
	env  []string      // of commands, besides what all have
	// binary is the path of the program; empty: the one that is tested.
	binary string
}

func newRote(t *testing.T) *rote {
	t.Helper()
	shop := httptest.NewServer(practice.NewSite())
	t.Cleanup(func() { shop.CloseClientConnections(); shop.Close() })
	r := &rote{t: t, home: t.TempDir(), shop: shop.URL, life: testTime}
	if err := os.Mkdir(filepath.Join(r.home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, _ := filepath.Glob(filepath.Join(r.home, "tmp", "*"))
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return r
}

func (r *rote) command(args ...string) *exec.Cmd {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), r.life)
	r.t.Cleanup(cancel)
	c := exec.CommandContext(ctx, cmp.Or(r.binary, os.Args[0]), args...)
	c.Env = []string{beRote + "=1", "HOME=" + r.home, "TMPDIR=" + filepath.Join(r.home, "tmp"), "PATH=" + os.Getenv("PATH"),
		"ROTE_ALLOW_HOST=" + strings.TrimPrefix(r.shop, "http://")}
	c.Env = append(c.Env, r.env...)
	return c
}

// run runs a command line to its end.
func (r *rote) run(args ...string) (stdout, stderr string, code int) {
	r.t.Helper()
	c := r.command(args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// file writes a file into the home and returns its path.
func (r *rote) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.home, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// example is an embedded example as a file.
func (r *rote) example(name string) string {
	r.t.Helper()
	text, err := example(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.file(name+".json", string(text))
}

// server is a running rote serve.
type server struct {
	*rote
	cmd      *exec.Cmd
	url      string
	token    string // of the first start; empty on later ones
	out, log *output
}

// output collects what a process writes and lets a test wait for a line.
type output struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{}
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// wait waits until find finds something in the output.
func (o *output) wait(t *testing.T, find func(string) string) string {
	t.Helper()
	deadline := time.After(testTime)
	for {
		if found := find(o.String()); found != "" {
			return found
		}
		select {
		case <-o.more:
		case <-deadline:
			t.Fatalf("not in the output:\n%s", o)
		}
	}
}

// serve starts a server on a free port and waits until it answers.
func (r *rote) serve(args ...string) *server {
	r.t.Helper()
	return r.start(func(*exec.Cmd) {}, args...)
}

// start is serve of a command that change has changed.
func (r *rote) start(change func(*exec.Cmd), args ...string) *server {
	r.t.Helper()
	return r.launch("serve", "serving", change, args...)
}

// worker starts a worker on a free port and waits until it answers.
func (r *rote) worker(args ...string) *server {
	r.t.Helper()
	return r.launch("worker", "working", func(*exec.Cmd) {}, args...)
}

// launch starts a server on a free port and waits for the message of its log that it
// answers.
func (r *rote) launch(command, message string, change func(*exec.Cmd), args ...string) *server {
	r.t.Helper()
	s := &server{rote: r, cmd: r.command(append([]string{command, "--addr", "127.0.0.1:0"}, args...)...), log: &output{more: make(chan struct{}, 1)}}
	change(s.cmd)
	s.out = &output{more: make(chan struct{}, 1)}
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.log
	s.cmd.WaitDelay = time.Second
	_, noDatabase := os.Stat(filepath.Join(r.home, ".local/share/rote/rote.db"))
	if err := s.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.stop(os.Interrupt)
		}
	})
	s.url = s.log.wait(r.t, func(log string) string {
		_, after, found := strings.Cut(log, `"msg":"`+message+`","url":"`)
		if !found {
			return ""
		}
		url, _, _ := strings.Cut(after, `"`)
		return url
	})
	if noDatabase != nil && len(r.env) == 0 { // then there is a first token
		s.token = strings.TrimSpace(s.out.wait(r.t, func(out string) string {
			if strings.HasSuffix(out, "\n") {
				return out
			}
			return ""
		}))
	}
	return s
}

// stop sends a signal and waits for the end.
func (s *server) stop(signal os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	_ = s.cmd.Wait()
}

// call makes a request and decodes the answer.
func (s *server) call(method, path, body string) (int, map[string]any) {
	s.t.Helper()
	status, answer, err := s.try(method, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return status, answer
}

// try is call with further headers, by name and value.
func (s *server) try(method, path, body string, headers ...string) (int, map[string]any, error) {
	q, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		q.Header.Set("X-Service-Token", s.token)
	}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, nil, fmt.Errorf("%s: %w", text, err)
	}
	return r.StatusCode, answer, nil
}
