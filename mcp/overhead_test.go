package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/httpapi"
	"rote/routine/routinetest"
	"rote/routine/service"
	"rote/routine/sqlite"
)

// noop is a call that does nothing but travel, of a tool that both servers have.
const noop = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_routine","arguments":{"id":"only"}}}`

// maxOverhead is how much longer a call that does nothing may take than with
// mcp-go's own server, which checks nothing.
const maxOverhead = 1.3

// BenchmarkOverhead compares such a call, with its guards, its token and a look
// for changes in a database, with the same call of a server of mcp-go as it
// comes, in turns. It fails when ours takes too long.
func BenchmarkOverhead(b *testing.B) {
	ours, answer := roteForNoop(b)
	for _, c := range []struct {
		name        string
		ours, stock func(b *testing.B) func()
	}{
		{"legacy", ours.overHTTP(legacy), stockHTTP(answer, legacy)},
		{"modern", ours.overHTTP(modern), stockHTTP(answer, modern)},
		{"stdio", ours.overStdio, stockStdio(answer)},
	} {
		b.Run(c.name, func(b *testing.B) { compare(b, c.ours(b), c.stock(b)) })
	}
}

// compare has both do their call in turns, and reports the medians.
func compare(b *testing.B, ours, stock func()) {
	const turn = 20
	var times [2][]time.Duration
	for range 200 { // connections and caches are warm then
		ours()
		stock()
	}
	for i := 0; b.Loop(); i++ {
		for side, call := range [2]func(){ours, stock} {
			for range turn {
				began := time.Now()
				call()
				times[side] = append(times[side], time.Since(began))
			}
		}
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2].Nanoseconds()) / 1e3
	}
	o, s := median(times[0]), median(times[1])
	b.Logf("medians: %.0f µs, stock %.0f µs, ratio %.2f", o, s, o/s)
	b.ReportMetric(o, "rote-µs")
	b.ReportMetric(s, "stock-µs")
	b.ReportMetric(o/s, "ratio")
	if len(times[0]) > 100*turn && o > maxOverhead*s {
		b.Errorf("a call takes %.0f µs, %.2f times as long as at a stock server", o, o/s)
	}
}

// noopServer is a server with all that rote serve has, but a browser.
type noopServer struct {
	server *Server
	front  *httpFixture
}

// roteForNoop returns the server and what it answers.
func roteForNoop(b *testing.B) (*noopServer, string) {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "rote.db"))
	if err != nil {
		b.Fatal(err)
	}
	core := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	b.Cleanup(func() {
		core.Close(context.WithoutCancel(b.Context()))
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	if _, _, err := core.CreateRoutine(b.Context(), ann, []byte(named("only")), service.Idempotency{}); err != nil {
		b.Fatal(err)
	}
	secret, _, err := core.CreateToken(b.Context(), ann, 0)
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(Config{Service: core})
	if err != nil {
		b.Fatal(err)
	}
	f := &httpFixture{http: s.NewHTTP(httpapi.NewAdmission(httpapi.Config{Service: core}), ""), tokens: map[string]string{"ann": secret}}
	listener := httptest.NewServer(f.http)
	f.url = listener.URL
	b.Cleanup(func() { f.http.Close(); listener.Close() })
	n := &noopServer{s, f}
	c := &httpCaller{f: f, era: modern, user: "ann"}
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(exchangeText(b, c, noop), &m); err != nil || len(m.Result.Content) != 1 {
		b.Fatal(err)
	}
	return n, m.Result.Content[0].Text
}

func (n *noopServer) overHTTP(e era) func(*testing.B) func() {
	return func(b *testing.B) func() { return callOverHTTP(b, n.front, e) }
}

// callOverHTTP returns a call over a connection that stays open.
func callOverHTTP(b *testing.B, f *httpFixture, e era) func() {
	c := &httpCaller{f: f, era: e, user: "ann"}
	if e == legacy {
		r, err := c.send(b.Context(), hello)
		if err != nil {
			b.Fatal(err)
		}
		_ = r.Body.Close()
		c.session = r.Header.Get("Mcp-Session-Id")
	}
	return func() { exchangeText(b, c, noop) }
}

func exchangeText(b *testing.B, c *httpCaller, text string) []byte {
	r, err := c.send(b.Context(), text)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"result"`) {
		b.Fatal(r.Status, string(answer), err)
	}
	return answer
}

// stock is a server as the library's readers make it, with the tool of the call.
func stock(answer string) *server.MCPServer {
	m := server.NewMCPServer("stock", "1", server.WithToolCapabilities(true))
	m.AddTool(mcp.NewTool("describe_routine", mcp.WithString("id")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(json.RawMessage(answer), answer), nil
	})
	return m
}

func stockHTTP(answer string, e era) func(*testing.B) func() {
	return func(b *testing.B) func() {
		listener := httptest.NewServer(server.NewStreamableHTTPServer(stock(answer), server.WithStateful(true)))
		b.Cleanup(listener.Close)
		return callOverHTTP(b, &httpFixture{url: listener.URL, tokens: map[string]string{}}, e)
	}
}

func (n *noopServer) overStdio(b *testing.B) func() {
	return callOverStdio(b, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return n.server.ServeStdio(ctx, ann, in, out)
	})
}

func stockStdio(answer string) func(*testing.B) func() {
	return func(b *testing.B) func() {
		return callOverStdio(b, server.NewStdioServer(stock(answer)).Listen)
	}
}

func callOverStdio(b *testing.B, serve func(context.Context, io.Reader, io.Writer) error) func() {
	inR, in := pipe(b)
	out, outW := pipe(b)
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, inR, outW) }()
	d := json.NewDecoder(out)
	exchange := func(line string) {
		var m struct{ Result json.RawMessage }
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			b.Fatal(err)
		}
		if err := d.Decode(&m); err != nil || m.Result == nil {
			b.Fatal(err)
		}
	}
	exchange(hello)
	b.Cleanup(func() {
		stop()
		_ = in.Close()
		<-ended
	})
	return func() { exchange(noop) }
}

// pipe is one as between two processes.
func pipe(b *testing.B) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}
