package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// directory is a target in the file system.
type directory string

func (d directory) String() string  { return string(d) }
func (d directory) scratch() string { return string(d) } // so that put can rename

func (d directory) list(context.Context) ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

func (d directory) put(_ context.Context, path, name string) error {
	to := filepath.Join(string(d), name)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already", name)
	}
	return os.Rename(path, to)
}

func (d directory) get(_ context.Context, name, path string) (err error) {
	from, err := os.Open(filepath.Join(string(d), name))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	_, err = io.Copy(to, from)
	return err
}

func (d directory) remove(_ context.Context, name string) error {
	return os.Remove(filepath.Join(string(d), name))
}
