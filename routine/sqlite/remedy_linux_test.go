package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// A database that cannot be opened names its file, and what to do.
func TestRemedies(t *testing.T) {
	for _, row := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		want    string
	}{
		{"damaged", func(t *testing.T, path string) {
			s, err := Open(t.Context(), path)
			must(t, err)
			must(t, s.Close())
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteAt([]byte(strings.Repeat("garbage ", 4096)), 100)
			must(t, errors.Join(err, f.Close()))
		}, "put a backup in its place"},
		{"read-only", func(t *testing.T, path string) {
			s, err := Open(t.Context(), path)
			must(t, err)
			must(t, s.Close())
			dir := filepath.Dir(path)
			if os.Geteuid() != 0 {
				must(t, errors.Join(os.Chmod(path, 0o400), os.Chmod(dir, 0o500)))
				t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
				return
			}
			if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
				t.Skip("root may write everywhere: ", err)
			}
			t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
			must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
		}, "may not read and write it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := tempPath(t)
			row.prepare(t, path)
			s, err := Open(t.Context(), path)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "--db") || !strings.Contains(err.Error(), path) {
				t.Error(err)
			}
		})
	}
	t.Run("locked", func(t *testing.T) {
		db, err := sql.Open("sqlite", "file:"+tempPath(t))
		must(t, err)
		defer db.Close()
		holder, err := db.Conn(t.Context())
		must(t, err)
		defer holder.Close()
		_, err = holder.ExecContext(t.Context(), `CREATE TABLE t (x); BEGIN EXCLUSIVE`)
		must(t, err)
		if _, err = db.ExecContext(t.Context(), `INSERT INTO t VALUES (1)`); !strings.Contains(WithRemedy(err).Error(), inUse) {
			t.Error(err)
		}
	})
}

// A full disk loses nothing that was acknowledged, refuses the rest, and is
// over when there is room again.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("a small disk cannot be had: ", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	path := filepath.Join(dir, "rote.db")
	s, err := Open(t.Context(), path)
	must(t, err)
	var kept []*routine.Routine
	for err = nil; err == nil && len(kept) < 10_000; {
		r := routinetest.Routine(t)
		if err = s.CreateRoutine(t.Context(), r); err == nil {
			kept = append(kept, r)
		}
	}
	if err == nil || !strings.Contains(WithRemedy(err).Error(), diskFull) {
		t.Fatalf("after %d routines: %v", len(kept), err)
	}
	for _, r := range kept {
		if _, err := s.Routine(t.Context(), r.ID); err != nil {
			t.Fatal("acknowledged and lost: ", err)
		}
	}
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=4m"))
	must(t, s.CreateRoutine(t.Context(), routinetest.Routine(t)))
	_, total, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme"})
	must(t, err)
	if total != len(kept)+1 {
		t.Errorf("%d routines are there, %d were acknowledged", total, len(kept)+1)
	}
	var check string
	must(t, s.read.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&check))
	if check != "ok" {
		t.Error(check)
	}
	must(t, s.Close())
	t.Run("at the start", func(t *testing.T) {
		full := filepath.Join(dir, "full")
		must(t, os.Mkdir(full, 0o700))
		must(t, syscall.Mount("tmpfs", full, "tmpfs", 0, "size=32k"))
		t.Cleanup(func() { must(t, syscall.Unmount(full, 0)) })
		_, err := Open(t.Context(), filepath.Join(full, "rote.db"))
		if err == nil || !strings.Contains(err.Error(), diskFull) {
			t.Fatal(err)
		}
	})
}
