package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"rote/routine"
)

// An open execution is a promise of the process that runs it. When that process
// dies, nobody keeps it, and somebody else has to end the row; but never while
// the process lives. A process id in the row would not tell the two apart (ids
// are reused, and differ between containers that share a volume), and a
// heartbeat takes a slow process for a dead one. A file lock does tell: the
// kernel holds it exactly as long as the process lives.
//
// So each Store instance has a random id, which stands in the executions it
// creates, and from its first execution until Close it holds a lock on the file
// PATH.owner-ID. If that file can be locked by another, or is not there, the
// owner is gone. Child processes do not prolong the lock: Go opens files with
// O_CLOEXEC. Ids are never used again, so an owner that is gone stays gone.
type owner struct {
	id string

	mu       sync.Mutex
	lock     *flock.Flock // nil until claimed
	released bool
}

const ownerInfix = ".owner-"

// The condition on status is written as in the partial index executions_open,
// or SQLite would not use it.
const (
	selectOpenOwners = `SELECT DISTINCT owner FROM executions WHERE status IN ('pending', 'running')`
	endOpenOfOwner   = `
		UPDATE executions SET status = ?, error = ?, error_code = ?, completed_at = ?,
			duration_seconds = (? - created_at) / 1000000.0
		WHERE owner = ? AND status IN ('pending', 'running')`
)

func (s *Store) ownerFile(id string) string { return s.path + ownerInfix + id }

// claimOwner makes the Store's executions recognizable as those of a living
// process. It must have returned before the first of them is written.
//
// A file that was just made and is not locked yet looks like one left behind.
// RecoverExecutions removes such files, and claiming takes the same PATH.lock,
// so that it never sees one in between.
func (s *Store) claimOwner(ctx context.Context) error {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if s.owner.released {
		return errors.New("store is closed")
	}
	if s.owner.lock != nil {
		return nil
	}
	release, err := s.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	lock := flock.New(s.ownerFile(s.owner.id))
	ok, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock owner file: %w", err)
	}
	if !ok {
		return fmt.Errorf("owner file %s is locked by another process", lock.Path())
	}
	s.owner.lock = lock
	return nil
}

func (s *Store) releaseOwner() error {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.owner.released = true
	if s.owner.lock == nil {
		return nil
	}
	err := errors.Join(s.owner.lock.Close(), removeIfThere(s.owner.lock.Path()))
	s.owner.lock = nil
	return err
}

// RecoverExecutions ends what dead owners left open. It holds PATH.lock
// throughout, so two processes that recover at once do so one after the other,
// and the second finds nothing to do.
func (s *Store) RecoverExecutions(ctx context.Context, at time.Time) (int, error) {
	release, err := s.exclusive(ctx)
	if err != nil {
		return 0, fmt.Errorf("recover executions: %w", err)
	}
	defer release()
	ids, err := s.otherOwners(ctx)
	if err != nil {
		return 0, fmt.Errorf("recover executions: %w", err)
	}
	total := 0
	var faults []error
	for _, id := range ids {
		n, err := s.recoverFrom(ctx, id, at)
		total += n
		if err != nil {
			faults = append(faults, fmt.Errorf("recover executions of owner %s: %w", id, err))
		}
	}
	return total, errors.Join(faults...)
}

// otherOwners are the owners of open executions (one whose file is gone is dead
// too) and those that have a file (one that died with nothing open leaves only
// that), except this Store.
func (s *Store) otherOwners(ctx context.Context) ([]string, error) {
	ids, err := s.texts(ctx, selectOpenOwners)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(s.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, ok := strings.CutPrefix(entry.Name(), base+ownerInfix)
		if ok && uuid.Validate(id) == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return slices.DeleteFunc(ids, func(id string) bool { return id == s.owner.id }), nil
}

// recoverFrom ends the open executions of an owner if it is dead.
func (s *Store) recoverFrom(ctx context.Context, id string, at time.Time) (int, error) {
	// Without O_CREATE: a file that is not there must not appear.
	lock := flock.New(s.ownerFile(id), flock.SetFlag(os.O_RDWR))
	free, err := lock.TryLock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if err == nil && !free {
		return 0, nil // it lives
	}
	defer func() { _ = lock.Close() }()

	done, err := s.write.ExecContext(ctx, endOpenOfOwner,
		routine.ExecutionFailed, "the process that ran it ended before the run did", routine.CodeInterrupted,
		micros(at), micros(at), id)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), errors.Join(err, removeIfThere(lock.Path()))
}

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
