package schemas

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const bundleGolden = "testdata/routine.golden.json"

func TestBundleMatchesGolden(t *testing.T) {
	if *update {
		if err := os.WriteFile(bundleGolden, Routine(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(bundleGolden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, Routine()) {
		t.Errorf("the published schema differs from %s: run go test ./schemas -update and look at the diff", bundleGolden)
	}
}

func TestBundleHasNoExternalReferences(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("bundle.json", bytes.NewReader(Routine())); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("bundle.json") // has no other file to look into
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"type":"click","selector":"#a"}`: "", `{"type":"click","selecter":"#a"}`: "selecter", `{"type":"clik"}`: "click", `{"selector":"#a"}`: "type",
		`{"type":"fetch","endpoint":{"url":"/x","method":"FETCH"}}`:                                     "PATCH",
		`{"type":"fetch","endpoint":{"url":"/x"},"data_sanitizer":[{"type":"truncate","max_chars":0}]}`: "must be >= 1",
		`{"type":"sleep","timeout_seconds":301}`:                                                        "300",
		`{"type":"download","endpoint":{"url":"/x"},"filename":"a.pdf","x-mine":1}`:                     "",
	} {
		var v any
		definition := `{"$schema":"` + BaseURL + `routine.json","name":"n","description":"d","parameters":[{"name":"a","min_length":1}],"operations":[` + text + `]}`
		if err := json.Unmarshal([]byte(definition), &v); err != nil {
			t.Fatal(err)
		}
		err := s.Validate(v)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(strings.ToLower(flat(err)), strings.ToLower(want))) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func flat(err error) string {
	if e, ok := err.(*jsonschema.ValidationError); ok {
		return e.GoString()
	}
	return err.Error()
}
