package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

// Whatever a browser elsewhere says and stores, no file outside of the shared directory is read
// or removed, and no more than the files of a run may have.
func TestDownloadsOfHostileBrowser(t *testing.T) {
	p := openPage(t, "")
	p.downloads.maxBytes = 10
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := p.downloadDirectory()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o777); err != nil { // the shared browser may be another user
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		make  func(path string) error
		words string
	}{
		"a-file":      {func(path string) error { return os.WriteFile(path, []byte("0123456789"), 0o600) }, ""},
		"a-long-file": {func(path string) error { return os.WriteFile(path, []byte("0123456789a"), 0o600) }, "more bytes"},
		"a-link":      {func(path string) error { return os.Symlink(secret, path) }, "no regular file"},
		"a-pipe":      {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "no regular file"},
		"a-directory": {func(path string) error { return os.Mkdir(path, 0o700) }, "no regular file"},
	} {
		path := filepath.Join(dir, name)
		if err := row.make(path); err != nil {
			t.Fatal(err)
		}
		data, err := p.readDownload(name)
		if (err == nil) != (row.words == "") || err != nil && !strings.Contains(err.Error(), row.words) || err == nil && string(data) != "0123456789" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	for _, id := range []string{"../../../../../secret", "a/b", "..", ".", "", "a\x00b"} {
		params, err := json.Marshal(proto.PageDownloadWillBegin{GUID: id, FrameID: proto.PageFrameID(p.target), URL: "http://x", SuggestedFilename: "x"})
		if err != nil {
			t.Fatal(err)
		}
		p.i.targets.downloadEvent("Browser.downloadWillBegin", params)
		if len(p.downloads.list) > 0 {
			t.Fatalf("a download with the id %q", id)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), dir); err != nil { // a link that leads out of the shared directory
		t.Fatal(err)
	}
	if data, err := p.readDownload("secret"); err == nil {
		t.Errorf("read %q", data)
	}
	p.downloads.list = append(p.downloads.list, &download{id: "a-file", ended: downloadCompleted})
	p.removeDownloads()
	if text, err := os.ReadFile(secret); string(text) != "secret" {
		t.Errorf("the file outside: %q, %v", text, err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the link is still there: %v", err)
	}
}
