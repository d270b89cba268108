package console_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// maxEditorGzip is how much a browser may load for the editor, in bytes: the bundle and our modules.
const maxEditorGzip = 165_000

// A change by hand of a generated file would be lost with the next "go generate".
func TestVendoredFilesAreAsGenerated(t *testing.T) {
	files, err := os.ReadDir("assets/vendor")
	if err != nil {
		t.Fatal(err)
	}
	var sums strings.Builder
	for _, f := range files {
		if f.Name() == "SUM" {
			continue
		}
		text, err := os.ReadFile("assets/vendor/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), f.Name())
	}
	want, err := os.ReadFile("assets/vendor/SUM")
	if err != nil {
		t.Fatal(err)
	}
	if sums.String() != string(want) {
		t.Errorf("assets/vendor has\n%swhere SUM has\n%sChange web and run: go generate ./httpapi/console", &sums, want)
	}
}

// The packages are used under the MIT license, which asks for its text in each copy.
func TestVendoredLicenses(t *testing.T) {
	text, err := os.ReadFile("assets/vendor/LICENSES.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n"+strings.Repeat("-", 80)+"\n\n")
	if len(parts) < 15 {
		t.Errorf("licenses of %d packages only", len(parts))
	}
	for _, part := range parts {
		head, rest, _ := strings.Cut(part, "\n")
		if !strings.HasSuffix(head, ", MIT") || !strings.Contains(rest, "Copyright") || !strings.Contains(rest, "Permission is hereby granted") {
			t.Errorf("%s: not the MIT license, or without its text", head)
		}
	}
}

// editorModules are the files that a page with the editor loads.
var editorModules = []string{"vendor/codemirror.js", "complete.js", "complete_rules.js", "editor.js", "editor_draft.js", "editor_look.js",
	"editor_problems.js", "editor_script.js", "json_text.js", "schema.js"}

func TestEditorIsSmall(t *testing.T) {
	total := 0
	for _, file := range editorModules {
		text, err := os.ReadFile("assets/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(text)
		w.Close()
		t.Logf("%s: %d bytes, %d compressed", file, len(text), zipped.Len())
		total += zipped.Len()
	}
	if total > maxEditorGzip {
		t.Errorf("the editor is %d bytes, compressed; at most %d", total, maxEditorGzip)
	}
}
