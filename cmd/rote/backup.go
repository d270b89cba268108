package main

import (
	"context"
	"errors"
	"fmt"

	"rote/routine/postgres"
	"rote/routine/sqlite"
)

type backupCommand struct {
	File string `arg:"" help:"New file for the copy. Large results and files go beside it, into FILE.files." placeholder:"FILE"`
}

// Run copies the database while it is in use. To restore it, start rote with
// --db FILE, or move FILE and FILE.files to where the database was.
func (c *backupCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if postgres.IsURL(g.DB) {
		url, schema := postgres.DumpSource(g.DB)
		if schema != "" {
			schema = " -n " + shellQuoted(schema)
		}
		return fmt.Errorf("a Postgres database is copied with its own program: pg_dump -Fc -f %s%s -d %s", shellQuoted(c.File), schema, shellQuoted(url))
	}
	path, err := g.databasePath()
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, path, sqlite.MustExist())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Backup(ctx, c.File); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "rote: %s is a sound copy of %s; keep it together with %s.files, if there is one\n", c.File, path, c.File)
	return nil
}
