// Package tempdir makes temporary directories that do not outlive their owner
// for long: what a killed process leaves is swept by the next one.
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

// unowned is how long a directory may be without a lock before it counts as
// left behind: its maker needs a moment to take the lock.
const unowned = time.Minute

// Make makes a directory under [os.TempDir] whose name begins with prefix.
func Make(prefix string) (*Dir, error) {
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	lock := lockOf(path)
	if ok, err := lock.TryLock(); !ok {
		return nil, errors.Join(errors.New("lock temporary directory"), err, os.RemoveAll(path))
	}
	return &Dir{path, lock}, nil
}

// Remove removes the directory and all in it. A process that is just dying may
// write into it for a moment longer, so it tries again for a second at most.
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

// lockOf locks the directory itself: a lock file could be removed under its
// holder.
func lockOf(path string) *flock.Flock { return flock.New(path, flock.SetFlag(os.O_RDONLY)) }

// Sweep removes the directories of that prefix that dead processes have left.
func Sweep(prefix string) { sweep(os.TempDir(), prefix, time.Now()) }

// sweep removes what dead processes have left in a directory. What cannot be
// removed belongs to others.
func sweep(in, prefix string, now time.Time) {
	found, err := filepath.Glob(filepath.Join(in, prefix+"*"))
	if err != nil {
		return
	}
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < unowned {
			continue
		}
		lock := lockOf(path)
		if ok, err := lock.TryLock(); ok && err == nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
}
