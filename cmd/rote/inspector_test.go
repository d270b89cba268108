//go:build inspector

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The official MCP Inspector (npm @modelcontextprotocol/inspector) is another
// maker's client: it lists and calls the demo routine over stdio. Its program is
// in ROTE_INSPECTOR; .ci/run installs it.
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
	inspect := func(args ...string) string {
		t.Helper()
		mcp := r.command("mcp")
		line := []string{"--cli", mcp.Path, "mcp"}
		for _, e := range mcp.Env {
			line = append(line, "-e", e)
		}
		c := exec.CommandContext(t.Context(), os.Getenv("ROTE_INSPECTOR"), append(line, args...)...)
		c.Env = append(mcp.Env, "HOME="+t.TempDir())
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
		}
		return out.String()
	}
	var list struct{ Tools []struct{ Name string } }
	if out := inspect("--method", "tools/list"); json.Unmarshal([]byte(out), &list) != nil || len(list.Tools) != 1 || list.Tools[0].Name != "search_products" {
		t.Fatal(out)
	}
	out := inspect("--method", "tools/call", "--tool-name", "search_products", "--tool-arg", "query=lamp", "--tool-arg", "site="+r.shop)
	if !strings.Contains(out, "LAMP-02") || strings.Contains(out, `"isError": true`) {
		t.Fatal(out)
	}
}
