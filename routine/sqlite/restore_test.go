package sqlite

import (
	"database/sql"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/routine/routinetest"
)

// A restored database has what the original had, and the backup is as before.
func TestRestore(t *testing.T) {
	s := open(t, tempPath(t))
	r := routinetest.Routine(t)
	must(t, s.CreateRoutine(t.Context(), r))
	e := create(t, s)
	put(t, s, e, "large", big('a'))
	backup := tempPath(t)
	must(t, s.Backup(t.Context(), backup))
	before, err := os.ReadFile(backup)
	must(t, err)

	path := filepath.Join(t.TempDir(), "new", "rote.db")
	must(t, Restore(t.Context(), backup, path))
	restored := open(t, path)
	got, err := restored.Routine(t.Context(), r.ID)
	must(t, err)
	if got.Name != r.Name {
		t.Errorf("routine %v", got)
	}
	wantFile(t, restored, e, "large", big('a'))
	if after, err := os.ReadFile(backup); err != nil || string(after) != string(before) {
		t.Errorf("the backup has changed, %v", err)
	}
	entries, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*partial*"))
	if len(entries) > 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
}

// A backup of an earlier version becomes a database of this one.
func TestRestoreOfAnEarlierVersion(t *testing.T) {
	backup := tempPath(t)
	writeSchema(t, backup, 3, func(*sql.DB) {})
	path := tempPath(t)
	must(t, Restore(t.Context(), backup, path))
	s, err := Open(t.Context(), path, NoMigration())
	must(t, err)
	must(t, s.Close())
}

// What is no sound backup makes no database, and no database is replaced.
func TestRestoreRefuses(t *testing.T) {
	for _, row := range []struct {
		name    string
		prepare func(t *testing.T, backup, path, blob string)
		want    string
	}{
		{"a database", func(t *testing.T, _, path, _ string) { must(t, os.WriteFile(path, []byte("mine"), 0o600)) }, "is there already"},
		{"files of a database", func(t *testing.T, _, path, _ string) { must(t, os.Mkdir(path+filesSuffix, 0o700)) }, "is there already"},
		{"a damaged copy", func(t *testing.T, backup, _, _ string) { must(t, os.Truncate(backup, 9000)) }, "restore "},
		{"text", func(t *testing.T, backup, _, _ string) {
			must(t, os.WriteFile(backup, []byte(strings.Repeat("x", 5000)), 0o600))
		}, "is not a SQLite database"},
		{"a missing file", func(t *testing.T, _, _, blob string) { must(t, os.Remove(blob)) }, "is missing"},
		{"a damaged file", func(t *testing.T, _, _, blob string) { must(t, os.WriteFile(blob, []byte("x"), 0o600)) }, "is damaged"},
		{"a database in use", func(t *testing.T, backup, _, _ string) { must(t, os.WriteFile(backup+"-wal", []byte("x"), 0o600)) }, "a database in use"},
		{"nothing", func(t *testing.T, backup, _, _ string) { must(t, os.Remove(backup)) }, "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := open(t, tempPath(t))
			put(t, s, create(t, s), "large", big('a'))
			backup, path := tempPath(t), tempPath(t)
			must(t, s.Backup(t.Context(), backup))
			hashes, err := s.blobHashes(t.Context(), s.read)
			must(t, err)
			name := hex.EncodeToString(hashes[0])
			row.prepare(t, backup, path, filepath.Join(backup+filesSuffix, name[:2], name))
			if err := Restore(t.Context(), backup, path); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
			if text, err := os.ReadFile(path); err == nil && string(text) != "mine" {
				t.Error("it made a database")
			}
		})
	}
}
