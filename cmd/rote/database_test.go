package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands for an existing database do not create one for a mistyped name.
func TestMissingDatabaseIsNotCreated(t *testing.T) {
	t.Parallel()
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

// The address of a database of another program does not become the name of a directory, which
// would have its password in it.
func TestAddressOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	for _, args := range []string{"token create", "serve --addr 127.0.0.1:0", "backup copy.db", "key list", "worker", "migrate"} {
		for _, scheme := range []string{"mysql", "Postgres", "sqlite"} {
			c := r.command(append(strings.Fields(args), "--db", scheme+"://ann:hunter2@db.example/rote")...)
			c.Dir = r.home
			text, err := c.CombinedOutput()
			if err == nil || strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), "postgres://USER@HOST/DATABASE") &&
				!strings.Contains(string(text), "only a Postgres database is migrated") {
				t.Errorf("%s with %s: %v %s", args, scheme, err, text)
			}
			if made, _ := filepath.Glob(filepath.Join(r.home, "*:")); len(made) != 0 {
				t.Fatalf("%s made %v", args, made)
			}
		}
	}
}

// A key with a mistake is refused. It is not shown, and does not become the name of a file.
func TestMalformedStateKeyIsNotShown(t *testing.T) {
	t.Parallel()
	const key = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U="
	for name, value := range map[string]string{
		"without its end":    strings.TrimSuffix(key, "="),
		"URL-safe":           "-_" + key[2:],
		"too long":           key[:20] + "x" + key[20:],
		"in quotes":          `"` + key + `"`,
		"hexadecimal":        strings.Repeat("0123456789abcdef", 4),
		"with a slash":       key[:10] + "/" + key[10:],
		"begins with /":      "/" + key[2:],
		"with a line break":  key[:20] + "\n" + key[20:40],
		"with a slash twice": "/" + key[2:20] + "/" + key[20:43],
	} {
		t.Run(name, func(t *testing.T) {
			r := newRote(t)
			r.env = []string{stateKeyVariable + "=" + value}
			out, errs, code := r.run("token", "list", "--db", filepath.Join(r.home, "rote.db"))
			if code != 1 || !strings.Contains(errs, stateKeyVariable) || !strings.Contains(errs, "rote key new") {
				t.Errorf("exit %d, %s\n%s", code, out, errs)
			}
			if strings.Contains(out+errs, value[5:15]) {
				t.Errorf("the key is shown: %s\n%s", out, errs)
			}
		})
	}
}

// A path that could be a key by its characters is a path if its file or its directory
// exists.
func TestLongPathIsNoStateKey(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("directoryofthekeysofallservers", 0o700); err != nil {
		t.Fatal(err)
	}
	existing := strings.Repeat("a", minKeyChars)
	if err := os.WriteFile(existing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{
		existing:                         false,
		strings.Repeat("b", minKeyChars): true,
		"directoryofthekeysofallservers/thekeyofall":   false,
		"adirectorythatdoesnotexist/thekeyofallofthem": true,
		"./" + strings.Repeat("b", minKeyChars):        false,
		"/etc/rote/state.key":                          false,
	} {
		if got := looksLikeKey(value); got != want {
			t.Errorf("%s: %t, want %t", value, got, want)
		}
	}
}
