package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"rote/cmd/rote/backups"
	"rote/routine"
	"rote/routine/audit"
	"rote/routine/postgres"
	"rote/routine/sqlite"
)

type restoreCommand struct {
	From string `arg:"" help:"What rote backup has made: a file, an archive, or a directory or s3://BUCKET/PREFIX for its newest archive." placeholder:"FILE"`
}

// Run makes the database of --db from a backup.
func (c *restoreCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if postgres.IsURL(g.DB) {
		return errors.New("a Postgres database is restored with its own program: pg_restore -d, from the file of pg_dump")
	}
	path, err := g.databasePath()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "rote-restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	file, err := c.fetch(ctx, temp)
	if err != nil {
		return err
	}
	if err := sqlite.Restore(ctx, file, path); err != nil {
		return err
	}
	s.audit.Changed(ctx, routine.Principal{}, audit.DatabaseRestored, slog.String("from", c.From))
	fmt.Fprintf(s.err, "rote: %s is restored from %s\n", path, c.From)
	g.warnOfMissingKeys(ctx, s)
	return nil
}

// fetch returns the file of the copy that is to be restored. What it unpacks goes into dir.
func (c *restoreCommand) fetch(ctx context.Context, dir string) (string, error) {
	address, name := c.From, ""
	if backups.IsURL(c.From) && strings.HasSuffix(c.From, backups.NameSuffix) {
		i := strings.LastIndexByte(c.From, '/')
		address, name = c.From[:i], c.From[i+1:]
	} else if !backups.IsURL(c.From) && !isDirectory(c.From) {
		if _, err := os.Stat(c.From); errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("there is no backup at %s", c.From)
		}
		if backups.IsArchive(c.From) {
			return backups.Unpack(c.From, filepath.Join(dir, "copy"))
		}
		return c.From, nil
	}
	place, err := backups.Open(address)
	if err != nil {
		return "", err
	}
	if name == "" {
		if name, _, err = place.Newest(ctx); err != nil {
			return "", err
		}
		if name == "" {
			return "", fmt.Errorf("there is no archive of rote backup in %s", place)
		}
		c.From = strings.TrimSuffix(place.String(), "/") + "/" + name
	}
	return place.Fetch(ctx, name, dir)
}

// warnOfMissingKeys says which key the restored database needs: a backup has none.
func (g *globals) warnOfMissingKeys(ctx context.Context, s streams) {
	for _, f := range checkKey(ctx, g, s) {
		if f.Status == findingFault {
			fmt.Fprintf(s.err, "rote: warning: %s: %s\n", f.Detail, f.Remedy)
		}
	}
}
