package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/routine/routinetest"
	"rote/routine/rows"
	"rote/routine/sqlite"
)

// The key of a database is replaced by commands while a process has it open, which can read
// and save all the time.
func TestKeyCommands(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	path := filepath.Join(r.home, "rote.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, args := range []string{"list", "rotate", "prune"} {
		if out, errs, _ := r.run("key", args, "--db", path); !strings.Contains(errs, "there is no state key yet") {
			t.Errorf("%s without a key: %s%s", args, out, errs)
		}
	}
	version := 0
	save := func() {
		t.Helper()
		if err := s.SaveSecret(t.Context(), routinetest.Secret(), version); err != nil {
			t.Fatal(err)
		}
		version++
		if value, err := routinetest.SecretValue(t.Context(), s, "acme", "p", "shop", "password"); value != "correct horse" || err != nil {
			t.Fatal(string(value), err)
		}
	}
	save()
	ids := func() []string {
		t.Helper()
		ring, err := rows.ReadKeyFile(path + ".key")
		if err != nil {
			t.Fatal(err)
		}
		return ring.IDs()
	}
	old := ids()[0]
	run := func(args, want string) {
		t.Helper()
		out, errs, code := r.run(append([]string{"key"}, append(strings.Fields(args), "--db", path)...)...)
		if code != 0 || !strings.Contains(out+errs, want) {
			t.Errorf("%s: exit %d, want %q\n%s%s", args, code, want, out, errs)
		}
		save()
	}
	run("list", old+"  1         encrypts")
	run("prune", "")
	run("rotate", "1 rows are encrypted with the new key")
	if now := ids(); len(now) != 2 || now[0] == old || now[1] != old {
		t.Errorf("keys %v after a rotation of %s", now, old)
	}
	run("list", old+"  0         decrypts")
	run("rotate --data", "3 values of acme are encrypted with a new key")
	run("rotate --data --only acme", "3 values of acme")
	run("prune", "the key "+old+" is removed")
	if now := ids(); len(now) != 1 || now[0] == old {
		t.Errorf("keys %v after %s was removed", now, old)
	}

	// A key that is in the file for the change that follows stays.
	next, err := rows.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	added, err := rows.ParseKeys(next)
	if err == nil {
		err = rows.EditKeyFile(path+".key", func(ring rows.Ring) (rows.Ring, error) { return append(ring, added...), nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	run("prune", "the key "+added.IDs()[0]+" stays, because nothing was encrypted with it yet")
	if err := rows.EditKeyFile(path+".key", func(ring rows.Ring) (rows.Ring, error) { return ring[:1], nil }); err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile(path + ".key")
	if err != nil {
		t.Fatal(err)
	}
	r.env = []string{"MY_KEYS=" + string(text)}
	run("list --state-key env:MY_KEYS", ids()[0]+"  1         encrypts")
	for args, want := range map[string]string{
		"rotate --state-key env:MY_KEYS":        "rote key rotate --no-new-key",
		"prune --state-key env:MY_KEYS":         "rote key rotate --no-new-key",
		"rotate --data --only nobody":           "the organization nobody has no secrets",
		"rotate --data --state-key env:NOTHING": "the environment variable NOTHING of --state-key does not hold a key",
	} {
		out, errs, code := r.run(append([]string{"key"}, append(strings.Fields(args), "--db", path)...)...)
		if code != 1 || !strings.Contains(errs, want) || strings.Contains(errs, string(text[:20])) {
			t.Errorf("%s: exit %d, want %q\n%s%s", args, code, want, out, errs)
		}
	}
}
