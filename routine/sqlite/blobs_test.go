package sqlite

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
)

// big is data that is stored outside the database: n times a byte.
func big(b byte) []byte { return bytes.Repeat([]byte{b}, inlineLimit+1) }

func put(t *testing.T, s *Store, e *routine.Execution, name string, data []byte) {
	t.Helper()
	must(t, s.PutFile(t.Context(), e.ID, &routine.File{FileInfo: routine.FileInfo{Name: name}, Data: data}))
}

func wantFile(t *testing.T, s *Store, e *routine.Execution, name string, data []byte) {
	t.Helper()
	f, err := s.File(t.Context(), e.ID, name)
	must(t, err)
	if !bytes.Equal(f.Data, data) {
		t.Errorf("file %s has %d bytes, not the %d that were put", name, len(f.Data), len(data))
	}
}

// blobFiles returns the names of all files of a database.
func blobFiles(t *testing.T, path string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(path+filesSuffix, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, e.Name())
		}
		return ignoreNotExist(err)
	})
	must(t, err)
	return names
}

func wantBlobs(t *testing.T, path string, want int) {
	t.Helper()
	if names := blobFiles(t, path); len(names) != want {
		t.Errorf("files beside the database: %q, want %d", names, want)
	}
}

func TestLargeDataIsStoredOnceOutsideTheDatabase(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	e, other := create(t, s), create(t, s)
	put(t, s, e, "small", big('a')[1:])
	wantBlobs(t, path, 0)
	put(t, s, e, "a", big('a'))
	put(t, s, other, "same", big('a'))
	wantBlobs(t, path, 1)
	put(t, s, e, "b", big('b'))
	wantBlobs(t, path, 2)
	result := routinetest.Ended(other)
	result.Result.Data = []byte(`"` + string(big('c')) + `"`)
	must(t, s.FinishExecution(t.Context(), result))
	wantBlobs(t, path, 3)
	info, err := os.Stat(path)
	must(t, err)
	if info.Size() > 2*inlineLimit {
		t.Errorf("the database has %d bytes", info.Size())
	}
	err = filepath.WalkDir(path+filesSuffix, func(name string, e fs.DirEntry, err error) error {
		if info, _ := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s may be read by others: %v", name, info.Mode())
		}
		return err
	})
	must(t, err)
}

func TestFailedSaveLeavesNoFile(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	e := create(t, s)
	must(t, s.FinishExecution(t.Context(), routinetest.Failed(e)))
	if err := s.PutFile(t.Context(), e.ID, &routine.File{Data: big('a')}); err == nil {
		t.Error("put into an execution that has ended")
	}
	again := routinetest.Ended(e)
	again.Result.Data = []byte(`"` + string(big('b')) + `"`)
	if err := s.FinishExecution(t.Context(), again); err == nil {
		t.Error("finished twice")
	}
	wantBlobs(t, path, 0)
}

func TestDamagedFileIsDetected(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	e := create(t, s)
	put(t, s, e, "f", big('a'))
	name := blobFiles(t, path)[0]
	must(t, os.WriteFile(filepath.Join(path+filesSuffix, name[:2], name), big('b'), 0o600))
	if _, err := s.File(t.Context(), e.ID, "f"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("read a damaged file: %v", err)
	}
}

// Pruning removes the files that nothing refers to, and no others.
func TestPruneRemovesUnusedFiles(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	e, kept := create(t, s), create(t, s)
	put(t, s, e, "shared", big('a'))
	put(t, s, kept, "shared", big('a'))
	put(t, s, e, "own", big('b'))
	put(t, s, kept, "replaced", big('c'))
	put(t, s, kept, "replaced", big('d'))
	must(t, s.FinishExecution(t.Context(), routinetest.Failed(e)))
	foreign := filepath.Join(path+filesSuffix, "README")
	must(t, os.WriteFile(foreign, nil, 0o600))
	onItsWay, err := s.stageBlob(big('e'))
	must(t, err)
	left, err := s.stageBlob(big('f'))
	must(t, err)
	long := time.Now().Add(-2 * tempMaxAge)
	must(t, os.Chtimes(left.tempPath, long, long))

	n, err := s.Prune(t.Context(), routine.Retention{Age: time.Minute}, time.Now())
	must(t, err)
	if n != 1 {
		t.Errorf("%d pruned", n)
	}
	wantFile(t, s, kept, "shared", big('a'))
	wantFile(t, s, kept, "replaced", big('d'))
	wantBlobs(t, path, 4) // those two, what is on its way, and what is not ours
	must(t, onItsWay.moveIntoPlace())
	_, err = os.Stat(foreign)
	must(t, err)
}

func TestFilesSurviveCrash(t *testing.T) {
	path := tempPath(t)
	s, err := Open(t.Context(), path)
	must(t, err)
	e := create(t, s)
	put(t, s, e, "f", big('a'))
	must(t, s.Close())
	wantFile(t, open(t, path), e, "f", big('a'))
}
