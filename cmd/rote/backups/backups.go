// Package backups keeps copies of the database in a directory or in an S3-compatible store. Each
// copy is one archive, which has its time in its name, and contains the database file and the
// directory with its large results.
package backups

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Backupper makes a consistent copy of a database in a new file, with what belongs to it in
// files whose names begin with that file's.
type Backupper interface {
	Backup(ctx context.Context, path string) error
}

// target is a place with archives.
type target interface {
	fmt.Stringer
	// list returns the names of the archives, in any order. There may be other files, too.
	list(ctx context.Context) ([]string, error)
	// put stores the file at path under a name: whole, or not at all.
	put(ctx context.Context, path, name string) error
	// get writes an archive to a new file at path. An error wraps fs.ErrNotExist if there is none.
	get(ctx context.Context, name, path string) error
	remove(ctx context.Context, name string) error
	// scratch returns the directory in which files for put are made; empty: that of the system.
	scratch() string
}

// Place is a directory or a prefix of a bucket, in which archives are kept.
type Place struct{ target }

// Open returns the place with an address: s3://BUCKET, s3://BUCKET/PREFIX, or a directory. It
// does not connect to it.
func Open(address string) (Place, error) {
	if !strings.HasPrefix(address, s3Scheme) {
		return Place{directory(address)}, nil
	}
	t, err := newBucket(address)
	return Place{t}, err
}

// IsURL reports whether an address is one of an S3-compatible store.
func IsURL(address string) bool { return strings.HasPrefix(address, s3Scheme) }

// NameSuffix is the end of the name of each archive.
const NameSuffix = ".tar.gz"

// The names of archives, as in rote-20261128T091403Z.tar.gz. They sort by time.
const (
	namePrefix = "rote-"
	nameTime   = "20060102T150405Z"
)

// timeOf returns the time in the name of an archive. ok reports whether it is one.
func timeOf(name string) (at time.Time, ok bool) {
	text, prefixed := strings.CutPrefix(name, namePrefix)
	text, suffixed := strings.CutSuffix(text, NameSuffix)
	at, err := time.Parse(nameTime, text)
	return at, prefixed && suffixed && err == nil
}

// Save stores a copy of a database as a new archive, and returns its name.
func (p Place) Save(ctx context.Context, db Backupper, at time.Time) (name string, err error) {
	temp, err := os.MkdirTemp(p.scratch(), ".rote-backup-")
	if err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	copied, archive := filepath.Join(temp, "copy"), filepath.Join(temp, "archive")
	if err := os.Mkdir(copied, 0o700); err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	if err := db.Backup(ctx, filepath.Join(copied, databaseName)); err != nil {
		return "", err
	}
	if err := pack(copied, archive); err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	name = namePrefix + at.UTC().Format(nameTime) + NameSuffix
	if err := p.put(ctx, archive, name); err != nil {
		return "", fmt.Errorf("backup to %s: %w", p, err)
	}
	return name, nil
}

// archives returns the names of the archives, oldest first.
func (p Place) archives(ctx context.Context) ([]string, error) {
	all, err := p.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the backups in %s: %w", p, err)
	}
	all = slices.DeleteFunc(all, func(name string) bool { _, ok := timeOf(name); return !ok })
	slices.Sort(all)
	return all, nil
}

// Newest returns the name of the newest archive and its time; empty: there is none.
func (p Place) Newest(ctx context.Context) (string, time.Time, error) {
	all, err := p.archives(ctx)
	if err != nil || len(all) == 0 {
		return "", time.Time{}, err
	}
	name := all[len(all)-1]
	at, _ := timeOf(name)
	return name, at, nil
}

// Prune removes all archives but the newest, and returns the names of the removed ones. Files
// that are not archives stay.
func (p Place) Prune(ctx context.Context, keep int) ([]string, error) {
	all, err := p.archives(ctx)
	if err != nil || len(all) <= keep {
		return nil, err
	}
	old := all[:len(all)-keep]
	for i, name := range old {
		if err := p.remove(ctx, name); err != nil {
			return old[:i], fmt.Errorf("remove the backup %s from %s: %w", name, p, err)
		}
	}
	return old, nil
}

// Fetch unpacks an archive into dir, and returns the path of the database in it.
func (p Place) Fetch(ctx context.Context, name, dir string) (string, error) {
	archive := filepath.Join(dir, "archive")
	if err := p.get(ctx, name, archive); err != nil {
		return "", fmt.Errorf("read the backup %s from %s: %w", name, p, err)
	}
	return Unpack(archive, filepath.Join(dir, "copy"))
}
