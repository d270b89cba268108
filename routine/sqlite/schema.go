package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pressly/goose/v3"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versionTable is the name of goose's table. A database with this table belongs
// to rote; one with only other tables belongs to another program.
const versionTable = "rote_migrations"

// prepareSchema migrates the schema to the version that this program knows. A
// current database is neither locked nor written to.
func (s *Store) prepareSchema(ctx context.Context) error {
	provider, err := s.migrations()
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	sources := provider.ListSources()
	known := sources[len(sources)-1].Version

	version, err := s.schemaVersion(ctx)
	if err == nil && version < known && s.noMigration {
		return fmt.Errorf("%w: %s has schema %d, and this program has %d", ErrOldSchema, s.path, version, known)
	}
	if err == nil && version < known {
		version, err = s.migrate(ctx, provider)
	}
	if err != nil {
		return err
	}
	if version > known {
		return fmt.Errorf("database %s was written by a newer rote (schema %d, this program knows %d): "+
			"upgrade rote or use another --db file", s.path, version, known)
	}
	return nil
}

func (s *Store) migrations() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, s.write, files,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(fillListColumns, countAllSizes, addWebhookTargets))
}

// migrate applies the missing migrations. It holds PATH.lock, because goose
// does not prevent two processes from applying the same migration, and
// switching a new file to WAL mode fails if two processes try it.
func (s *Store) migrate(ctx context.Context, provider *goose.Provider) (int64, error) {
	release, err := s.lockDatabase(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := createFile(s.path); err != nil {
		return 0, err
	}
	if _, err := provider.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate %s: %w", s.path, err)
	}
	return s.schemaVersion(ctx)
}

// createFile creates an empty database file, because SQLite would create one
// that other users can read. It must not open an existing file: closing any
// descriptor of a file releases all POSIX locks that the process holds on it,
// including those of other connections.
func createFile(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// schemaVersion returns the number of the last migration, or 0 for a missing or
// empty file.
func (s *Store) schemaVersion(ctx context.Context) (int64, error) {
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var tables, ours int
	err := s.read.QueryRowContext(ctx,
		`SELECT count(*), coalesce(sum(name = ?), 0) FROM sqlite_schema WHERE type = 'table'`,
		versionTable).Scan(&tables, &ours)
	switch {
	case hasCode(err, sqlite3.SQLITE_NOTADB):
		return 0, fmt.Errorf("%s is not a SQLite database: use another --db file", s.path)
	case err != nil:
		return 0, fmt.Errorf("read schema of %s: %w", s.path, err)
	case tables == 0:
		return 0, nil
	case ours == 0:
		return 0, fmt.Errorf("%s is a database of another program: use another --db file", s.path)
	}
	var version int64
	err = s.read.QueryRowContext(ctx,
		`SELECT coalesce(max(version_id), 0) FROM `+versionTable+` WHERE is_applied`).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("read schema version of %s: %w", s.path, err)
	}
	return version, nil
}
