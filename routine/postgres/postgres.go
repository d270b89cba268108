// Package postgres stores routines, executions and tokens in a PostgreSQL database that
// many processes, also on different machines, use at the same time.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"rote/routine"
	"rote/routine/rows"
)

var _ routine.Store = (*Store)(nil)

// Config are the settings of [Open].
type Config struct {
	// URL is the address of the database, as in postgres://user@host/database.
	URL string
	// DirectURL is the address of the same database without a connection pooler, for
	// migrations, notifications and beats. The default is URL. If it is set, URL may be
	// that of a pooler that gives a connection to a client for one transaction at a time.
	DirectURL string
	// Connections is the maximum number of connections for queries; the default is 4.
	// Three more may be open: one for the beats of the owner, one for the notifications of
	// Signals, and one for those of the JobQueue.
	Connections int
	// Key is the source of the key that encrypts browser states; nil: there is none.
	// It must be the same in all processes. The Store never creates a key.
	Key rows.KeySource
	// MustExist makes Open fail if the schema is empty.
	MustExist bool
	// NoMigration makes Open fail if the schema is older than this program.
	NoMigration bool
	// Version is that of the program; the database shows it with each connection.
	Version string
	// Log receives warnings; nil: [slog.Default].
	Log *slog.Logger

	// These are set by tests only. lookInterval is how often Signals looks for itself;
	// arrivalTimeout limits the wait for a notification that was just sent; dial wraps the function that connects;
	// editRiver changes the settings of River; lockTimeout limits how long a migration waits
	// for a lock.
	timing         timing
	lookInterval   time.Duration
	arrivalTimeout time.Duration
	lockTimeout    time.Duration
	dial           func(pgconn.DialFunc) pgconn.DialFunc
	editRiver      func(*river.Config)
}

// Store implements [routine.Store] on PostgreSQL.
type Store struct {
	config Config
	name   string // the database's name for messages, without secrets
	pool   *pgxpool.Pool
	// beats has one connection, which is open as long as the Store owns executions.
	beats  *pgxpool.Pool
	owner  owner
	others sightings
	sealer rows.Sealer
	// usedKeys has the ids of state keys that the database knows.
	usedKeys sync.Map
	size     sizeCache
	// inserter makes jobs of River.
	inserter *river.Client[pgx.Tx]
	riverLog *slog.Logger
}

// Open connects to the database and migrates its schema to the current version. It
// refuses a server older than PostgreSQL 14, a schema with tables of another program, a
// schema that a newer rote has made incompatible, and a key other than that with which
// states were encrypted. Errors never contain the password.
func Open(ctx context.Context, c Config) (*Store, error) {
	s := newStore(c)
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), s.Close())
	}
	return s, nil
}

// newStore returns a Store that is not connected.
func newStore(c Config) *Store {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.timing == (timing{}) {
		c.timing = defaultTiming
	}
	if c.Key != nil {
		c.Key = rows.KeepLast(c.Key)
	}
	if c.lookInterval == 0 {
		c.lookInterval = defaultLookInterval
	}
	if c.arrivalTimeout == 0 {
		c.arrivalTimeout = defaultArrivalTimeout
	}
	if c.lockTimeout == 0 {
		c.lockTimeout = defaultLockTimeout
	}
	if c.editRiver == nil {
		c.editRiver = func(*river.Config) {}
	}
	s := &Store{config: c, owner: newOwner(c.timing), others: sightings{timing: c.timing, seen: map[string]sighting{}}, sealer: rows.Sealer{Keys: c.Key}}
	if c.Key == nil {
		s.sealer.Keys = noKey
	}
	s.riverLog = newRiverLog(c.Log)
	return s
}

func (s *Store) open(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.checkDirect(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, withRemedy(err))
	}
	if err := s.prepareSchema(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, withRemedy(err))
	}
	return s.checkKey(ctx)
}

// connect makes the pools of connections, which connect on first use.
func (s *Store) connect(ctx context.Context) error {
	config, err := s.poolConfig()
	if err != nil {
		return err
	}
	s.name = nameOf(config.ConnConfig)
	s.warnOfUnverifiedConnections(config.ConnConfig)
	beats := config.Copy()
	if s.config.DirectURL != "" {
		direct, err := s.directConfig()
		if err != nil {
			return err
		}
		s.warnOfUnverifiedConnections(direct)
		limitStatements(direct)
		beats.ConnConfig = direct
	}
	beats.MaxConns, beats.MinConns, beats.MinIdleConns = 1, 0, 0
	if s.beats, err = pgxpool.NewWithConfig(ctx, beats); err != nil {
		return err
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	s.inserter, err = s.newRiverInserter()
	return err
}

// Close closes the Store. Other processes can end its unfinished executions from then on.
func (s *Store) Close() error {
	var err error
	if s.pool != nil {
		err = s.releaseOwner()
		s.pool.Close()
	}
	if s.beats != nil {
		s.beats.Close()
	}
	return err
}

// Name returns the address of the database without its password and parameters.
func (s *Store) Name() string { return s.name }

// Ping returns nil if the database answers and this Store may take executions: one that
// could not tell the other processes for some seconds that it lives may not.
func (s *Store) Ping(ctx context.Context) error {
	err := s.read(ctx, func(ctx context.Context) error { return s.pool.Ping(ctx) })
	if err == nil {
		err = s.owner.checkBeat()
	}
	return rows.Wrap("ping database", err)
}

// sizeCache keeps the size of the database for sizeTime: to add it up, the server looks
// at every file.
type sizeCache struct {
	mu    sync.Mutex
	bytes int64
	read  time.Time
}

const sizeTime = time.Minute

// Size returns the bytes of the whole database, as of at most sizeTime ago.
func (s *Store) Size() (int64, error) {
	s.size.mu.Lock()
	defer s.size.mu.Unlock()
	if !s.size.read.IsZero() && time.Since(s.size.read) < sizeTime {
		return s.size.bytes, nil
	}
	if err := s.queryRow(context.Background(), `SELECT pg_database_size(current_database())`).Scan(&s.size.bytes); err != nil {
		return 0, fmt.Errorf("size of database: %w", err)
	}
	s.size.read = time.Now()
	return s.size.bytes, nil
}

// Changes returns how often routines and tokens have been changed.
func (s *Store) Changes(ctx context.Context) (c routine.Changes, err error) {
	err = s.queryRow(ctx, `
		SELECT (SELECT count FROM changes WHERE what = 'routines'), (SELECT count FROM changes WHERE what = 'tokens')`).Scan(&c.Routines, &c.Tokens)
	return c, rows.Wrap("look for changes", err)
}
