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
	"rote/routine/rows"
)

// owner marks this process as the owner of the executions that it creates. An open
// execution belongs to the process that runs it. If that process dies,
// another one must end the row, but never while the owner is alive. A process
// id could not tell the two apart: ids are reused, and differ between
// containers that share a volume. A heartbeat would take a slow process for a
// dead one. So ownership is a locked file: the kernel holds the lock exactly as
// long as the process lives.
//
// Each Store has a random id, which is stored in the executions that it
// creates. From its first execution until Close it locks the file
// PATH.owner-ID. If another process can lock that file, or it does not exist,
// the owner is dead. Child processes do not inherit the lock, because Go opens
// files with O_CLOEXEC. Ids are never reused.
type owner struct {
	id string

	mu       sync.Mutex
	lock     *flock.Flock // nil until claimed
	released bool
}

const ownerInfix = ".owner-"

const (
	// The condition on status must be written as in the partial index
	// executions_open, otherwise SQLite does not use the index.
	selectOpenOwners = `SELECT DISTINCT owner FROM executions WHERE status IN ('pending', 'running') AND owner <> ''`
	failOpenOfOwner  = `
		UPDATE executions SET status = ?, error = ?, error_code = ?, completed_at = ?,
			duration_seconds = max(? - created_at, 0) / 1000000.0
		WHERE owner = ? AND status IN ('pending', 'running')`
)

func (s *Store) ownerFile(id string) string { return s.path + ownerInfix + id }

// claimOwner creates and locks this Store's owner file. It must return before
// the first execution is written.
//
// A new file that is not locked yet looks like the file of a dead owner, which
// RecoverExecutions removes. Both hold PATH.lock, so recovery never sees a file
// in that state.
func (s *Store) claimOwner(ctx context.Context) error {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if s.owner.released {
		return errors.New("store is closed")
	}
	if s.owner.lock != nil {
		return nil
	}
	release, err := s.lockDatabase(ctx)
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
	err := errors.Join(s.owner.lock.Close(), removeIfExists(s.owner.lock.Path()))
	s.owner.lock = nil
	return err
}

// RecoverExecutions fails the open executions of dead owners and returns their
// number. It holds PATH.lock, so that of two concurrent recoveries the second
// finds nothing to do.
func (s *Store) RecoverExecutions(ctx context.Context, at time.Time) (int, error) {
	release, err := s.lockDatabase(ctx)
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

// otherOwners returns the owners of open executions and those that have an
// owner file, without this Store. A dead owner may have only one of the two.
func (s *Store) otherOwners(ctx context.Context) ([]string, error) {
	ids, err := s.queryStrings(ctx, selectOpenOwners)
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

// recoverFrom fails the open executions of an owner if it is dead.
func (s *Store) recoverFrom(ctx context.Context, id string, at time.Time) (int, error) {
	// Without O_CREATE: a missing file must not be created.
	lock := flock.New(s.ownerFile(id), flock.SetFlag(os.O_RDWR))
	free, err := lock.TryLock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if err == nil && !free {
		return 0, nil // the owner is alive
	}
	defer func() { _ = lock.Close() }()

	done, err := s.write.ExecContext(ctx, failOpenOfOwner,
		routine.ExecutionFailed, rows.Interrupted, routine.CodeInterrupted,
		rows.Micros(at), rows.Micros(at), id)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), errors.Join(err, removeIfExists(lock.Path()))
}

func removeIfExists(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
