package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A failure of the demo is a sentence, a code and what to do, not the whole
// answer and not what Chromium wrote.
func TestDemoErrorsAreShort(t *testing.T) {
	r := newRote(t)
	if err := os.Chmod(r.home, 0o755); err != nil {
		t.Fatal(err)
	}
	browser := filepath.Join(r.home, "chromium")
	script := "#!/bin/sh\necho 'No usable sandbox! If this is a Debian system, " + strings.Repeat("x ", 1000) + "' >&2\nexit 1\n"
	if err := os.WriteFile(browser, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	out, errs, code := r.run("demo", "--browser", browser)
	last := errs[strings.LastIndex(strings.TrimSpace(errs), "\n")+1:]
	if code != 1 || !strings.Contains(last, "allow user namespaces") || !strings.Contains(last, "[browser_unavailable]") || strings.ContainsAny(last, "{}") || len(errs) > 1500 {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if first, _, _ := strings.Cut(out, "\n"); !strings.HasPrefix(first, "A demonstration on this machine") {
		t.Errorf("the first line is %q", first)
	}
}

func TestRESTError(t *testing.T) {
	long := strings.Repeat("long ", 1000)
	for _, row := range []struct{ status, body, want string }{
		{"500 Internal Server Error", `{"detail":"no browser: run x","code":"browser_unavailable","execution":{"status":"failed"}}`, "no browser: run x [browser_unavailable]"},
		{"500 Internal Server Error", `{"detail":"nothing matches #q","code":"element_not_found","execution":{}}`,
			"nothing matches #q [element_not_found]\nNext: run \"rote browser check\", which tries the browser alone."},
		{"500 Internal Server Error", `{"detail":"after 60 s","code":"timeout"}`, "after 60 s [timeout]\nNext: run the demo again when this machine is less busy."},
		{"502 Bad Gateway", "<html>\n  no JSON</html>", "502 Bad Gateway: <html> no JSON</html>"},
		{"502 Bad Gateway", long, "502 Bad Gateway: " + long[:maxLineChars] + "…"},
	} {
		if got := restError(row.status, []byte(row.body)).Error(); got != row.want {
			t.Errorf("%.60s: %q, want %q", row.body, got, row.want)
		}
	}
}

// Warnings are a line each; information is left out.
func TestWarningLog(t *testing.T) {
	var b bytes.Buffer
	log := warningLog(&b)
	log.Info("browser started")
	log.With("browser", 1).WithGroup("g").Warn("not confined", "because", errors.New("line 1\nline 2"))
	log.Error("lost")
	if want := "warning: not confined; browser: 1; because: line 1 line 2\nwarning: lost\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
