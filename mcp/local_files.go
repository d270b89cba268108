package mcp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// maxLocal limits the bytes of all files in the directory.
const maxLocal = 1 << 30

// localFiles puts files into a directory for clients on this machine that run as
// the same user.
type localFiles struct {
	dir   func() (string, error)
	limit int64

	mu     sync.Mutex
	stored []localFile // the oldest first
	size   int64
}

type localFile struct {
	execution string
	size      int64
}

// put writes a file of an execution and returns its path. Beyond the limit, the
// files of the oldest executions are removed. A file that is there already is
// written again, because a client may have changed it.
func (l *localFiles) put(execution, name string, content []byte) (path string, err error) {
	if filepath.Base(name) != name || !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is no file name", name)
	}
	dir, err := l.dir()
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.stored, func(f localFile) bool { return f.execution == execution }); i >= 0 {
		l.size -= l.stored[i].size
		l.stored = slices.Delete(l.stored, i, i+1)
	}
	for len(l.stored) > 0 && l.size+int64(len(content)) > l.limit {
		if err := root.RemoveAll(l.stored[0].execution); err != nil {
			return "", err
		}
		l.size -= l.stored[0].size
		l.stored = l.stored[1:]
	}
	if err := root.MkdirAll(execution, 0o700); err != nil {
		return "", err
	}
	// A reader sees the whole file or none.
	const unfinished = ".unfinished"
	if err := root.WriteFile(unfinished, content, 0o600); err != nil {
		return "", err
	}
	if err := root.Rename(unfinished, filepath.Join(execution, name)); err != nil {
		return "", err
	}
	l.stored, l.size = append(l.stored, localFile{execution, int64(len(content))}), l.size+int64(len(content))
	return filepath.Join(dir, execution, name), nil
}
