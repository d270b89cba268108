package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

// Data that an earlier version has encrypted can be read, and names its key when it is encrypted
// again. A process with another key cannot encrypt anything in the same database.
func TestMigrationNamesKeys(t *testing.T) {
	path := tempPath(t)
	key := rows.KeyFile(path + ".key")
	sealed, err := rows.Sealer{Keys: key}.SealState([]byte("state"), "acme", "p", true)
	must(t, err)
	writeSchema(t, path, 15, func(write *sql.DB) {
		_, err := write.ExecContext(t.Context(), `INSERT INTO project_states (organization_id, project_id, sealed, saved_at) VALUES ('acme', 'p', ?, 1)`, sealed.Text)
		must(t, err)
	})
	strange := openAt(t, path, Key(rows.KeyFile(filepath.Join(t.TempDir(), "key"))))
	saved := &routine.BrowserState{ProjectID: "q", Data: []byte("x")}
	if err := strange.SaveProjectState(t.Context(), "acme", saved, routinetest.Time); !errors.Is(err, routine.ErrStateKey) {
		t.Errorf("a key was made while something is encrypted with another: %v", err)
	}
	other, err := rows.NewKey()
	must(t, err)
	ring, err := rows.ParseKeys(other)
	must(t, err)
	strange = openAt(t, path, Key(func(bool) (rows.Ring, error) { return ring, nil }))
	err = strange.SaveProjectState(t.Context(), "acme", saved, routinetest.Time)
	if !errors.Is(err, routine.ErrStateKey) || !strings.Contains(err.Error(), "--state-key") {
		t.Errorf("something was encrypted with a strange key: %v", err)
	}
	s := openAt(t, path)
	for _, id := range []string{"", rows.KeyID(mustRing(t, key)[0])} {
		if state, err := s.ProjectState(t.Context(), "acme", "p"); string(state) != "state" || err != nil {
			t.Errorf("%q, %v", state, err)
		}
		uses, err := s.StateKeys(t.Context())
		must(t, err)
		if last := uses[len(uses)-1]; last.ID != id || last.Rows != 1 {
			t.Errorf("keys %v, want one row of %q", uses, id)
		}
		n, err := s.Reseal(t.Context())
		if must(t, err); n > 1 || (n == 1) != (id == "") {
			t.Errorf("%d rows were encrypted again", n)
		}
	}
}

func mustRing(t *testing.T, key rows.KeySource) rows.Ring {
	t.Helper()
	ring, err := key(false)
	must(t, err)
	return ring
}

// An encrypted value can be read only in its place and version: a row that somebody puts back
// or moves opens nothing.
func TestSecretRowsThatWereMoved(t *testing.T) {
	s := open(t, tempPath(t))
	secret := routinetest.Secret()
	must(t, s.SaveSecret(t.Context(), secret, 0))
	execute := func(query string, args ...any) {
		t.Helper()
		_, err := s.write.ExecContext(t.Context(), query, args...)
		must(t, err)
	}
	read := func() (password []byte) {
		t.Helper()
		must(t, s.read.QueryRowContext(t.Context(), `SELECT sealed FROM secret_fields WHERE name = 'shop' AND field = 'password'`).Scan(&password))
		return password
	}
	wantSealed := func(what string) {
		t.Helper()
		if value, err := routinetest.SecretValue(t.Context(), s, "acme", "p", "shop", "password"); !errors.Is(err, routine.ErrSealed) {
			t.Errorf("%s: %q, %v", what, string(value), err)
		}
	}
	first := read()
	must(t, s.SaveSecret(t.Context(), routinetest.Secret(func(s *routine.Secret) { s.Fields[0].Value = "new" }), 1))
	put := func(sealed []byte) {
		t.Helper()
		execute(`UPDATE secret_fields SET sealed = ? WHERE name = 'shop' AND field = 'password'`, sealed)
	}
	second := read()
	put(first)
	wantSealed("the row of an earlier version")
	put(second)
	execute(`UPDATE secret_fields SET sealed = (SELECT sealed FROM secret_fields WHERE field = 'username') WHERE field = 'password'`)
	wantSealed("the value of another field")
	put(second)
	must(t, s.SaveSecret(t.Context(), routinetest.Secret(func(s *routine.Secret) { s.Name = "other" }), 0))
	execute(`UPDATE secret_fields SET sealed = (SELECT sealed FROM secret_fields WHERE name = 'other' AND field = 'password')
		WHERE name = 'shop' AND field = 'password'`)
	wantSealed("the value of another secret")
	put(second)
	for _, rules := range []string{`hosts = '["evil.example"]'`, `field_rule = 'any'`, `requests = NOT requests`, `routines = '[]'`} {
		execute(`UPDATE secrets SET ` + rules + ` WHERE name = 'shop'`)
		wantSealed(rules)
		must(t, s.DeleteSecret(t.Context(), "acme", "p", "shop"))
		must(t, s.SaveSecret(t.Context(), routinetest.Secret(), 0))
	}
	must(t, s.SaveSecret(t.Context(), routinetest.Secret(func(s *routine.Secret) { s.OrganizationID = "b" }), 0))
	execute(`UPDATE data_keys SET wrapped = (SELECT wrapped FROM data_keys WHERE organization_id = 'b') WHERE organization_id = 'acme'`)
	wantSealed("the key of another organization")
}

// No file of a database, of its backup or of its directory has the value of a secret in any
// spelling, also after it was changed, deleted and encrypted again.
func TestNoFileHasSecrets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rote.db")
	s := openAt(t, path)
	const value = "vX9 correct&horse\"battery/staple"
	for i := range 3 {
		must(t, s.SaveSecret(t.Context(), routinetest.Secret(func(s *routine.Secret) { s.Fields[0].Value = value }), i))
	}
	other := routinetest.Secret(func(s *routine.Secret) { s.Name, s.Fields[0].Value = "deleted", value })
	must(t, s.SaveSecret(t.Context(), other, 0))
	must(t, s.DeleteSecret(t.Context(), "acme", "p", "deleted"))
	routinetest.SaveState(t, s, "acme", "p", value)
	must(t, s.SaveCode(t.Context(), routinetest.Secret(), value, time.Hour))
	_, err := s.RotateDataKey(t.Context(), "acme", routinetest.Time)
	must(t, err)
	must(t, s.Backup(t.Context(), filepath.Join(dir, "copy.db")))
	wantNoFile(t, dir, value, 5) // the database, its log and shared memory, the key and the copy
	must(t, s.Close())
	wantNoFile(t, dir, value, 3)
}

// wantNoFile looks for all spellings of a value in all files of a directory, of which it wants
// at least n.
func wantNoFile(t *testing.T, dir, value string, n int) {
	t.Helper()
	reversed := []byte(value)
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	quoted, err := rows.Encode(value)
	must(t, err)
	spellings := []string{value, value[:9], string(reversed), strings.Trim(quoted, `"`), url.QueryEscape(value), url.PathEscape(value),
		hex.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value))[:40], base64.RawURLEncoding.EncodeToString([]byte(value))[:40]}
	must(t, filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		n--
		content, err := os.ReadFile(name)
		for _, spelling := range spellings {
			if bytes.Contains(bytes.ToLower(content), bytes.ToLower([]byte(spelling))) {
				t.Errorf("%s has the value as %q", name, spelling)
			}
		}
		return err
	}))
	if n > 0 {
		t.Errorf("%d files fewer than expected", n)
	}
}

// A value that no key opens stops a rotation, and the error names its secret.
func TestRotationNamesWhatItCannotOpen(t *testing.T) {
	s := openAt(t, tempPath(t))
	must(t, s.SaveSecret(t.Context(), routinetest.Secret(), 0))
	_, err := s.write.ExecContext(t.Context(), `UPDATE secret_fields SET sealed = x'00' WHERE field = 'password'`)
	must(t, err)
	_, err = s.RotateDataKey(t.Context(), "acme", routinetest.Time)
	if !errors.Is(err, routine.ErrSealed) || !strings.Contains(err.Error(), `project "p": decrypt field password of secret shop`) ||
		!strings.Contains(err.Error(), "set the secret again") {
		t.Error(err)
	}
	must(t, s.DeleteSecret(t.Context(), "acme", "p", "shop"))
	_, err = s.RotateDataKey(t.Context(), "acme", routinetest.Time)
	must(t, err)
}
