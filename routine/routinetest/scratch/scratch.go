// Package scratch gives the tests of a package a temporary directory that is
// removed however their process ends: by itself, by go test's timeout, or
// killed.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// remover waits until its standard input ends and then removes the directory.
// Browsers that are just ending may still write into it, so it tries for a
// while. It ignores the interrupt that ends the tests.
const remover = `trap '' INT TERM HUP; cat >/dev/null
tries=0; until rm -rf -- "$1" || [ $tries -ge 100 ]; do sleep 0.1; tries=$((tries + 1)); done`

// Use makes a temporary directory and makes it the one of this process and of
// its children: TMPDIR names it. The directory is removed by a process of its
// own when remove is called, which waits for that, or when this process has
// ended. Other users may enter the directory but not list it, so that a browser
// can run as a user of its own.
func Use() (remove func() error, err error) {
	dir, err := os.MkdirTemp("", "rote-test-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", remover, "sh", dir)
	alive, err := cmd.StdinPipe() // open as long as this process lives
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o711), cmd.Start(), os.Setenv("TMPDIR", dir))
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return func() error { return errors.Join(alive.Close(), cmd.Wait()) }, nil
}

// CheckGone returns an error if the temporary directory has an entry whose name
// begins with prefix.
func CheckGone(prefix string) error {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("tests left %s", left)
	}
	return err
}
