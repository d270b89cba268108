package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"

	"rote/cmd/rote/backups"
	"rote/routine/postgres"
	"rote/routine/sqlite"
)

type backupCommand struct {
	To   string `arg:"" help:"New file for the copy, with large results in FILE.files; or a directory or s3://BUCKET/PREFIX for an archive." placeholder:"FILE"`
	Keep count  `help:"Of the archives in the directory or the bucket, keep the newest and delete the others (all are kept)." placeholder:"N" env:"-"`
}

// Run copies the database while it is in use. A copy in a file can be used as it is, with --db.
func (c *backupCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if postgres.IsURL(g.DB) {
		return postgresBackup(g.DB, c.To)
	}
	path, err := g.databasePath()
	if err != nil {
		return err
	}
	archive := backups.IsURL(c.To) || isDirectory(c.To)
	if !archive && c.Keep > 0 {
		return errors.New("--keep is for archives: name an existing directory or s3://BUCKET/PREFIX")
	}
	place, err := backups.Open(c.To)
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, path, sqlite.MustExist())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if archive {
		return c.save(ctx, place, store, s)
	}
	if err := store.Backup(ctx, c.To); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "rote: %s is a sound copy of %s; keep it together with %s.files, if there is one\n", c.To, path, c.To)
	return nil
}

// save makes an archive and removes old ones.
func (c *backupCommand) save(ctx context.Context, place backups.Place, store *sqlite.Store, s streams) error {
	name, err := place.Save(ctx, store, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "rote: %s in %s is a sound copy of the database\n", name, place)
	if c.Keep == 0 {
		return nil
	}
	removed, err := place.Prune(ctx, int(c.Keep))
	if len(removed) > 0 {
		fmt.Fprintf(s.err, "rote: deleted %s\n", english.Plural(len(removed), "older archive", ""))
	}
	return err
}

// postgresBackup is the error that says how a Postgres database is copied.
func postgresBackup(db, file string) error {
	url, schema := postgres.DumpSource(db)
	if schema != "" {
		schema = " -n " + shellQuoted(schema)
	}
	return fmt.Errorf("a Postgres database is copied with its own program: pg_dump -Fc -f %s%s -d %s", shellQuoted(file), schema, shellQuoted(url))
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// backupFlags say when a server copies its database and where to.
type backupFlags struct {
	BackupTo    string `help:"Directory or s3://BUCKET/PREFIX for copies of the SQLite database." placeholder:"PLACE"`
	BackupEvery days   `help:"Time between two copies." default:"24h"`
	BackupKeep  count  `help:"Copies that are kept; older ones are deleted." default:"14"`
}

// schedule returns the schedule of the flags for a database; nil without --backup-to.
func (f *backupFlags) schedule(ctx context.Context, g *globals, a *app) (*backups.Schedule, error) {
	if f.BackupTo == "" {
		return nil, nil
	}
	if postgres.IsURL(g.DB) {
		return nil, fmt.Errorf("--backup-to: %w", postgresBackup(g.DB, filepath.Join(f.BackupTo, "rote.dump")))
	}
	place, err := backups.Open(f.BackupTo)
	if err != nil {
		return nil, fmt.Errorf("--backup-to: %w", err)
	}
	if _, _, err := place.Newest(ctx); err != nil {
		return nil, fmt.Errorf("--backup-to: %w", err)
	}
	store, ok := a.store.(*sqlite.Store)
	if !ok {
		return nil, errors.New("--backup-to: this database cannot be copied")
	}
	return &backups.Schedule{Place: place, Database: store, Every: time.Duration(f.BackupEvery), Keep: int(f.BackupKeep), Log: a.log, Now: time.Now}, nil
}

// startBackups starts the schedule of the flags. stop waits for a copy that is being made to end.
func (f *backupFlags) startBackups(ctx context.Context, a *app, g *globals) (stop func(), err error) {
	schedule, err := f.schedule(ctx, g, a)
	if err != nil || schedule == nil {
		return func() {}, err
	}
	running, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { schedule.Run(running) })
	return func() { cancel(); done.Wait() }, nil
}
