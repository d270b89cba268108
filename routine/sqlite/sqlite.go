// Package sqlite keeps routines, executions and tokens in one SQLite file that
// several processes may use at the same time.
//
// Beside the database file PATH live, apart from SQLite's own -wal and -shm:
// PATH.lock, held for the moments in which only one process may act (migration,
// recovery), PATH.key, which project states are encrypted with, and one PATH.owner-UUID per Store that has created executions (see
// owners.go).
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"
	"modernc.org/sqlite"

	"rote/routine"
)

const (
	// maxReaders bounds the read-only connections.
	maxReaders = 8
	// lockTimeout bounds the waiting for PATH.lock, which is held for
	// milliseconds unless a large database is being migrated.
	lockTimeout = 30 * time.Second
	lockPoll    = 5 * time.Millisecond
)

var _ routine.Store = (*Store)(nil)

// Store is a [routine.Store] on a SQLite file.
type Store struct {
	path string // absolute, without symbolic links
	// write has one connection: SQLite has one writer at a time anyway, and
	// goroutines that queue here obey their contexts, which SQLite's own
	// waiting does not. read never waits for it.
	write, read *sql.DB
	owner       owner
	watch       watch
	sealer      sealer
	existing    bool // opened only when there is one
}

// Option changes how a database is opened.
type Option func(*Store)

// KeyFile names the file with the key that browser states are encrypted with: 32
// random bytes in base64. Without this option it is PATH.key. It is made on the
// first use when there is none.
func KeyFile(path string) Option { return func(s *Store) { s.sealer.keyFile = path } }

// Existing refuses to create a database.
func Existing() Option { return func(s *Store) { s.existing = true } }

// Open opens the database at path, creates it (0600, in a directory 0700) when
// there is none and brings its schema up to date. It refuses a file that is not
// a rote database or was written by a newer rote. Any number of processes may
// open the same path at once, also when there is no file yet.
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	s, err := openStore(ctx, path, options)
	if err != nil {
		return nil, WithRemedy(fmt.Errorf("open database: %w", err))
	}
	return s, nil
}

func openStore(ctx context.Context, path string, options []Option) (*Store, error) {
	s := &Store{owner: owner{id: uuid.NewString()}}
	for _, o := range options {
		o(s)
	}
	var err error
	if s.path, err = locate(path, s.existing); err != nil {
		return nil, err
	}
	path, s.sealer.keyFile = s.path, cmp.Or(s.sealer.keyFile, s.path+".key")
	if s.write, err = openPool(writeDSN(path), 1); err != nil {
		return nil, err
	}
	if s.read, err = openPool(readDSN(path), maxReaders); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	if err := s.prepareSchema(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the Store. Executions that it created and did not finish count as
// left behind from now on.
func (s *Store) Close() error {
	// The reader first: the last connection to close checkpoints the log, and a
	// read-only one could not.
	return errors.Join(s.watch.close(), s.read.Close(), s.write.Close(), s.releaseOwner())
}

// Size is that of the file and of the log of changes that are not in it yet.
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

// Ping reads from the file, which the driver's own ping would not touch, and
// sees that it still has its name: a file removed under the Store would go on
// answering, and be gone with the process.
func (s *Store) Ping(ctx context.Context) error {
	if _, err := os.Stat(s.path); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	if _, err := s.schemaVersion(ctx); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// locate makes path's directory and gives the one name of the file that all
// processes agree on. Lock and owner files derive from it: under two names for
// one database (a symbolic link, say) a living owner would look dead.
func locate(path string, existing bool) (string, error) {
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

// openPool makes a pool that keeps its connections. It does not connect yet.
func openPool(dsn string, connections int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Settings stand in the DSN because a PRAGMA sent through a pool holds for one
// of its connections only. mode=rw: a missing file is an error, not a new empty
// database with wide permissions.
func writeDSN(path string) string {
	return dsn(path, url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"},
	})
}

// Readers leave the journal mode alone, which makes it safe to look into a file
// before it is known to be ours.
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

// exclusive waits until no other process, and no other caller in this one,
// holds PATH.lock. The file stays: removing it would let two holders lock two
// different files of the same name. The kernel drops the lock of a process that
// dies.
func (s *Store) exclusive(ctx context.Context) (release func(), err error) {
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

// hasCode tells whether err is the driver's error with one of SQLite's codes.
func hasCode(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == code
}

// micros and nullMicros are how times are stored. Go's times are finer; what is
// below a microsecond is cut off.
func micros(t time.Time) int64 { return t.UnixMicro() }

func nullMicros(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	us := micros(*t)
	return &us
}

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

func fromNullMicros(us *int64) *time.Time {
	if us == nil {
		return nil
	}
	t := fromMicros(*us)
	return &t
}
