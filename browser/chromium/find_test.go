package chromium

import (
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	if _, err := Find("/nowhere/chromium"); err == nil {
		t.Fatal("an explicit path that does not exist must be refused")
	}
	if path, err := Find(""); err != nil || !filepath.IsAbs(path) {
		t.Fatalf("these tests need a browser (go run ./cmd/rote browser install): %q %v", path, err)
	}
}
