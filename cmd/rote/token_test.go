package main

import (
	"strings"
	"testing"
)

// A token that opens everything cannot be guessed.
func TestShortAdminTokenIsRefused(t *testing.T) {
	r := newRote(t)
	for token, code := range map[string]int{"": 0, strings.Repeat("x", 23): 1, strings.Repeat("x", 24): 0} {
		c := r.command("token", "create")
		c.Env = append(c.Env, "ROTE_SERVICE_TOKEN="+token)
		out, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != code || code == 1 && !strings.Contains(string(out), "openssl rand -hex 32") {
			t.Errorf("%d characters: exit %d\n%s", len(token), c.ProcessState.ExitCode(), out)
		}
	}
}
