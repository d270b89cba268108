package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

func openAt(t *testing.T, path string, options ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestProjectStatesAreEncrypted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rote.db")
	s := openAt(t, path)
	const state = "a session cookie that nobody may read"
	routinetest.SaveState(t, s, "o", "p", state)
	routinetest.SaveState(t, s, "o", "q", state)
	key := path + ".key"
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(path + "*")
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || bytes.Contains(b, []byte(state[:20])) {
			t.Errorf("%s shows the state: %v", f, err)
		}
	}
	again := openAt(t, path)
	if got, err := again.ProjectState(t.Context(), "o", "p"); string(got) != state || err != nil {
		t.Fatalf("%q %v", got, err)
	}
	t.Run("the row of one project does not open as another's", func(t *testing.T) {
		if _, err := again.write.ExecContext(t.Context(), `UPDATE project_states SET sealed = (SELECT sealed FROM project_states WHERE project_id = 'q') WHERE project_id = 'p'`); err != nil {
			t.Fatal(err)
		}
		if got, err := again.ProjectState(t.Context(), "o", "p"); !errors.Is(err, routine.ErrSealed) {
			t.Fatalf("%q %v", got, err)
		}
	})
	t.Run("a key that others can read is refused", func(t *testing.T) {
		if err := os.Chmod(key, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := again.ProjectState(t.Context(), "o", "q"); !errors.Is(err, routine.ErrStateKey) || !strings.Contains(err.Error(), "chmod 600 it") {
			t.Fatal(err)
		}
		if err := os.Chmod(key, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("another key", func(t *testing.T) {
		elsewhere := openAt(t, path, Key(rows.KeyFile(filepath.Join(t.TempDir(), "key"))))
		if _, err := elsewhere.ProjectState(t.Context(), "o", "q"); !errors.Is(err, routine.ErrSealed) {
			t.Fatal(err)
		}
	})
	t.Run("a key that is missing is not replaced", func(t *testing.T) {
		if err := os.Rename(key, key+".away"); err != nil {
			t.Fatal(err)
		}
		e := routinetest.Execution(t)
		must(t, again.CreateExecution(t.Context(), e))
		e = routinetest.Ended(e)
		e.State = &routine.BrowserState{ProjectID: "new", Data: []byte("x")}
		if err := again.FinishExecution(t.Context(), e); !errors.Is(err, routine.ErrStateKey) {
			t.Errorf("a second key was made: %v", err)
		}
		if err := os.Rename(key+".away", key); err != nil {
			t.Fatal(err)
		}
		if got, err := again.ProjectState(t.Context(), "o", "q"); string(got) != state || err != nil {
			t.Fatalf("%q %v", got, err)
		}
	})
	t.Run("what is no key", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte("short"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openAt(t, path, Key(rows.KeyFile(file))).ProjectState(t.Context(), "o", "q")
		if !errors.Is(err, routine.ErrStateKey) || !strings.Contains(err.Error(), "does not hold a key") {
			t.Fatal(err)
		}
		_, err = openAt(t, path, Key(rows.KeyFile(t.TempDir()))).ProjectState(t.Context(), "o", "q")
		if !errors.Is(err, routine.ErrStateKey) || !strings.Contains(err.Error(), "is no file") {
			t.Fatal(err)
		}
	})
}

// Processes that need the first key at once agree on one.
func TestConcurrentFirstSavesShareOneKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rote.db")
	openAt(t, path)
	s := rows.Sealer{Keys: rows.KeyFile(path + ".key")}
	var all sync.WaitGroup
	sealed := make([]rows.Sealed, 8)
	for i := range sealed {
		all.Go(func() {
			var err error
			if sealed[i], err = s.Seal([]byte("text"), "place", true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, b := range sealed {
		if text, err := s.Open(b, "place"); string(text) != "text" {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".key-*")); len(left) > 0 {
		t.Fatal("left behind: ", left)
	}
}
