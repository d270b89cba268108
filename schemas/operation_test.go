package schemas

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The schema of one kind checks an operation without any other file.
func TestOperationSchemasStandAlone(t *testing.T) {
	if len(OperationKinds()) != len(kinds) {
		t.Fatalf("kinds %q", OperationKinds())
	}
	operations := map[string]struct{ valid, invalid string }{
		"click":    {`{"type":"click","selector":"#a"}`, `{"type":"click","selecter":"#a"}`},
		"fetch":    {`{"type":"fetch","endpoint":{"url":"/x"}}`, `{"type":"fetch","endpoint":{"url":"/x","method":"FETCH"}}`},
		"download": {`{"type":"download","endpoint":{"url":"/x"},"filename":"a"}`, `{"type":"download","endpoint":{},"filename":"a"}`},
		"sleep":    {`{"type":"sleep","timeout_seconds":1}`, `{"type":"sleep","timeout_seconds":301}`},
	}
	for _, kind := range OperationKinds() {
		text, ok := Operation(kind)
		if !ok {
			t.Fatalf("no schema of %s", kind)
		}
		c := jsonschema.NewCompiler()
		c.Draft = jsonschema.Draft2020
		if err := c.AddResource("operation.json", bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile("operation.json") // has no other file to look into
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		for operation, want := range map[string]bool{operations[kind].valid: true, operations[kind].invalid: false} {
			var v any
			if operation == "" {
				continue
			}
			if err := json.Unmarshal([]byte(operation), &v); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); (err == nil) != want {
				t.Errorf("%s: %v", operation, err)
			}
		}
	}
	for _, kind := range []string{"", "clik", "../routine", "click.json"} {
		if text, ok := Operation(kind); ok || text != nil {
			t.Errorf("%q has a schema", kind)
		}
	}
}

// The digest names every kind of operation with all its fields, and stays small enough for
// the context of an agent.
func TestDigestIsCompleteAndSmall(t *testing.T) {
	digest := Digest()
	if len(digest) > 12<<10 {
		t.Errorf("the digest has %d bytes", len(digest))
	}
	for kind, fields := range kinds {
		_, part, ok := strings.Cut("\n"+digest, "\n"+kind+": ")
		if !ok {
			t.Errorf("%s is missing", kind)
		}
		part = regexp.MustCompile(`\n\S`).Split(part, 2)[0]
		for _, field := range fields {
			if field != "type" && !strings.Contains(part, "\n  "+field+" (") {
				t.Errorf("%s has no field %s: %s", kind, field, part)
			}
		}
	}
	for _, want := range []string{"\n  selector (string, required): CSS selector",
		"\n  timeout_ms (integer, default 20000): as for click", "\n  button (left|right|middle, default \"left\")",
		"\n  endpoint (endpoint, required)", "\nendpoint: ", "\n  url (string, required)", "\n    enum_values (array|null)"} {
		if !strings.Contains(digest, want) {
			t.Errorf("the digest lacks %q:\n%s", want, digest)
		}
	}
	if lines := strings.Split(digest, "\n"); slices.ContainsFunc(lines, func(line string) bool { return len(line) > 400 }) {
		t.Errorf("a line is long:\n%s", digest)
	}
}
