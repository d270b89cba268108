package chromium

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFindWindowed(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	chrome, shell := file("google-chrome"), file("chromium-headless-shell")
	if path, err := FindWindowed(chrome); path != chrome || err != nil {
		t.Errorf("an explicit browser: %q %v", path, err)
	}
	for name, row := range map[string]struct{ path, words string }{
		"the headless shell": {shell, "has no windows"},
		"nothing":            {filepath.Join(dir, "absent"), "there is no file"},
	} {
		if path, err := FindWindowed(row.path); err == nil || !strings.Contains(err.Error(), row.words) || !strings.Contains(err.Error(), "--browser") {
			t.Errorf("%s: %q %v", name, path, err)
		}
	}
	if !isSnap("/snap/bin/chromium") || isSnap("/usr/bin/chromium") {
		t.Error("what is a snap")
	}
}

// The browser of a person needs the environment of the person and gets no secret of rote.
func TestWindowEnvironment(t *testing.T) {
	t.Setenv("ROTE_SERVICE_TOKEN", "t0ken")
	t.Setenv("DISPLAY", ":42")
	t.Setenv("HOME", "/home/ann")
	w := &Window{}
	env := w.environment("/tmp/profile", false)
	if !slices.Contains(env, "DISPLAY=:42") || !slices.Contains(env, "HOME=/home/ann") || env[len(env)-1] != "TMPDIR=/tmp/profile" {
		t.Errorf("environment %q", env)
	}
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "ROTE_") }) {
		t.Errorf("a variable of rote is in %q", env)
	}
	if env := w.environment("/tmp/profile", true); env[len(env)-1] != "HOME=/tmp/profile" {
		t.Errorf("of a user of its own: %q", env)
	}
}
