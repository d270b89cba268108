package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine/routinetest"
)

// A client on this machine gets the path of each file, besides the other ways to
// read it.
func TestFilesAreReadableOnThisMachine(t *testing.T) {
	dir := t.TempDir()
	h := newTestServer(t, grab).with(t, Config{FileDir: func() (string, error) { return dir, nil }})
	c := connect(t, h.Server)
	for contentType, body := range map[string]string{"application/pdf": "%PDF-\x00\xff", "text/csv": "a,b\n", "image/png": "\x89PNG\r\n\x1a\n"} {
		h.browser.Page.Response = routinetest.Answer(contentType, body)
		result, text := callTool(t, c, "grab", nil)
		d := content(t, result, text)
		if len(d.Files) != 1 {
			t.Fatalf("%s: %s", contentType, text)
		}
		f := d.Files[0]
		got, err := os.ReadFile(f.Path)
		if err != nil || string(got) != body || filepath.Base(f.Path) != "a.bin" || !strings.HasPrefix(f.Path, dir) {
			t.Errorf("%s: %q at %s, %v", contentType, got, f.Path, err)
		}
		if info, err := os.Stat(f.Path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", contentType, info.Mode(), err)
		}
		if contentType == "application/pdf" {
			if link, ok := result.Content[1].(mcp.ResourceLink); !ok || !strings.Contains(link.Description, f.Path) || !strings.Contains(f.Where, "path") {
				t.Errorf("%s: %+v", f.Where, result.Content[1])
			}
		}
		if err := os.WriteFile(f.Path, []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
		result, text = callTool(t, c, "get_execution", map[string]any{"execution_id": d.ExecutionID})
		again := content(t, result, text).Files[0].Path
		if got, err := os.ReadFile(again); again != f.Path || err != nil || string(got) != body {
			t.Errorf("%s, again: %q at %s, %v", contentType, got, again, err)
		}
	}
}

func TestLocalFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	l := &localFiles{dir: func() (string, error) { return dir, nil }, limit: 10}
	put := func(execution, content string) string {
		t.Helper()
		path, err := l.put(execution, "a.bin", []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	paths := []string{put("one", "1234"), put("two", "1234"), put("one", "12345"), put("three", "12345")}
	for i, want := range []bool{true, false, true, true} { // two is the oldest
		if _, err := os.Stat(paths[i]); (err == nil) != want {
			t.Errorf("%s is there: %v", paths[i], err == nil)
		}
	}
	put("four", "more than there is room for")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	for _, name := range []string{"../x", "a/b", "", ".."} {
		if path, err := l.put("five", name, nil); err == nil {
			t.Errorf("%q was put at %s", name, path)
		}
	}
}
