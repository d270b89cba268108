package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What the console says about the server names its flags, and of browsers elsewhere no more
// than their hosts: the rest of their addresses may be secret.
func TestAboutTheServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	calls := filepath.Join(t.TempDir(), "calls")
	chromium := filepath.Join(t.TempDir(), "chromium")
	script := "#!/bin/sh\necho called >> '" + calls + "'\necho 'Chromium 1.2.3 '\n"
	if err := os.WriteFile(chromium, []byte(script), 0o700); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	c := &serveCommand{retentionFlags: retentionFlags{KeepAge: days(30 * day), AuditAge: days(90*day + time.Hour), KeepSize: 10 << 30}, BasePath: "/rote"}
	g := &globals{Egress: "listed", AllowHost: []string{"a.example", "b.example"}, BrowserPath: chromium,
		BrowserURL: []string{"local", "ws://user:hidden@browser.example:9222/path?token=hidden"}}
	about := c.about(g, l)
	for range 2 {
		var text strings.Builder
		for _, f := range about() {
			text.WriteString(f.Name + ": " + f.Value + "\n")
		}
		for _, want := range []string{"Address: http://" + l.Addr().String() + "/rote\n", "Egress (--egress): listed\n", "(--allow-host): a.example, b.example\n",
			"(--deny-host): none\n", "(--keep-age): 30 days\n", "(--audit-age): 2161h0m0s\n", "(--keep-size): 10 GiB\n", "browser.example", "executable: " + chromium,
			"Browser version: Chromium 1.2.3\n"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("there is no %q in:\n%s", want, text.String())
			}
		}
		if strings.Contains(text.String(), "hidden") {
			t.Error(text.String())
		}
	}
	if got, err := os.ReadFile(calls); err != nil || string(got) != "called\n" {
		t.Errorf("the executable was called otherwise than once: %q, %v", got, err)
	}
	g.BrowserPath = filepath.Join(t.TempDir(), "none")
	if facts := c.about(g, l)(); facts[len(facts)-1].Name != "Browser" {
		t.Errorf("without a browser: %v", facts)
	}
}
