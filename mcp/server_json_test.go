package mcp

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// server.json is what the MCP registry takes. testdata has the registry's own
// schema of 2025-12-11, from the Go module github.com/modelcontextprotocol/registry
// v1.8.7 (Apache-2.0).
func TestServerJSON(t *testing.T) {
	text, err := os.ReadFile("server.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("testdata/server.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat = true
	if err := compiler.AddResource("server.schema.json", bytes.NewReader(schema)); err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if err := compiler.MustCompile("server.schema.json").Validate(document); err != nil {
		t.Errorf("%#v", err)
	}
	var listing struct{ Remotes []struct{ URL string } }
	if err := json.Unmarshal(text, &listing); err != nil || len(listing.Remotes) != 2 {
		t.Fatal(listing, err)
	}
	paths := newTestServer(t).NewHTTP(nil, "").Paths()
	for _, r := range listing.Remotes {
		if path := strings.TrimPrefix(r.URL, "https://{host}"); !slices.Contains(paths, path) {
			t.Errorf("%s is not served", path)
		}
	}
}
