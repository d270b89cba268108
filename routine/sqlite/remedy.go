package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// remedies say what to do about a database that cannot be opened, by SQLite's
// primary result code.
var remedies = map[int]string{
	sqlite3.SQLITE_PERM:     accessDenied,
	sqlite3.SQLITE_READONLY: accessDenied,
	sqlite3.SQLITE_CANTOPEN: accessDenied,
	sqlite3.SQLITE_CORRUPT:  "the file is damaged: put a backup in its place, or name another with --db",
	sqlite3.SQLITE_FULL:     diskFull,
	sqlite3.SQLITE_IOERR:    diskFull, // for example if the log cannot grow on a full disk
	sqlite3.SQLITE_BUSY:     inUse,
	sqlite3.SQLITE_LOCKED:   inUse,
}

const (
	accessDenied = "this user may not read and write it: give the file and its directory to the user, or name another file with --db"
	diskFull     = "the disk is full, or fails: make room, or name a file on another disk with --db"
	inUse        = "another program holds it: end that program, or name another file with --db"
)

// WithRemedy adds to an error of a Store what the user can do about it, if that
// is known and not part of the error already.
func WithRemedy(err error) error {
	var ours *sqlite.Error
	remedy := ""
	switch {
	case errors.As(err, &ours):
		remedy = remedies[ours.Code()&0xff]
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		remedy = accessDenied
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = diskFull
	}
	if remedy == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, remedy)
}
