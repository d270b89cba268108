package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// soonEnough is how long a page may live on after its caller has gone. The run
// itself would go on for 50 s.
const soonEnough = 25 * time.Second

// clinging is a site whose page holds a connection open as long as it lives.
type clinging struct {
	url          string
	opened, gone chan string // the name of the page
}

func newClinging(t *testing.T) *clinging {
	c := &clinging{opened: make(chan string, 10), gone: make(chan string, 10)}
	mux := http.NewServeMux()
	mux.HandleFunc("/hold", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		c.opened <- r.FormValue("page")
		<-r.Context().Done()
		c.gone <- r.FormValue("page")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<script>new EventSource("/hold?page=%s")</script>`, strings.TrimPrefix(r.URL.Path, "/"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	c.url = s.URL
	return c
}

// lives waits until the page has been opened.
func (c *clinging) lives(t *testing.T, page string) {
	t.Helper()
	select {
	case got := <-c.opened:
		if got != page {
			t.Fatalf("%s was opened, not %s", got, page)
		}
	case <-time.After(testTime):
		t.Fatalf("%s was not opened", page)
	}
}

// dies waits until the page is gone, which must be soon after since.
func (c *clinging) dies(t *testing.T, page string, since time.Time) {
	t.Helper()
	select {
	case got := <-c.gone:
		if took := time.Since(since); got != page || took > soonEnough {
			t.Errorf("%s was gone, %s expected, after %v", got, page, took)
		}
	case <-time.After(testTime):
		t.Fatalf("%s was not closed", page)
	}
}

const cling = `{"name":"cling","description":"Opens a page and stays.","parameters":[{"name":"site","type":"url"}],"operations":[
	{"type":"navigate","url":"{{site}}"},{"type":"sleep","timeout_seconds":50}]}`

// newClingingRote is a place to run in whose shop is a clinging site.
func newClingingRote(t *testing.T) (*rote, *clinging) {
	t.Helper()
	r, site := newRote(t), newClinging(t)
	r.shop = site.url
	return r, site
}

func (r *rote) calling(id, page string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"cling","arguments":{"site":"%s/%s"}}}`, id, r.shop, page)
}

const cancelling = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q}}`

// stdio is a rote mcp whose standard input we hold.
type stdio struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

func (r *rote) stdio(c *exec.Cmd) *stdio {
	r.t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	c.Stderr, c.WaitDelay = io.Discard, time.Second
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
	return &stdio{c, in}
}

func (s *stdio) send(line string) { _, _ = io.WriteString(s.in, line+"\n") }

// However a client of stdio disconnects, its page is closed, and when the
// process ends, so does every Chromium.
func TestStdioClientDisconnects(t *testing.T) {
	t.Parallel()
	r, site := newClingingRote(t)
	s := r.serve()
	if status, answer := s.call("POST", "/routines/", cling); status != 201 {
		t.Fatal(status, answer)
	}
	s.stop(syscall.SIGTERM)
	for _, row := range []struct {
		name  string
		start func() *stdio
		leave func(*stdio)
		stays bool
	}{
		{name: "SIGKILL", leave: func(s *stdio) { _ = s.cmd.Process.Kill() }},
		{name: "notification", leave: func(s *stdio) { s.send(fmt.Sprintf(cancelling, "1")) }, stays: true},
		{name: "end-of-input", leave: func(s *stdio) { _ = s.in.Close() }},
		{name: "SIGTERM", leave: func(s *stdio) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }},
		{name: "SIGKILL-of-the-parent", leave: func(s *stdio) { _ = s.cmd.Process.Kill() }, // which leaves our end of the pipe open
			start: func() *stdio {
				c := r.command("mcp")
				c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `"$0" mcp; exit`, os.Args[0]}
				return r.stdio(c)
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.start == nil {
				row.start = func() *stdio { return r.stdio(r.command("mcp")) }
			}
			s := row.start()
			s.send(r.calling("1", row.name))
			site.lives(t, row.name)
			left := time.Now()
			row.leave(s)
			site.dies(t, row.name, left)
			if row.stays {
				_ = s.in.Close()
			}
			waitNone(t, "--user-data-dir="+r.home)
			profiles(t, r.home) // the next sweeps them
		})
	}
}

// httpClient calls the routine over one transport of a server and can leave.
type httpClient struct {
	s      *server
	header map[string]string
	hangUp context.CancelFunc
}

func (c *httpClient) do(ctx context.Context, method, url, body string) *http.Response {
	q, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		c.s.t.Error(err)
		return nil
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("Authorization", "Bearer "+c.s.token)
	for name, value := range c.header {
		q.Header.Set(name, value)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil // hung up
	}
	return r
}

// post sends a message and forgets the answer.
func (c *httpClient) post(ctx context.Context, url, body string) {
	if r := c.do(ctx, "POST", url, body); r != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
}

const initializing = `{"jsonrpc":"2.0","id":"0","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// callOver has a client of the transport call the routine. cancel sends the
// notification that it no longer wants the answer.
func (s *server) callOver(transport, page string) (c *httpClient, cancel func()) {
	s.t.Helper()
	c = &httpClient{s: s, header: map[string]string{}}
	var ctx context.Context
	ctx, c.hangUp = context.WithCancel(s.t.Context())
	s.t.Cleanup(c.hangUp)
	body, url := s.calling("1", page), s.url+"/mcp"
	switch transport {
	case "modern":
		c.header = map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "cling"}
		body = strings.Replace(body, `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`, 1)
	case "legacy":
		r := c.do(s.t.Context(), "POST", url, initializing)
		_ = r.Body.Close()
		c.header["Mcp-Session-Id"] = r.Header.Get("Mcp-Session-Id")
	case "sse":
		r := c.do(ctx, "GET", s.url+"/sse", "")
		lines := bufio.NewReader(r.Body)
		_, _ = lines.ReadString('\n') // its name
		data, err := lines.ReadString('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		url = s.url + strings.TrimSpace(strings.TrimPrefix(data, "data: "))
		go func() { _, _ = io.Copy(io.Discard, lines); _ = r.Body.Close() }()
		c.post(s.t.Context(), url, initializing)
	}
	go c.post(ctx, url, body)
	return c, func() { c.post(s.t.Context(), url, fmt.Sprintf(cancelling, "1")) }
}

// However a client over HTTP disconnects, its page is closed. When the server
// ends, so does every Chromium.
func TestHTTPClientDisconnects(t *testing.T) {
	t.Parallel() // it waits for the end of a limit
	r, site := newClingingRote(t)
	s := r.serve()
	if status, answer := s.call("POST", "/routines/", cling); status != 201 {
		t.Fatal(status, answer)
	}
	transports := []string{"legacy", "modern", "sse"}
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			c, _ := s.callOver(transport, "hang-up-"+transport)
			site.lives(t, "hang-up-"+transport)
			left := time.Now()
			c.hangUp()
			site.dies(t, "hang-up-"+transport, left)
			if transport == "modern" {
				return // hanging up is how this revision cancels
			}
			_, cancel := s.callOver(transport, "notification-"+transport)
			site.lives(t, "notification-"+transport)
			left = time.Now()
			cancel()
			site.dies(t, "notification-"+transport, left)
		})
	}
	token := s.token
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		if s.cmd.ProcessState != nil {
			s = r.serve()
			s.token = token
		}
		for _, transport := range transports {
			s.callOver(transport, signal.String())
			site.lives(t, signal.String())
		}
		s.stop(signal) // SIGTERM lets runs go on for a while, and then ends them
		left := time.Now()
		for range transports {
			site.dies(t, signal.String(), left)
		}
		waitNone(t, "--user-data-dir="+r.home)
		profiles(t, r.home) // the next sweeps them
	}
}
