//go:build inspector

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The official MCP Inspector (npm @modelcontextprotocol/inspector) is another
// maker's client: it lists and calls the demo routine over every transport. Its
// program is in ROTE_INSPECTOR; .ci/npm installs it.
func TestInspector(t *testing.T) {
	r := newRote(t)
	s := r.serve()
	text, err := os.ReadFile(r.example("search_products"))
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := s.call("POST", "/routines/", string(text)); status != 201 {
		t.Fatal(status, answer)
	}
	mcp := r.command("mcp")
	stdio := []string{mcp.Path, "mcp"}
	for _, e := range mcp.Env {
		stdio = append(stdio, "-e", e)
	}
	token := []string{"--header", "Authorization: Bearer " + s.token}
	for name, target := range map[string][]string{
		"stdio":              stdio,
		"http":               append([]string{s.url + "/mcp", "--transport", "http"}, token...),
		"http, modern era":   append([]string{s.url + "/mcp", "--transport", "http", "--protocol-era", "modern"}, token...),
		"server-sent events": append([]string{s.url + "/sse", "--transport", "sse"}, token...),
	} {
		t.Run(name, func(t *testing.T) {
			inspect := func(args ...string) string {
				t.Helper()
				c := exec.CommandContext(t.Context(), os.Getenv("ROTE_INSPECTOR"), append(append([]string{"--cli"}, target...), args...)...)
				c.Env = append(mcp.Env, "HOME="+t.TempDir())
				var out, errs bytes.Buffer
				c.Stdout, c.Stderr = &out, &errs
				if err := c.Run(); err != nil {
					t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
				}
				return out.String()
			}
			var list struct{ Tools []struct{ Name string } }
			out := inspect("--method", "tools/list", "--strict")
			if json.Unmarshal([]byte(out), &list) != nil || !slices.ContainsFunc(list.Tools, func(t struct{ Name string }) bool { return t.Name == "search_products" }) {
				t.Fatal(out)
			}
			out = inspect("--method", "tools/call", "--tool-name", "search_products", "--tool-arg", "query=lamp", "--tool-arg", "site="+r.shop)
			if !strings.Contains(out, "LAMP-02") || strings.Contains(out, `"isError": true`) {
				t.Fatal(out)
			}
		})
	}
}
