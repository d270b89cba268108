package sqlite

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestBackup(t *testing.T) {
	s := open(t, tempPath(t))
	r := routinetest.Routine(t)
	must(t, s.CreateRoutine(t.Context(), r))
	e := create(t, s)
	put(t, s, e, "large", big('a'))
	put(t, s, e, "small", []byte("b"))
	to := tempPath(t)
	must(t, s.Backup(t.Context(), to))
	put(t, s, e, "later", big('c'))

	backup := open(t, to)
	got, err := backup.Routine(t.Context(), r.ID)
	must(t, err)
	if got.Name != r.Name {
		t.Errorf("routine %v", got)
	}
	wantFile(t, backup, e, "large", big('a'))
	wantFile(t, backup, e, "small", []byte("b"))
	wantBlobs(t, to, 1)
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// Nobody runs in the copy what was running in the original.
	wantRecovered(t, backup, 1)
	wantRecovered(t, s, 0)
}

func TestBackupRefusesToOverwrite(t *testing.T) {
	s := open(t, tempPath(t))
	for _, suffix := range []string{"", filesSuffix} {
		to := tempPath(t)
		must(t, os.WriteFile(to+suffix, []byte("mine"), 0o600))
		err := s.Backup(t.Context(), to)
		if err == nil || !strings.Contains(err.Error(), "there already") {
			t.Errorf("%q: %v", suffix, err)
		}
		if text, _ := os.ReadFile(to + suffix); string(text) != "mine" {
			t.Errorf("%q was changed", suffix)
		}
	}
}

func TestFailedBackupLeavesNoFiles(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	put(t, s, create(t, s), "f", big('a'))
	must(t, os.RemoveAll(path+filesSuffix))
	to := tempPath(t)
	if err := s.Backup(t.Context(), to); err == nil {
		t.Error("backed up without a file that it needs")
	}
	if names := files(t, strings.TrimSuffix(to, "/rote.db")); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
}

// A backup that is made while processes write is consistent: each execution in
// it has its routine and its file.
func TestBackupUnderLoad(t *testing.T) {
	s := open(t, tempPath(t))
	ctx, stop := context.WithCancel(t.Context())
	begun := make(chan struct{}, 3)
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				r := routinetest.Routine(t)
				must(t, s.CreateRoutine(t.Context(), r))
				e := create(t, s, func(e *routine.Execution) { e.RoutineID = r.ID })
				put(t, s, e, "f", append(big(byte(w)), byte(n), byte(n>>8)))
				if n == 0 {
					begun <- struct{}{}
				}
			}
		})
	}
	<-begun
	var copies []string
	for range 3 {
		copies = append(copies, tempPath(t))
		must(t, s.Backup(t.Context(), copies[len(copies)-1]))
	}
	stop()
	writers.Wait()
	for _, path := range copies {
		backup := open(t, path)
		es, _, err := backup.Executions(t.Context(), routine.ExecutionFilter{OrganizationID: "acme"})
		must(t, err)
		if len(es) == 0 {
			t.Error("nothing was backed up")
		}
		for _, e := range es {
			_, err := backup.Routine(t.Context(), e.RoutineID)
			must(t, err)
			if e, err = backup.Execution(t.Context(), e.ID); err != nil {
				t.Fatal(err)
			}
			for _, f := range e.Files {
				_, err := backup.File(t.Context(), e.ID, f.Name)
				must(t, err)
			}
		}
	}
}
