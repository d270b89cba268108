package provider

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rote/routine"
)

func TestEnvironment(t *testing.T) {
	t.Setenv("SHOP_PASSWORD", "hunter2")
	t.Setenv("ROTE_SERVICE_TOKEN", "the token")
	e := Environment{Names: []string{"SHOP_PASSWORD", "ABSENT"}}
	if value, err := e.ReadSecret(t.Context(), routine.ProviderReference{Path: "SHOP_PASSWORD"}); value != "hunter2" || err != nil {
		t.Errorf("%d bytes, %v", len(value), err)
	}
	if _, err := e.ReadSecret(t.Context(), routine.ProviderReference{Path: "ABSENT"}); !errors.Is(err, routine.ErrNotFound) {
		t.Error(err)
	}
	if value, err := e.ReadSecret(t.Context(), routine.ProviderReference{Path: "ROTE_SERVICE_TOKEN"}); !errors.Is(err, routine.ErrProviderDenied) || value != "" {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, "mounted", name)); err != nil {
			t.Fatal(err)
		}
	}
	outside := write("outside", "not yours")
	plain := write("mounted/plain", "hunter2\n")
	write("mounted/lines", "one\r\ntwo\r\n\r\n")
	write("mounted/large", strings.Repeat("x", routine.MaxSecretBytes)+"\r\n")
	write("mounted/larger", strings.Repeat("x", routine.MaxSecretBytes+1))
	write("mounted/..2026/key", "as Kubernetes mounts it")
	link("..2026", "..data")
	link("..data/key", "key")
	link(outside, "absolute")
	link("../outside", "relative")
	if err := syscall.Mkfifo(filepath.Join(dir, "mounted", "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := NewFiles(filepath.Join(dir, "mounted"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.root.Close()
	for name, want := range map[string]routine.Hidden{"plain": "hunter2", "lines": "one\r\ntwo\r\n", "key": "as Kubernetes mounts it",
		"large": routine.Hidden(strings.Repeat("x", routine.MaxSecretBytes))} {
		if value, err := f.ReadSecret(t.Context(), routine.ProviderReference{Path: name}); value != want || err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(value), err)
		}
	}
	if err := os.WriteFile(plain, []byte("replaced"), 0o600); err != nil {
		t.Fatal(err)
	}
	if value, err := f.ReadSecret(t.Context(), routine.ProviderReference{Path: "plain"}); value != "replaced" || err != nil {
		t.Errorf("%d bytes, %v", len(value), err)
	}
	for _, name := range []string{"absolute", "relative", "../outside", "..data/key", outside, "", ".", "..", "fifo", "..data"} {
		if value, err := f.ReadSecret(t.Context(), routine.ProviderReference{Path: name}); !errors.Is(err, routine.ErrProviderDenied) || value != "" {
			t.Errorf("%q: %d bytes, %v", name, len(value), err)
		}
	}
	if _, err := f.ReadSecret(t.Context(), routine.ProviderReference{Path: "absent"}); !errors.Is(err, routine.ErrNotFound) {
		t.Error(err)
	}
	if _, err := f.ReadSecret(t.Context(), routine.ProviderReference{Path: "larger"}); err == nil || strings.Contains(err.Error(), "xx") {
		t.Error(err)
	}
	if _, err := NewFiles(filepath.Join(dir, "absent")); err == nil {
		t.Error("a directory that is not there is accepted")
	}
}
