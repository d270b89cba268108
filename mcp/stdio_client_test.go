package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/goleak"

	"rote/routine"
	"rote/routine/routinetest/leakcheck"
)

// syncBuffer takes log lines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *syncBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

// serving is a running ServeStdio. When the test ends it ends too, and no
// goroutine may be left.
type serving struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *io.PipeReader
	stop context.CancelFunc

	once sync.Once
	done chan error
	err  error
}

func serve(t *testing.T, s *Server) *serving { return serveAs(t, s, ann) }

func serveAs(t *testing.T, s *Server, p routine.Principal) *serving {
	t.Helper()
	before := goleak.IgnoreCurrent()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	v := &serving{t: t, in: inW, out: outR, stop: stop, done: make(chan error, 1)}
	go func() {
		v.done <- s.ServeStdio(ctx, p, inR, outW)
		_ = outW.Close()
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		// A client that has closed reads no more, but a notification may still come.
		go func() { _, _ = io.Copy(io.Discard, outR) }()
		if err := v.wait(); err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		stop()
		if err := leakcheck.Find(before); err != nil {
			t.Error(err)
		}
	})
	return v
}

// wait returns what ServeStdio returned.
func (v *serving) wait() error {
	v.once.Do(func() {
		select {
		case v.err = <-v.done:
		case <-time.After(time.Minute):
			v.t.Error("ServeStdio did not return within a minute")
		}
	})
	return v.err
}

// peer speaks the protocol line by line.
type peer struct {
	*serving
	lines chan string
}

func newPeer(t *testing.T, s *Server) *peer {
	t.Helper()
	p := &peer{serving: serve(t, s), lines: make(chan string, 10000)}
	go func() {
		defer close(p.lines)
		r := bufio.NewReader(p.out)
		for {
			l, err := r.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- strings.TrimSuffix(l, "\n")
		}
	}()
	return p
}

// initialized is a peer that has shaken hands.
func initialized(t *testing.T, s *Server) *peer {
	t.Helper()
	p := newPeer(t, s)
	p.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if hello := p.next(); hello.Error != nil {
		t.Fatalf("initialize: %s", hello.raw)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatalf("send: %v", err)
	}
}

// message is anything the server sends.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProgressToken json.RawMessage `json:"progressToken"`
		Progress      float64         `json:"progress"`
		Total         int             `json:"total"`
		Message       string          `json:"message"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	raw string
}

func (p *peer) next() message {
	p.t.Helper()
	select {
	case l, open := <-p.lines:
		if !open {
			p.t.Fatal("the server closed its output")
		}
		m := message{raw: l}
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			p.t.Fatalf("line %q: %v", l, err)
		}
		return m
	case <-time.After(time.Minute):
		p.t.Fatal("no message within a minute")
		panic("unreachable")
	}
}

// drained takes a message and reports whether there was one.
func (p *peer) drained() bool {
	_, open := <-p.lines
	return open
}

// result is the answer to a request, which must be the next message.
func (p *peer) result(id string) message {
	p.t.Helper()
	m := p.next()
	if string(m.ID) != id || m.Result == nil {
		p.t.Fatalf("want the result of %s, got %.300s", id, m.raw)
	}
	return m
}

// answer is the result of a request, which may come behind the news that the
// tools have changed.
func (p *peer) answer(id string) message {
	p.t.Helper()
	for {
		m := p.next()
		if m.Method == "notifications/tools/list_changed" {
			continue
		}
		if string(m.ID) != id || m.Result == nil {
			p.t.Fatalf("want the result of %s, got %.300s", id, m.raw)
		}
		return m
	}
}

// tools asks for the list and returns the names of the routines in it.
func (p *peer) tools() string {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`)
	var list struct {
		Tools []struct{ Name string } `json:"tools"`
	}
	if m := p.answer(`"tools"`); json.Unmarshal(m.Result, &list) != nil {
		p.t.Fatalf("tools/list: %.300s", m.raw)
	}
	var names []string
	for _, tool := range list.Tools {
		if !slices.ContainsFunc(runTools(), func(b builtin) bool { return b.name == tool.Name }) {
			names = append(names, tool.Name)
		}
	}
	return strings.Join(names, " ")
}

func call(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

// connect returns mcp-go's own client, connected.
func connect(t *testing.T, s *Server, options ...client.ClientOption) *client.Client {
	t.Helper()
	return connectAs(t, s, ann, options...)
}

func connectAs(t *testing.T, s *Server, p routine.Principal, options ...client.ClientOption) *client.Client {
	t.Helper()
	c, _ := initializedClient(t, s, p, options...)
	return c
}

// initializedClient also returns the answer to initialize.
func initializedClient(t *testing.T, s *Server, p routine.Principal, options ...client.ClientOption) (*client.Client, *mcp.InitializeResult) {
	t.Helper()
	v := serveAs(t, s, p)
	c := client.NewClient(transport.NewIO(v.out, v.in, io.NopCloser(strings.NewReader(""))), options...)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	answer, err := c.Initialize(t.Context(), hello)
	if err != nil {
		t.Fatalf("initialize: %v", err)
	}
	return c, answer
}

// callTool calls through the client; the result's text is its first content.
func callTool(t *testing.T, c *client.Client, tool string, arguments any) (*mcp.CallToolResult, string) {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	result, err := c.CallTool(t.Context(), request)
	if err != nil {
		t.Fatalf("call %s: %v", tool, err)
	}
	text, ok := result.Content[0].(mcp.TextContent)
	if !ok {
		t.Fatalf("call %s: first content is %T", tool, result.Content[0])
	}
	return result, text.Text
}

// readResource returns what a resource has, text or bytes.
func readResource(t *testing.T, c *client.Client, uri string) string {
	t.Helper()
	var q mcp.ReadResourceRequest
	q.Params.URI = uri
	r, err := c.ReadResource(t.Context(), q)
	if err != nil || len(r.Contents) != 1 {
		t.Fatalf("read %s: %+v, %v", uri, r, err)
	}
	switch content := r.Contents[0].(type) {
	case mcp.TextResourceContents:
		return content.Text
	case mcp.BlobResourceContents:
		b, err := base64.StdEncoding.DecodeString(content.Blob)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	t.Fatalf("read %s: %T", uri, r.Contents[0])
	return ""
}
