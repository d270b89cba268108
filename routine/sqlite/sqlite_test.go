package sqlite

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sqlite3 "modernc.org/sqlite/lib"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestStore(t *testing.T) {
	routinetest.TestStore(t, func(t *testing.T) routine.Store { return open(t, tempPath(t)) })
}

func tempPath(t testing.TB) string { return filepath.Join(t.TempDir(), "rote.db") }

// open opens a Store that is closed, and found sound, at the end of the test.
func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's context has ended by now.
		checkIntegrity(context.WithoutCancel(t.Context()), t, s)
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func checkIntegrity(ctx context.Context, t testing.TB, s *Store) {
	t.Helper()
	var verdict string
	if err := s.read.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity check: %q, %v", verdict, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPragmasApplyToEveryConnection(t *testing.T) {
	s := open(t, tempPath(t))
	for _, pool := range []struct {
		name        string
		db          *sql.DB
		connections int
		want        map[string]string
	}{
		{"writer", s.write, 1, map[string]string{"busy_timeout": "10000", "journal_mode": "wal", "synchronous": "2",
			"foreign_keys": "1", "query_only": "0"}},
		{"readers", s.read, maxReaders, map[string]string{"busy_timeout": "10000", "journal_mode": "wal",
			"foreign_keys": "1", "query_only": "1"}},
	} {
		t.Run(pool.name, func(t *testing.T) {
			if n := pool.db.Stats().MaxOpenConnections; n != pool.connections {
				t.Fatalf("%d connections, want %d", n, pool.connections)
			}
			for range pool.connections {
				// Held until the end of the test, so that each is another one.
				c, err := pool.db.Conn(t.Context())
				must(t, err)
				defer c.Close()
				got := map[string]string{}
				for name := range pool.want {
					var value string
					must(t, c.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&value))
					got[name] = value
				}
				if diff := cmp.Diff(pool.want, got); diff != "" {
					t.Errorf("pragmas (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestReadersCannotWrite(t *testing.T) {
	s := open(t, tempPath(t))
	_, err := s.read.ExecContext(t.Context(), `DELETE FROM tokens`)
	if err == nil || !strings.Contains(err.Error(), "readonly") {
		t.Errorf("write through the read pool: error %v, want readonly", err)
	}
}

func TestWriteTransactionLocksAtBegin(t *testing.T) {
	path := tempPath(t)
	s, other := open(t, path), open(t, path)
	tx, err := s.write.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	c, err := other.write.Conn(t.Context())
	must(t, err)
	defer c.Close()
	_, err = c.ExecContext(t.Context(), `PRAGMA busy_timeout = 0`)
	must(t, err)
	second, err := c.BeginTx(t.Context(), nil)
	if !hasCode(err, sqlite3.SQLITE_BUSY) {
		t.Errorf("second BEGIN: error %v, want SQLITE_BUSY", err)
	}
	if err == nil {
		must(t, second.Rollback())
	}
}

func TestPathsWithSpecialCharacters(t *testing.T) {
	for _, name := range []string{
		"with space.db", "a?mode=memory.db", "a#b.db", "100%.db", "100%20.db", "a&b=c;d+e.db", "äöü 日本 🙂.db",
		":memory:", "file:x.db", "quote'\".db", "new/dir/below.db", "trailing .db ",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			want := routinetest.Routine(t)
			s, err := Open(t.Context(), path)
			must(t, err)
			must(t, s.CreateRoutine(t.Context(), want))
			must(t, s.CreateExecution(t.Context(), routinetest.Execution(t)))
			must(t, s.Close())

			got, err := open(t, path).Routine(t.Context(), want.ID)
			must(t, err)
			if got.ToolName != want.ToolName {
				t.Errorf("tool name %q, want %q", got.ToolName, want.ToolName)
			}
			// Nothing under another name: the path was taken as it is.
			for _, file := range files(t, dir) {
				if !strings.HasPrefix(file, name) {
					t.Errorf("file %q beside %q", file, name)
				}
			}
		})
	}
}

// files lists all files below dir.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, filepath.Join(dir, "rote.db"))
	must(t, s.CreateExecution(t.Context(), routinetest.Execution(t)))
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("directory has mode %o, want 700", info.Mode().Perm())
	}
	names := files(t, dir)
	if len(names) != 5 { // database, -wal, -shm, .lock, .owner-UUID
		t.Errorf("files %q, want 5", names)
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, info.Mode().Perm())
		}
	}
}

func TestCloseLeavesOnlyDatabaseAndLock(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), filepath.Join(dir, "rote.db"))
	must(t, err)
	must(t, s.CreateExecution(t.Context(), routinetest.Execution(t)))
	_, _, err = s.Routines(t.Context(), routine.RoutineFilter{})
	must(t, err)
	must(t, s.Close())
	if diff := cmp.Diff([]string{"rote.db", "rote.db.lock"}, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err := s.CreateExecution(t.Context(), routinetest.Execution(t)); err == nil {
		t.Error("a closed store took an execution")
	}
	if n := len(files(t, dir)); n != 2 {
		t.Errorf("%d files after the use of a closed store, want 2", n)
	}
}

func TestPingDetectsRemovedFile(t *testing.T) {
	path := tempPath(t)
	s, err := Open(t.Context(), path)
	must(t, err)
	defer s.Close()
	must(t, s.Ping(t.Context()))
	must(t, os.Remove(path))
	if err := s.Ping(t.Context()); err == nil {
		t.Error("ping succeeds without the file")
	}
}

// The size counts what a change has just added, wherever it is by now.
func TestSizeGrows(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "rote.db"))
	before, err := s.Size()
	if err != nil || before <= 0 {
		t.Fatal(before, err)
	}
	const text = 1 << 20
	if err := s.CreateRoutine(t.Context(), routinetest.Routine(t, func(r *routine.Routine) { r.Description = strings.Repeat("x", text) })); err != nil {
		t.Fatal(err)
	}
	if after, err := s.Size(); err != nil || after < before+text {
		t.Errorf("from %d to %d, %v", before, after, err)
	}
}

// A large definition is not decoded for a list, however it was written.
func TestLargeDefinitionsAreNotDecoded(t *testing.T) {
	s := open(t, tempPath(t))
	large := strings.Repeat("x", 300<<10)
	for name, definition := range map[string]string{
		"header first": `{"name": "n", "description": "d", "incognito": true, "is_public": true, "is_mcp_tool_designated": true, "tags": ["t"], "parameters": [` + large,
		"header last": `{"operations": [{"type": "input_text", "selector": "#a", "text": "` + large + `"}], "parameters": [{"name": "p"}],
			"name": "n", "description": "d", "incognito": true, "is_public": true, "is_mcp_tool_designated": true, "tags": ["t"]}`,
		"without tags": `{"name": "n", "description": "d", "incognito": true, "is_public": true, "is_mcp_tool_designated": true,
			"operations": [{"type": "input_text", "selector": "#a", "text": "` + large + `"}]}`,
	} {
		r := routinetest.Routine(t)
		if err := s.CreateRoutine(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if _, err := s.write.ExecContext(t.Context(), `UPDATE routine_versions SET definition = ? WHERE routine_id = ?`, definition, r.ID); err != nil {
			t.Fatal(err)
		}
		list, _, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme", MaxDefinition: 32 << 10, Limit: 1})
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if got := list[0]; got.Name != "n" || got.Description != "d" || !got.IsPublic || len(got.Omitted) != 2 || len(got.Operations)+len(got.Parameters) != 0 || got.ToolName != r.ToolName {
			t.Errorf("%s: %+v", name, got)
		}
		if list, _, err = s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme", WithoutDefinitions: true, Limit: 1}); err != nil || list[0].ID != r.ID || list[0].Name != "" {
			t.Errorf("%s: %v", name, err)
		}
		if size, err := s.DefinitionSize(t.Context(), r.ID, 0); err != nil || size != len(definition) {
			t.Errorf("%s: %d bytes, %v", name, size, err)
		}
	}
}
