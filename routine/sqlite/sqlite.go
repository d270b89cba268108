// Package sqlite stores routines, executions and tokens in one SQLite file that
// several processes can use at the same time.
//
// In addition to SQLite's own -wal and -shm files, there are PATH.lock, which
// is locked during migration and recovery; PATH.key, the key that encrypts
// project states; PATH.files, a directory with large results and files; and one
// PATH.owner-UUID for each Store that has created executions (see owners.go).
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"
	"modernc.org/sqlite"

	"rote/routine"
	"rote/routine/rows"
)

const (
	// maxReaders limits the number of read-only connections.
	maxReaders = 8
	// lockTimeout limits the wait for PATH.lock, which is held for milliseconds
	// unless a large database is being migrated.
	lockTimeout = 30 * time.Second
	lockPoll    = 5 * time.Millisecond
)

var _ routine.Store = (*Store)(nil)

// Store implements [routine.Store] on a SQLite file.
type Store struct {
	path string // absolute, without symbolic links
	// write has one connection because SQLite allows one writer at a time.
	// Goroutines that wait for the connection respect their contexts, which
	// SQLite's own waiting does not. Reads do not wait for it.
	write, read *sql.DB
	prepared    sync.Map // *sql.Stmt by query, of the write connection
	owner       owner
	changes     changeCounter
	sealer      rows.Sealer
	clock       retentionClock
	mustExist   bool // do not create a database
	noMigration bool // do not change the schema
}

// Option is an option of [Open].
type Option func(*Store)

// Key sets the source of the key that encrypts browser states. The default is
// the file PATH.key, which is created on first use.
func Key(source rows.KeySource) Option { return func(s *Store) { s.sealer.Keys = source } }

// MustExist makes [Open] fail if there is no database.
func MustExist() Option { return func(s *Store) { s.mustExist = true } }

// ErrOldSchema is the error of [Open] with [NoMigration] for a database of an earlier version.
var ErrOldSchema = errors.New("the schema is of an earlier version")

// NoMigration makes [Open] fail with [ErrOldSchema] instead of updating the schema.
func NoMigration() Option { return func(s *Store) { s.noMigration = true } }

// Log sets the logger of what an operator should know. The default discards it.
func Log(log *slog.Logger) Option { return func(s *Store) { s.clock.log = log } }

// Open opens the database at path and migrates its schema to the current
// version. It creates a missing database with mode 0600 in a directory with
// mode 0700. It refuses a file that is not a rote database or that a newer rote
// has written. Any number of processes may open the same path at the same time.
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	s, err := openStore(ctx, path, options)
	if err != nil {
		return nil, WithRemedy(fmt.Errorf("open database: %w", err))
	}
	return s, nil
}

func openStore(ctx context.Context, path string, options []Option) (*Store, error) {
	s := &Store{owner: owner{id: uuid.NewString()}, clock: retentionClock{log: slog.New(slog.DiscardHandler)}}
	for _, o := range options {
		o(s)
	}
	var err error
	if s.path, err = resolvePath(path, s.mustExist); err != nil {
		return nil, err
	}
	path = s.path
	if s.sealer.Keys == nil {
		s.sealer.Keys = rows.KeyFile(path + ".key")
	}
	if s.write, err = openPool(writeDSN(path), 1); err != nil {
		return nil, err
	}
	if s.read, err = openPool(readDSN(path), maxReaders); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	if err := s.prepareSchema(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.startClock(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the Store. Unfinished executions that it created can be
// recovered by another process from then on.
func (s *Store) Close() error {
	// The reader is closed first: the last connection checkpoints the log, which
	// a read-only connection cannot do.
	return errors.Join(s.changes.close(), s.read.Close(), s.write.Close(), s.releaseOwner())
}

// Size returns the bytes of the database file and its write-ahead log.
func (s *Store) Size() (int64, error) {
	file, err := os.Stat(s.path)
	if err != nil {
		return 0, fmt.Errorf("size of database: %w", err)
	}
	log, err := os.Stat(s.path + "-wal")
	if err != nil {
		return 0, fmt.Errorf("size of database: %w", err)
	}
	return file.Size() + log.Size(), nil
}

// Ping reads from the database and checks that its file still exists. Queries
// on a deleted file would still succeed, but the data would be lost when the
// process ends.
func (s *Store) Ping(ctx context.Context) error {
	if _, err := os.Stat(s.path); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	if _, err := s.schemaVersion(ctx); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// resolvePath creates the directory of path and returns the absolute path
// without symbolic links. The names of the lock and owner files derive from it,
// so all processes must use the same one: under different names for one
// database, a running owner would look dead.
func resolvePath(path string, existing bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); existing && errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is none at %s: name one with --db (rote serve makes one)", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		return filepath.Join(dir, filepath.Base(path)), err
	}
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return "", fmt.Errorf("%s is a directory: name a file in it with --db", path)
	}
	return filepath.EvalSymlinks(path)
}

// openPool creates a pool of persistent connections. It does not connect yet.
func openPool(dsn string, connections int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// writeDSN returns the data source name of the writer. Settings are part of it
// because a PRAGMA statement sent through a pool would apply to only one of its
// connections. With mode=rw, a missing file is an error instead of a new
// database with the wrong permissions.
func writeDSN(path string) string {
	return dsn(path, url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"},
	})
}

// readDSN returns the data source name of readers. It does not set the journal
// mode, so it is safe to read a file that may belong to another program.
func readDSN(path string) string {
	return dsn(path, url.Values{
		"mode":    {"rw"},
		"_pragma": {"busy_timeout(10000)", "foreign_keys(ON)", "query_only(ON)"},
	})
}

func dsn(path string, parameters url.Values) string {
	// The slash is for Windows, where the URL of C:\x is file:///C:/x.
	path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")
	u := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	return u.String()
}

// lockDatabase locks PATH.lock, for which it waits up to lockTimeout. The lock
// excludes other processes and other callers in this process. The file is never
// removed: otherwise two processes could lock different files of the same name.
// The kernel releases the lock of a process that dies.
func (s *Store) lockDatabase(ctx context.Context) (release func(), err error) {
	name := s.path + ".lock"
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout,
		fmt.Errorf("another process has held %s for %s", name, lockTimeout))
	defer cancel()
	lock := flock.New(name)
	if ok, err := lock.TryLockContext(ctx, lockPoll); !ok {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("lock database: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

// hasCode reports whether err is an error of the driver with this SQLite result
// code.
func hasCode(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == code
}
