package main

import (
	"context"
	"errors"
	"fmt"

	"rote/routine/postgres"
)

type migrateCommand struct {
	DryRun bool `help:"Only list what would be applied."`
}

// Run applies the missing migrations of a Postgres database. A SQLite file is migrated by
// every command that opens it.
func (c *migrateCommand) Run(ctx context.Context, g *globals, s streams) error {
	if !postgres.IsURL(g.DB) {
		return errors.New("only a Postgres database is migrated by itself: name it with --db (a SQLite file is updated whenever it is opened)")
	}
	config := g.postgresConfig(s, nil, mayCreate)
	config.NoMigration = false
	pending, err := postgres.Pending(ctx, config)
	if err != nil {
		return err
	}
	done := "would apply"
	if !c.DryRun {
		store, err := postgres.Open(ctx, config)
		if err != nil {
			return err
		}
		if err := store.Close(); err != nil {
			return err
		}
		done = "applied"
	}
	for _, name := range pending {
		fmt.Fprintf(s.out, "%s %s\n", done, name)
	}
	if len(pending) == 0 {
		fmt.Fprintln(s.err, "rote: the schema is current")
	}
	return nil
}
