package main

import (
	"os/exec"
	"strings"
	"testing"
)

// A token that opens everything and can be guessed is warned of.
func TestShortAdminToken(t *testing.T) {
	t.Parallel()
	for token, warned := range map[string]bool{strings.Repeat("x", 23): true, strings.Repeat("x", 24): false} {
		r := newRote(t)
		if out, err := r.command("token", "create").CombinedOutput(); err != nil { // with a database there is no first token to wait for
			t.Fatal(err, string(out))
		}
		s := r.start(func(c *exec.Cmd) { c.Env = append(c.Env, "ROTE_SERVICE_TOKEN="+token) })
		s.token = token
		if status, _ := s.call("GET", "/routines/", ""); status != 200 {
			t.Errorf("%d characters: %d", len(token), status)
		}
		if log := s.log.String(); strings.Contains(log, "openssl rand -hex 32") != warned {
			t.Errorf("%d characters: logged %s", len(token), log)
		}
	}
}
