package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tool calls a tool over /mcp, as revision 2026-07-28 does.
func (s *server) tool(name, arguments string) string {
	s.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, name, arguments)
	q, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + s.token,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name} {
		q.Header.Set(name, value)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint(r.StatusCode, " ", string(text))
}

// Both front ends are on one listener, below one base path, behind one door.
func TestServeMCP(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve("--base-path", "/rote/")
	s.url = strings.TrimSuffix(s.url, "/")
	text, err := os.ReadFile(r.example("search_products"))
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := s.call("POST", "/routines/", string(text)); status != 201 {
		t.Fatal(status, answer)
	}
	if out := s.tool("search_products", fmt.Sprintf(`{"site":%q,"query":"lamp"}`, r.shop)); !strings.HasPrefix(out, "200") || !strings.Contains(out, "LAMP-04") {
		t.Fatal(out)
	}
	s.token = "none"
	if out := s.tool("search_products", "{}"); !strings.HasPrefix(out, "401") {
		t.Fatal(out)
	}
}

// REST and MCP share one rate limit. On loopback there is none unless a flag
// sets it.
func TestRateLimitOfBothFrontEnds(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve("--rate-limit", "2")
	for _, want := range []string{"200", "200", "429"} {
		if out := s.tool("search_routines", "{}"); !strings.HasPrefix(out, want) {
			t.Errorf("want %s: %s", want, out)
		}
	}
	if status, answer := s.call("GET", "/routines/", ""); status != 429 {
		t.Error(status, answer)
	}
}

// Callers behind the proxy that --trusted-proxy names are counted by their own
// addresses.
func TestTrustedProxy(t *testing.T) {
	t.Parallel()
	s := newRote(t).serve("--rate-limit", "1", "--trusted-proxy", "127.0.0.0/8")
	for _, row := range []struct {
		caller string
		status int
	}{{"203.0.113.1", 200}, {"203.0.113.2", 200}, {"203.0.113.1", 429}} {
		q, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/routines/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("X-Forwarded-For", row.caller)
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != row.status {
			t.Errorf("%s: %s, want %d", row.caller, answer.Status, row.status)
		}
	}
}

const grab = `{"name":"grab","description":"Downloads a page of the shop.","parameters":[{"name":"site","type":"url"}],"operations":[
	{"type":"navigate","url":"{{site}}/"},{"type":"download","endpoint":{"url":"{{site}}/product/LAMP-01"},"filename":"lamp.html"}]}`

// A client of rote mcp gets the path of a result file and can read the file
// until rote mcp ends.
func TestResultFileOnDisk(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve()
	if status, answer := s.call("POST", "/routines/", grab); status != 201 {
		t.Fatal(status, answer)
	}
	s.stop(os.Interrupt)
	c := r.command("mcp")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grab","arguments":{"site":"`+r.shop+`"}}}`+"\n")
	var m struct {
		Result struct {
			StructuredContent struct{ Files []struct{ Name, Path string } }
		}
	}
	if err := json.NewDecoder(out).Decode(&m); err != nil || len(m.Result.StructuredContent.Files) != 1 {
		t.Fatal(m, err)
	}
	f := m.Result.StructuredContent.Files[0]
	if text, err := os.ReadFile(f.Path); err != nil || f.Name != "lamp.html" || filepath.Base(f.Path) != f.Name || !strings.Contains(string(text), "Brass Desk Lamp") {
		t.Errorf("%+v: %q, %v", f, text, err)
	}
	_ = in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}
