package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// versionTable is the name of goose's table. A schema with this table belongs to
	// rote; one with only other tables belongs to another program.
	versionTable = "rote_migrations"
	// minServer is the oldest version of the server, as server_version_num.
	minServer = 140000
	// defaultLockTimeout limits how long a migration waits for a lock, and is the pause
	// before it is tried again, migrationAttempts times in all.
	defaultLockTimeout = 3 * time.Second
	migrationAttempts  = 20
	// lockNotAvailable is the code of the error of a statement that has waited too long.
	lockNotAvailable = "55P03"
)

// schemaState is what a database tells about its schema.
type schemaState struct {
	server int // server_version_num
	name   *string
	tables int  // of any program
	ours   bool // whether versionTable is one of them
	// version is that of the last migration; minSchema is the oldest version that a
	// program must know.
	version, minSchema int64
}

// prepareSchema migrates the schema to the version that this program knows, unless the
// database was not to be migrated.
func (s *Store) prepareSchema(ctx context.Context) error {
	known, err := knownSchema()
	if err != nil {
		return err
	}
	state, err := s.readSchema(ctx)
	if err != nil {
		return err
	}
	if err := state.check(known); err != nil {
		return err
	}
	if state.version >= known {
		return nil
	}
	if s.config.MustExist && state.version == 0 {
		return errors.New("it is empty: name another with --db (rote serve and rote migrate fill one)")
	}
	if s.config.NoMigration {
		return fmt.Errorf("its schema has version %d, and this program needs %d: run rote migrate, or leave out --migrate off", state.version, known)
	}
	return s.migrate(ctx)
}

// migrate applies the migrations. If another session keeps a lock that one of them needs, it
// tries again: while it waits for the lock, runs wait behind it.
func (s *Store) migrate(ctx context.Context) error {
	for n := 1; ; n++ {
		err := s.withMigrations(func(p *goose.Provider) error {
			_, err := p.Up(ctx)
			return err
		})
		switch {
		case err == nil:
			return nil
		case sqlState(err) != lockNotAvailable:
			return fmt.Errorf("migrate: %w", err)
		case n == migrationAttempts:
			return fmt.Errorf("migrate: another session keeps a table locked: end the long transactions that pg_stat_activity shows, and start again, "+
				"which continues where this has stopped: %w", err)
		}
		s.config.Log.WarnContext(ctx, "a migration waits for a table that another session keeps locked", "attempt", n, "attempts", migrationAttempts, "error", err)
		pause := time.NewTimer(s.config.lockTimeout)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("migrate: %w", ctx.Err())
		}
	}
}

// check refuses a database that this program cannot use.
func (state schemaState) check(known int64) error {
	switch {
	case state.server < minServer:
		return fmt.Errorf("the server is PostgreSQL %d, but at least %d is needed: upgrade it", state.server/10000, minServer/10000)
	case state.name == nil:
		return errors.New("the schema of the search_path does not exist: create it, or leave search_path out of --db")
	case state.tables > 0 && !state.ours:
		return fmt.Errorf("the schema %s has tables of another program: use an empty database, or name another schema, as in ?search_path=rote", *state.name)
	case state.minSchema > known:
		return fmt.Errorf("a newer rote has changed its schema (version %d; this program knows %d): upgrade rote", state.version, known)
	}
	return nil
}

// readSchema reads the state of the schema.
func (s *Store) readSchema(ctx context.Context) (state schemaState, err error) {
	err = s.queryRow(ctx, `
		SELECT current_setting('server_version_num')::integer, current_schema()::text,
			(SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()),
			EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1)`, versionTable).
		Scan(&state.server, &state.name, &state.tables, &state.ours)
	if err != nil || !state.ours {
		return state, err
	}
	if err := s.queryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versionTable+` WHERE is_applied`).Scan(&state.version); err != nil {
		return state, fmt.Errorf("read schema version: %w", err)
	}
	if state.version > 0 {
		err = s.queryRow(ctx, `SELECT coalesce(max(min_schema), 0) FROM compatibility`).Scan(&state.minSchema)
	}
	return state, err
}

// knownSchema returns the newest schema version that this program knows.
func knownSchema() (int64, error) {
	names, err := migrationNames()
	if err != nil {
		return 0, err
	}
	return goose.NumericComponent(names[len(names)-1])
}

// migrationNames returns the names of all migrations in the order of their versions.
func migrationNames() ([]string, error) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	names := slices.Collect(maps.Values(riverMigrations))
	for _, file := range files {
		names = append(names, file.Name())
	}
	slices.Sort(names)
	return names, nil
}

// Pending returns the names of the migrations that [Open] would apply. It changes nothing.
func Pending(ctx context.Context, c Config) (names []string, err error) {
	s := newStore(c)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	known, err := knownSchema()
	if err != nil {
		return nil, err
	}
	state, err := s.readSchema(ctx)
	if err == nil {
		err = state.check(known)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, withRemedy(err))
	}
	all, err := migrationNames()
	for _, name := range all {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		if version > state.version {
			names = append(names, name)
		}
	}
	return names, err
}

// withMigrations calls do with goose on a direct connection, which has no statement
// timeout. Goose holds an advisory lock while it migrates, so that processes that start at
// once wait for each other.
func (s *Store) withMigrations(do func(*goose.Provider) error) (err error) {
	config, err := s.directConfig()
	if err != nil {
		return err
	}
	config.RuntimeParams["lock_timeout"] = milliseconds(s.config.lockTimeout)
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := s.newProvider(db)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return do(provider)
}

func (s *Store) newProvider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300)) // seconds, attempts
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(locker),
		goose.WithGoMigrations(s.gooseRiverMigrations()...))
}
