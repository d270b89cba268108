// Package provider reads the values of secrets from the environment of the process, from
// mounted files, from Vault or OpenBao, and from 1Password Connect.
package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// Environment reads env:NAME. Only the listed variables can be read: the environment has
// others, such as the token of the administrator.
type Environment struct {
	// Names are the variables that may be read.
	Names []string
}

// Scheme returns "env".
func (Environment) Scheme() string { return routine.SchemeEnvironment }

// Unavailable returns 0.
func (Environment) Unavailable(routine.ProviderReference) time.Duration { return 0 }

// ReadSecret returns the value of a variable. ErrProviderDenied if it is not listed.
func (e Environment) ReadSecret(_ context.Context, ref routine.ProviderReference) (routine.Hidden, error) {
	if !slices.Contains(e.Names, ref.Path) {
		return "", fmt.Errorf("%w: --secret-env does not list %s", routine.ErrProviderDenied, routine.Quote(ref.Path))
	}
	value, ok := os.LookupEnv(ref.Path)
	if !ok {
		return "", routine.ErrNotFound
	}
	return routine.Hidden(value), nil
}

// Files reads file:NAME, a file of a directory such as those that Kubernetes and Docker mount.
// A link out of the directory is refused.
type Files struct{ root *os.Root }

// NewFiles returns the provider of the files of a directory.
func NewFiles(dir string) (*Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Files{root}, nil
}

// Scheme returns "file".
func (*Files) Scheme() string { return routine.SchemeFile }

// Unavailable returns 0.
func (*Files) Unavailable(routine.ProviderReference) time.Duration { return 0 }

// ReadSecret returns the content of a file without one line break at its end. The file is
// read each time, so that a value that has been replaced is the new one at once.
func (f *Files) ReadSecret(_ context.Context, ref routine.ProviderReference) (routine.Hidden, error) {
	if strings.ContainsAny(ref.Path, `/\`) || ref.Path == "" || ref.Path[0] == '.' {
		return "", fmt.Errorf("%w: file: takes the name of a file in --secret-dir, without a path", routine.ErrProviderDenied)
	}
	// A FIFO would block the open until somebody writes to it.
	info, err := f.root.Stat(ref.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", routine.ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		return "", routine.ErrProviderDenied
	case err != nil:
		return "", fmt.Errorf("%w: %w", routine.ErrProviderDenied, err) // it leads out of the directory
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%w: %s is no regular file", routine.ErrProviderDenied, routine.Quote(ref.Path))
	}
	file, err := f.root.Open(ref.Path)
	if errors.Is(err, fs.ErrPermission) {
		return "", routine.ErrProviderDenied
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, routine.MaxSecretBytes+3))
	if err != nil {
		return "", err
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if len(value) > routine.MaxSecretBytes {
		return "", fmt.Errorf("the file has more than %d bytes", routine.MaxSecretBytes)
	}
	return routine.Hidden(value), nil
}
