package mcp

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// manifest.json is that of the bundle for Claude Desktop, which .ci/mcpb packs. testdata has its
// schema, from @anthropic-ai/mcpb 2.1.2 (MIT), whose program checks a packed bundle in .ci/npm.
func TestBundleManifest(t *testing.T) {
	text, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("testdata/mcpb-manifest-v0.3.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("manifest.schema.json", bytes.NewReader(schema)); err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if err := compiler.MustCompile("manifest.schema.json").Validate(document); err != nil {
		t.Errorf("%#v", err)
	}
	var manifest, server struct{ Version, Description string }
	registry, err := os.ReadFile("server.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(registry, &server); err != nil {
		t.Fatal(err)
	}
	if manifest != server || manifest.Version == "" {
		t.Errorf("manifest.json has %v, server.json has %v", manifest, server)
	}
}
