package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/routine"
)

// logInWith stores the secret shop and the routine logs_in, whose fields the site
// watches. It returns the call that runs it.
func (s *server) logInWith(site *echoSite) (run func() (int, map[string]any)) {
	s.t.Helper()
	fields := routine.JSONText(map[string]string{"username": soughtUsername, "password": soughtPassword})
	if status, answer := s.call("PUT", "/secrets/shop", `{"hosts":["`+site.host()+`"],"field_rule":"any","fields":`+fields+`}`); status != 201 {
		s.t.Fatal(answer)
	}
	path := "/routines/" + s.made(secretRoutine("logs_in")) + "/execute"
	return func() (int, map[string]any) {
		return s.call("POST", path, fmt.Sprintf(`{"parameters":{"site":%q}}`, site.URL))
	}
}

// Without the key of its database, a server runs what needs no secret. What needs one fails with
// secret_unavailable and says what to do, and no key is made. With the key, all is as before.
func TestKeyFaults(t *testing.T) {
	r, site := newRote(t), newEchoSite(t)
	r.shop = site.URL
	s := r.keeper()
	run := s.logInWith(site)
	key := filepath.Join(r.home, ".local/share/rote/rote.db.key")
	good, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	other, _, _ := r.run("key", "new")
	for _, row := range []struct {
		name   string
		spoil  func() error
		remedy string
	}{
		{"missing", func() error { return os.Remove(key) }, "--state-key"},
		{"another", func() error { return os.WriteFile(key, []byte(other), 0o600) }, "--state-key"},
		{"readable by others", func() error { return os.Chmod(key, 0o644) }, "--state-key"},
		{"damaged", func() error { return os.WriteFile(key, []byte("no key\n"), 0o600) }, "--state-key"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s.stop(os.Interrupt)
			if err := row.spoil(); err != nil {
				t.Fatal(err)
			}
			spoiled, _ := os.ReadFile(key)
			token := s.token
			*s = *r.serve()
			s.token = token
			before := site.arrived()
			status, answer := run()
			if text := routine.JSONText(answer); answer["code"] != "secret_unavailable" || !strings.Contains(text, row.remedy) {
				t.Errorf("%d %s", status, text)
			}
			if status, answer := s.call("PUT", "/secrets/new", `{"hosts":["`+site.host()+`"],"value":"x"}`); answer["code"] != "secret_unavailable" {
				t.Errorf("something was encrypted: %d %v", status, answer)
			}
			if now, _ := os.ReadFile(key); string(now) != string(spoiled) || site.arrived() != before {
				t.Errorf("the key is now %d bytes", len(now))
			}
			if status, answer := s.call("GET", "/secrets/shop", ""); status != 200 {
				t.Errorf("%d %v", status, answer)
			}
			s.stop(os.Interrupt)
			if err := os.Remove(key); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if err := os.WriteFile(key, good, 0o600); err != nil {
				t.Fatal(err)
			}
			*s = *r.serve()
			s.token = token
			if status, answer := run(); status != 201 || site.arrived() != before+1 {
				t.Errorf("with the key again: %d %v", status, answer)
			}
		})
	}
}

// A key that is replaced while a run types breaks neither this run nor later ones, also of
// another server that uses the same database.
func TestKeyIsRotatedDuringARun(t *testing.T) {
	r, site := newRote(t), newEchoSite(t)
	r.shop = site.URL
	s := r.keeper()
	replica := r.serve()
	replica.token = s.token
	run := s.logInWith(site)
	for _, commands := range [][]string{{"key", "rotate"}, {"key", "rotate", "--data"}, {"key", "prune"}} {
		before := site.arrived()
		var out, errs string
		var code int
		site.atEvent(1, func() { out, errs, code = r.run(commands...) })
		if status, answer := run(); status != 201 || code != 0 || site.arrived() != before+1 {
			t.Errorf("%q: exit %d %s%s; %d %v", commands, code, out, errs, status, answer)
		}
		through := *s
		through.url = replica.url
		if status, answer := through.call("POST", "/executions", fmt.Sprintf(`{"routine":%s,"parameters":{"site":%q}}`, secretRoutine("logs_in"), site.URL)); status != 201 ||
			site.arrived() != before+2 {
			t.Errorf("%q, on the other server: %d %v", commands, status, answer)
		}
	}
}
