package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
)

// at is when tests recover: 90.5 s after sample executions were created.
var at = routinetest.Time.Add(90*time.Second + 500*time.Millisecond)

// interrupted is e as recovery ends it.
func interrupted(e *routine.Execution) *routine.Execution {
	c := *e
	c.Status, c.ErrorCode = routine.ExecutionFailed, routine.CodeInterrupted
	c.Error = new("the process that ran it ended before the run did")
	c.CompletedAt, c.DurationSeconds = new(at), new(90.5)
	return &c
}

func create(t *testing.T, s *Store, edits ...func(*routine.Execution)) *routine.Execution {
	t.Helper()
	e := routinetest.Execution(t, edits...)
	must(t, s.CreateExecution(t.Context(), e))
	return e
}

func wantExecution(t *testing.T, s *Store, want *routine.Execution) {
	t.Helper()
	got, err := s.Execution(t.Context(), want.ID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("execution (-want +got):\n%s", diff)
	}
}

func wantRecovered(t *testing.T, s *Store, want int) {
	t.Helper()
	n, err := s.RecoverExecutions(t.Context(), at)
	must(t, err)
	if n != want {
		t.Errorf("%d recovered, want %d", n, want)
	}
}

func ownerFiles(t *testing.T, path string) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, filepath.Dir(path)), func(name string) bool {
		return !strings.Contains(name, ownerInfix)
	})
}

// openIDs starts a process with open executions and returns the process and
// their ids.
func openIDs(t *testing.T, path string) (*child, []string) {
	t.Helper()
	c := start(t, "run", path)
	c.goOn(t)
	var ids []string
	for _, line := range c.done(t) {
		id, ok := strings.CutPrefix(line, "open ")
		if !ok {
			t.Fatalf("child says %q", line)
		}
		ids = append(ids, id)
	}
	if len(ids) != openPerChild {
		t.Fatalf("child left %d executions open, want %d", len(ids), openPerChild)
	}
	return c, ids
}

func TestRecoveryFailsExecutionsOfKilledProcess(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	mine := create(t, s)
	dead, deadIDs := openIDs(t, path)
	_, livingIDs := openIDs(t, path)
	wantRecovered(t, s, 0)

	dead.kill(t)
	wantRecovered(t, s, openPerChild)
	for i, id := range deadIDs {
		want := &routine.Execution{ID: id, CreatedAt: routinetest.Time}
		if i == openPerChild-1 {
			want.StartedAt = new(routinetest.Time)
		}
		wantExecution(t, s, interrupted(want))
	}
	for i, id := range livingIDs {
		want := &routine.Execution{ID: id, Status: routine.ExecutionPending, CreatedAt: routinetest.Time}
		if i == openPerChild-1 {
			want.Status, want.StartedAt = routine.ExecutionRunning, new(routinetest.Time)
		}
		wantExecution(t, s, want)
	}
	wantExecution(t, s, mine)
	if names := ownerFiles(t, path); len(names) != 2 {
		t.Errorf("owner files %q, want the two of the living", names)
	}
	wantRecovered(t, s, 0)
}

func TestRecoveryKeepsPartialResult(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	gone, err := Open(t.Context(), path)
	must(t, err)
	e := create(t, gone, func(e *routine.Execution) {
		e.Status, e.StartedAt = routine.ExecutionRunning, new(routinetest.Time.Add(time.Second))
		e.Result = &routine.Result{Warnings: []string{"so far"}, Data: []byte(`[1,2]`)}
	})
	ended := create(t, gone)
	ended = routinetest.Ended(ended)
	must(t, gone.FinishExecution(t.Context(), ended))
	must(t, gone.Close())
	wantRecovered(t, s, 1)
	wantExecution(t, s, interrupted(e))
	wantExecution(t, s, ended)
}

func TestStoresOfOneProcessAreSeparateOwners(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	other, err := Open(t.Context(), path)
	must(t, err)
	e := create(t, other)
	wantRecovered(t, s, 0)
	wantExecution(t, s, e)
	must(t, other.Close())
	wantRecovered(t, s, 1)
	wantExecution(t, s, interrupted(e))
}

func TestOwnerIsRecognizedUnderAllPathsOfTheFile(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(path, link))
	dirLink := filepath.Join(t.TempDir(), "dir")
	must(t, os.Symlink(filepath.Dir(path), dirLink))
	t.Chdir(filepath.Dir(path))
	e := create(t, s)
	for _, name := range []string{link, filepath.Join(dirLink, "rote.db"), "rote.db", "./x/../rote.db"} {
		wantRecovered(t, open(t, name), 0)
		wantExecution(t, s, e)
	}
}

func TestRecoveryRemovesFilesOfDeadOwners(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	create(t, s)
	// An owner that died between claiming and its first execution, or with all
	// of them finished, and files that are not ours to remove.
	must(t, os.WriteFile(path+".owner-6ba7b810-9dad-11d1-80b4-00c04fd430c8", nil, 0o600))
	kept := []string{"rote.db.owner-notes", "rote.db.owner-" + s.owner.id,
		"other.db.owner-6ba7b810-9dad-11d1-80b4-00c04fd430c8"}
	for _, name := range []string{kept[0], kept[2]} {
		must(t, os.WriteFile(filepath.Join(filepath.Dir(path), name), nil, 0o600))
	}
	wantRecovered(t, s, 0)
	slices.Sort(kept)
	if diff := cmp.Diff(kept, ownerFiles(t, path)); diff != "" {
		t.Errorf("owner files (-want +got):\n%s", diff)
	}
}

func TestRecoveredExecutionIsFinal(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	other, err := Open(t.Context(), path)
	must(t, err)
	e := create(t, other)
	must(t, other.Close())
	wantRecovered(t, s, 1)
	if err := s.FinishExecution(t.Context(), routinetest.Ended(e)); !errors.Is(err, routine.ErrFinal) {
		t.Errorf("finish after recovery: error %v, want final", err)
	}
	wantExecution(t, s, interrupted(e))
}

func TestConcurrentRecoveriesCountEachExecutionOnce(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	for range 3 {
		dead, _ := openIDs(t, path)
		dead.kill(t)
	}
	children := make([]*child, 4)
	for i := range children {
		children[i] = start(t, "recover", path)
	}
	for _, c := range children {
		c.goOn(t)
	}
	n, err := s.RecoverExecutions(t.Context(), at)
	must(t, err)
	total := n
	for _, c := range children {
		for _, line := range c.done(t) {
			switch line {
			case "recovered 0":
			case "recovered 3":
				total += 3
			case "recovered 6":
				total += 6
			case "recovered 9":
				total += 9
			default:
				t.Errorf("child says %q", line)
			}
		}
		c.end(t)
	}
	if total != 9 {
		t.Errorf("%d recovered in all, want 9", total)
	}
	if names := ownerFiles(t, path); len(names) != 0 {
		t.Errorf("owner files %q are left", names)
	}
}

// Owners appear, work and disappear while others run recoveries all the time: no
// execution is failed while its owner is alive.
func TestRecoveryIgnoresNewOwner(t *testing.T) {
	path := tempPath(t)
	keeper := open(t, path)
	var recoverers, owners sync.WaitGroup
	var over atomic.Bool
	for range 2 {
		recoverers.Go(func() {
			for !over.Load() {
				if n, err := keeper.RecoverExecutions(t.Context(), at); n != 0 || err != nil {
					t.Errorf("recovered %d, %v", n, err)
					return
				}
			}
		})
	}
	for range 4 {
		owners.Go(func() {
			for range 8 {
				if err := liveShortly(t.Context(), path, routinetest.Execution(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	owners.Wait()
	over.Store(true)
	recoverers.Wait()
}

func liveShortly(ctx context.Context, path string, e *routine.Execution) error {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CreateExecution(ctx, e); err != nil {
		return err
	}
	return s.FinishExecution(ctx, routinetest.Ended(e))
}
