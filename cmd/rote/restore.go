package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/postgres"
	"rote/routine/sqlite"
)

type restoreCommand struct {
	File string `arg:"" help:"Copy that rote backup has made, with FILE.files beside it if there is one." placeholder:"FILE"`
}

// Run makes the database of --db from a backup.
func (c *restoreCommand) Run(ctx context.Context, g *globals, s streams) error {
	if postgres.IsURL(g.DB) {
		return errors.New("a Postgres database is restored with its own program: pg_restore -d, from the file of pg_dump")
	}
	path, err := g.databasePath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(c.File); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no backup at %s", c.File)
	}
	if err := sqlite.Restore(ctx, c.File, path); err != nil {
		return err
	}
	s.audit.Changed(ctx, routine.Principal{}, audit.DatabaseRestored, slog.String("from", c.File))
	fmt.Fprintf(s.err, "rote: %s is restored from %s\n", path, c.File)
	g.warnOfMissingKeys(ctx, s)
	return nil
}

// warnOfMissingKeys says which key the restored database needs: a backup has none.
func (g *globals) warnOfMissingKeys(ctx context.Context, s streams) {
	for _, f := range checkKey(ctx, g, s) {
		if f.Status == findingFault {
			fmt.Fprintf(s.err, "rote: warning: %s: %s\n", f.Detail, f.Remedy)
		}
	}
}
