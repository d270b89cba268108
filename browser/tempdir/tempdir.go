// Package tempdir creates temporary directories that are removed even if their
// process is killed: the next process removes what it left behind.
package tempdir

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Dir is a temporary directory of this process. The kernel holds the lock on it
// as long as the process lives.
type Dir struct {
	Path string
	lock *flock.Flock
}

// lockGracePeriod is how old a directory without a lock must be to count as left
// behind: a process needs a moment to lock a new directory.
const lockGracePeriod = time.Minute

// Make creates a directory under [os.TempDir] whose name begins with prefix.
func Make(prefix string) (*Dir, error) {
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	lock := directoryLock(path)
	if ok, err := lock.TryLock(); !ok {
		return nil, errors.Join(errors.New("lock temporary directory"), err, os.RemoveAll(path))
	}
	return &Dir{path, lock}, nil
}

// Remove removes the directory and its content. A process that is exiting may
// still write into it, so Remove retries for up to one second.
func (d *Dir) Remove() error {
	var err error
	for range 20 {
		if err = os.RemoveAll(d.Path); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.Join(err, d.lock.Close())
}

// directoryLock returns a lock on the directory itself, because a lock file could be
// removed while it is held.
func directoryLock(path string) *flock.Flock { return flock.New(path, flock.SetFlag(os.O_RDONLY)) }

// Sweep removes the directories with this prefix that dead processes have left
// behind.
func Sweep(prefix string) { removeUnlocked(os.TempDir(), prefix, time.Now()) }

// removeUnlocked removes directories that dead processes have left behind in a
// directory. It ignores those that it cannot remove, because they belong to
// other users.
func removeUnlocked(in, prefix string, now time.Time) {
	found, err := filepath.Glob(filepath.Join(in, prefix+"*"))
	if err != nil {
		return
	}
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < lockGracePeriod {
			continue
		}
		lock := directoryLock(path)
		if ok, err := lock.TryLock(); ok && err == nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
}
