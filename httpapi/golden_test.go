package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the responses in testdata/*.txtar")

// TestGolden holds whole answers against testdata. Each archive is a
// conversation with a service of its own: files NAME.request, a request line,
// headers and a body, each with NAME.response, whose JSON is indented and whose
// random ids are replaced. $made in a request is the routine last created.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) { golden(t, name) })
	}
}

func golden(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range archive.Files {
		if step, ok := strings.CutSuffix(f.Name, ".response"); ok {
			want[step] = string(f.Data)
		}
	}
	e := newEnv(t)
	var files []txtar.File
	made := ""
	for _, f := range archive.Files {
		step, ok := strings.CutSuffix(f.Name, ".request")
		if !ok {
			continue
		}
		got := e.say(t, strings.ReplaceAll(string(f.Data), "$made", made))
		if location := got.header.Get("Location"); location != "" {
			made = filepath.Base(location)
		}
		text := show(t, got)
		if diff := cmp.Diff(want[step], text); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
		files = append(files, f, txtar.File{Name: step + ".response", Data: []byte(text)})
	}
	if *update {
		archive.Files = files
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// say makes the request that a file describes.
func (e *env) say(t *testing.T, text string) response {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	headers := map[string]string{"X-Request-Id": "golden"}
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("no header: %s", line)
		}
		headers[name] = value
	}
	return e.must(t, method, path, headers, body)
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// show is an answer as text for people.
func show(t *testing.T, r response) string {
	t.Helper()
	var text bytes.Buffer
	fmt.Fprintln(&text, r.status)
	for _, name := range []string{"Content-Type", "Location", "ETag", "Link", "Allow", "Accept-Patch", "Retry-After", "Www-Authenticate"} {
		if value := r.header.Get(name); value != "" {
			fmt.Fprintf(&text, "%s: %s\n", name, value)
		}
	}
	fmt.Fprintln(&text)
	if r.body == "" {
		return text.String()
	}
	if err := json.Indent(&text, []byte(r.body), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
	return uuids.ReplaceAllString(text.String(), "<uuid>")
}
