package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands for an existing database do not create one for a mistyped name.
func TestMissingDatabaseIsNotCreated(t *testing.T) {
	r := newRote(t)
	mistyped := filepath.Join(r.home, "typo", "rote.db")
	for _, args := range []string{"backup " + filepath.Join(r.home, "copy.db"), "token list", "token revoke x", "webhook secret", "run Routine_01234567-89ab-7def-8123-456789abcdef"} {
		t.Run(args, func(t *testing.T) {
			out, errs, code := r.run(append(strings.Fields(args), "--db", mistyped)...)
			if code != 1 || out != "" || !strings.Contains(errs, "there is none at "+mistyped+": name one with --db") {
				t.Errorf("exit %d, %s\n%s", code, out, errs)
			}
			if made, _ := filepath.Glob(filepath.Join(r.home, "[a-z]*")); len(made) != 1 { // its temporary directory
				t.Errorf("made %v", made)
			}
		})
	}
	if _, errs, code := r.run("token", "create", "--db", mistyped); code != 0 || !strings.Contains(errs, mistyped+" is a new database\n") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if _, errs, code := r.run("token", "create", "--db", mistyped); code != 0 || strings.Contains(errs, "new database") {
		t.Errorf("the second time: exit %d\n%s", code, errs)
	}
	if _, err := os.Stat(mistyped); err != nil {
		t.Error(err)
	}
}
