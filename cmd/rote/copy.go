package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"rote/routine/postgres"
	"rote/routine/rows"
	"rote/routine/sqlite"
)

type copyCommand struct {
	From string `required:"" help:"SQLite file. No process may use it." placeholder:"FILE" env:"-"`
	To   string `required:"" help:"Address of an empty Postgres database." placeholder:"URL" env:"-"`
}

// Run copies everything that a SQLite file holds into an empty Postgres database, in one
// transaction: a copy that is interrupted leaves nothing, and is simply begun again. Ids
// stay the same.
func (c *copyCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if !postgres.IsURL(c.To) {
		return errors.New("--to must be the address of a Postgres database: postgres://USER@HOST/DATABASE")
	}
	from, err := sqlite.Open(ctx, c.From, sqlite.MustExist())
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if _, err := from.RecoverExecutions(ctx, time.Now()); err != nil { // of processes that have died
		return err
	}
	to := *g
	to.DB, to.Migrate = c.To, "auto"
	key, err := c.stateKey(&to)
	if err != nil {
		return err
	}
	var counts []int
	err = from.Export(ctx, func(read rows.Reader) error {
		counts, err = postgres.Import(ctx, to.postgresConfig(s, key, mayCreate), withProgress(s.err, read))
		return err
	})
	if errors.Is(err, postgres.ErrUncertain) {
		return err
	}
	if err != nil {
		return fmt.Errorf("nothing was copied: %w", err)
	}
	schedules := 0
	for i, t := range rows.Tables {
		fmt.Fprintf(s.out, "%s %d\n", t.Name, counts[i])
		if t.Name == "schedules" {
			schedules = counts[i]
		}
	}
	fmt.Fprintf(s.err, "rote: %s is copied to %s, and was read back and compared\n", c.From, postgres.Name(c.To))
	if schedules > 0 {
		fmt.Fprintf(s.err, "rote: the schedules are in both databases now: start no rote serve with %s any more, or their runs are done twice\n", c.From)
	}
	if key != nil {
		fmt.Fprintln(s.err, "rote: start the servers with the same state key: the copied browser states are encrypted with it")
	}
	return nil
}

// progressInterval is how often a long copy says how far it is.
const progressInterval = 2 * time.Second

// withProgress returns a reader that prints how many rows of a table were read, every
// progressInterval.
func withProgress(out io.Writer, read rows.Reader) rows.Reader {
	return func(t rows.Table) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			n, printed := 0, time.Now()
			for row, err := range read(t) {
				if !yield(row, err) {
					return
				}
				n++
				if time.Since(printed) >= progressInterval {
					fmt.Fprintf(out, "rote: %s: %d rows are copied so far\n", t.Name, n)
					printed = time.Now()
				}
			}
		}
	}
}

// stateKey returns the source of the key with which the states in the file are encrypted;
// nil: there is none.
func (c *copyCommand) stateKey(g *globals) (rows.KeySource, error) {
	if g.StateKey != "" {
		return g.stateKey()
	}
	path := c.From + ".key"
	if _, err := os.Stat(path); err != nil {
		return nil, nil //nolint:nilerr // without states there is no key
	}
	return rows.KeyFile(path), nil
}
