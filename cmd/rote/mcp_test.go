package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
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

// TestRateLimitOfBothFrontEnds: the limit that REST obeys is that of MCP too,
// and there is none on loopback unless it is asked for.
func TestRateLimitOfBothFrontEnds(t *testing.T) {
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
