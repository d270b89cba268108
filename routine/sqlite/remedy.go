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
// primary code.
var remedies = map[int]string{
	sqlite3.SQLITE_PERM:     notOurs,
	sqlite3.SQLITE_READONLY: notOurs,
	sqlite3.SQLITE_CANTOPEN: notOurs,
	sqlite3.SQLITE_CORRUPT:  "the file is damaged: put a backup in its place, or name another with --db",
	sqlite3.SQLITE_FULL:     noRoom,
	sqlite3.SQLITE_IOERR:    noRoom, // among others: the log of a full disk cannot grow
	sqlite3.SQLITE_BUSY:     inUse,
	sqlite3.SQLITE_LOCKED:   inUse,
}

const (
	notOurs = "this user may not read and write it: give the file and its directory to the user, or name another file with --db"
	noRoom  = "the disk is full, or fails: make room, or name a file on another disk with --db"
	inUse   = "another program holds it: end that program, or name another file with --db"
)

// WithRemedy adds to an error of a Store what a person who starts the program can
// do about it, where there is something and the error does not say so itself.
func WithRemedy(err error) error {
	var ours *sqlite.Error
	remedy := ""
	switch {
	case errors.As(err, &ours):
		remedy = remedies[ours.Code()&0xff]
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		remedy = notOurs
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = noRoom
	}
	if remedy == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, remedy)
}
