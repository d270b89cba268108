package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"rote/routine"
	"rote/routine/postgres"
	"rote/routine/rows"
	"rote/routine/sqlite"
)

// database is the store of a command.
type database interface {
	routine.Store
	keyStore
	Close() error
}

// databaseUse says whether a command may create the database.
type databaseUse int

const (
	mayCreate databaseUse = iota
	mustExist
)

// openDatabase opens the database of --db.
func (g *globals) openDatabase(ctx context.Context, s streams, use databaseUse) (database, error) {
	key, err := g.stateKey()
	if err != nil {
		return nil, err
	}
	if postgres.IsURL(g.DB) {
		store, err := postgres.Open(ctx, g.postgresConfig(s, key, use))
		if err != nil { // a nil *Store would be a database that is not nil
			return nil, err
		}
		return store, nil
	}
	path, err := g.databasePath()
	if err != nil {
		return nil, err
	}
	options := []sqlite.Option{sqlite.Log(s.logger())}
	if key != nil {
		options = append(options, sqlite.Key(key))
	}
	if use == mustExist {
		options = append(options, sqlite.MustExist())
	}
	store, err := sqlite.Open(ctx, path, options...)
	if err != nil {
		return nil, err
	}
	return store, nil
}

func (g *globals) postgresConfig(s streams, key rows.KeySource, use databaseUse) postgres.Config {
	return postgres.Config{URL: g.DB, DirectURL: g.DBDirect, Connections: int(g.DBConnections), Key: key, NoMigration: g.Migrate == "off",
		MustExist: use == mustExist, Version: version(), Log: s.logger()}
}

// jobQueue returns the queue of the jobs of a store; nil: the default. With Postgres only
// servers do jobs. Other commands make them.
func jobQueue(store database, server bool) routine.JobQueue {
	p, ok := store.(*postgres.Store)
	switch {
	case !ok:
		return nil
	case !server:
		return noJobs{}
	}
	return p.JobQueue()
}

// noJobs is the queue of a process that does no jobs.
type noJobs struct{}

func (noJobs) Work(ctx context.Context, _ map[routine.JobKind]routine.JobHandler) { <-ctx.Done() }

// databaseName returns the database for messages, without a password.
func (g *globals) databaseName() (string, error) {
	if postgres.IsURL(g.DB) {
		return postgres.Name(g.DB), nil
	}
	return g.databasePath()
}

// databasePath returns the path of the SQLite file. It fails for the address of a database of
// another program, which would become the name of a file, with the password that it may have.
func (g *globals) databasePath() (string, error) {
	if scheme, _, ok := strings.Cut(g.DB, "://"); ok {
		return "", fmt.Errorf("--db is the path of a SQLite file, or postgres://USER@HOST/DATABASE, and not %s://…", scheme)
	}
	if g.DB != "" {
		return g.DB, nil
	}
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for the database: %w; name one with --db", err)
		}
		dir = filepath.Join(home, ".local", "share")
		if runtime.GOOS == "darwin" {
			dir = filepath.Join(home, "Library", "Application Support")
		}
	}
	return filepath.Join(dir, "rote", "rote.db"), nil
}

// createsFile returns the SQLite file if a command that opens the database will create it,
// and "" otherwise.
func (g *globals) createsFile() (string, error) {
	if postgres.IsURL(g.DB) {
		return "", nil
	}
	path, err := g.databasePath()
	if _, missing := os.Stat(path); err != nil || !errors.Is(missing, fs.ErrNotExist) {
		return "", err
	}
	return path, nil
}

// stateKeyVariable is the environment variable of --state-key. It may also have the key
// itself.
const stateKeyVariable = "ROTE_STATE_KEY"

// stateKey returns the source of the key that encrypts browser states; nil: the store's
// own.
func (g *globals) stateKey() (rows.KeySource, error) {
	if g.StateKey == "" {
		return nil, nil
	}
	if name, ok := strings.CutPrefix(g.StateKey, "env:"); ok {
		return keyOfVariable(name), nil
	}
	ring, err := rows.ParseKeys(g.StateKey)
	if err != nil && looksLikeKey(g.StateKey) {
		return nil, errors.New("the value of " + stateKeyVariable + " (--state-key) is no key, and no file has this name. " +
			"It is not shown here, because it looks like a key with a mistake: copy the whole line that rote key new printed, or name the file of the key")
	}
	if err != nil { // the usual case: it is a path
		return rows.KeyFile(g.StateKey), nil //nolint:nilerr
	}
	if os.Getenv(stateKeyVariable) != g.StateKey {
		return nil, errors.New("--state-key is the key itself, which others can read on the command line: " +
			"put it into a file with mode 600, or into " + stateKeyVariable)
	}
	return func(bool) (rows.Ring, error) { return ring, nil }, nil
}

// keyOfVariable is the source of keys in an environment variable.
func keyOfVariable(name string) rows.KeySource {
	return func(bool) (rows.Ring, error) {
		ring, err := rows.ParseKeys(os.Getenv(name))
		if err != nil {
			return nil, fmt.Errorf("the environment variable %s of --state-key does not hold a key: %w", name, err)
		}
		return ring, nil
	}
}

// minKeyChars is the length from which a text of the characters of a key is taken for a
// key. A key has 44 characters.
const minKeyChars = 40

// looksLikeKey reports whether a text that is not a key was probably meant as one, for
// example a key in the URL-safe alphabet, in quotes or without its end. Such a text must
// not be used as a path: it would be shown in errors and become the name of a file.
func looksLikeKey(text string) bool {
	if _, err := os.Stat(text); err == nil {
		return false
	}
	bare := strings.Trim(strings.TrimSpace(text), `"'`)
	other := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_= \t\r\n", r))
	}
	if len(bare) < minKeyChars || strings.ContainsFunc(bare, other) {
		return false
	}
	// A file that is created on first use has a directory. Each 64th key begins with a
	// slash, so the root directory says nothing.
	dir := filepath.Dir(bare)
	info, err := os.Stat(dir)
	return dir == "." || dir == "/" || err != nil || !info.IsDir()
}

// requireStateKey returns an error if servers with this database need a key and have none.
// Each would else make its own, and could not read the states of the others.
func (g *globals) requireStateKey() error {
	if g.StateKey != "" || !postgres.IsURL(g.DB) {
		return nil
	}
	return errors.New("with Postgres, all servers need the same key for the browser states of projects: make one with rote key new > FILE (mode 600), " +
		"and give it to each with --state-key FILE or in " + stateKeyVariable)
}
