package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/postgres"
	"rote/routine/rows"
)

type keyCommand struct {
	New    keyNew    `cmd:"" help:"Make a state key and print it."`
	List   keyList   `cmd:"" help:"List the state keys, by their ids, and how much is encrypted with each."`
	Rotate keyRotate `cmd:"" help:"Replace the state key, or with --data the keys under it, while the database is in use."`
	Prune  keyPrune  `cmd:"" help:"Remove the state keys with which nothing is encrypted."`
}

// keyStore is the part of a database that keeps track of the keys that encrypt it.
type keyStore interface {
	// StateKeys returns the state keys with which something may be encrypted.
	StateKeys(ctx context.Context) ([]rows.KeyUse, error)
	// Reseal encrypts everything that is encrypted with another state key with the first one,
	// and returns the number of rows.
	Reseal(ctx context.Context) (int, error)
	// RemoveKey makes the database refuse a state key. rows.ErrKeyInUse, rows.ErrKeyNotUsed.
	RemoveKey(ctx context.Context, id string) error
	// DataKeyOrganizations returns the organizations that have a data key.
	DataKeyOrganizations(ctx context.Context) ([]string, error)
	// RotateDataKey replaces the data key of an organization, and returns the number of
	// values that it encrypts.
	RotateDataKey(ctx context.Context, organizationID string, at time.Time) (int, error)
}

// keyNew prints a new key for --state-key. It is not stored.
type keyNew struct{}

func (c *keyNew) Run(_ context.Context, _ *globals, s streams) error {
	key, err := rows.NewKey()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, key)
	return err
}

// keySource returns the source of the keys of the database, which exist.
func (g *globals) keySource() (rows.KeySource, error) {
	key, err := g.stateKey()
	if err != nil || key != nil {
		return key, err
	}
	path, err := g.keyFile()
	return rows.KeyFile(path), err
}

// keyFile returns the file of the keys of the database.
func (g *globals) keyFile() (string, error) {
	key, err := g.stateKey()
	if err != nil {
		return "", err
	}
	if _, missing := os.Stat(g.StateKey); key != nil && missing != nil {
		return "", errors.New("the keys of --state-key are in no file that can be changed here: put a key of rote key new before them yourself, " +
			"restart all servers, and then run rote key rotate --no-new-key")
	}
	if key != nil {
		return g.StateKey, nil
	}
	if postgres.IsURL(g.DB) {
		return "", errors.New("with Postgres, name the file of the keys with --state-key FILE")
	}
	path, err := g.databasePath()
	return path + ".key", err
}

type keyList struct{}

// Run prints a line for each key: its id, the number of rows that it encrypts, and whether
// this process has it.
func (c *keyList) Run(ctx context.Context, g *globals, s streams) error {
	source, err := g.keySource()
	if err != nil {
		return err
	}
	return g.withDatabase(ctx, s, func(store database) error {
		uses, err := store.StateKeys(ctx)
		if err != nil {
			return err
		}
		ring, err := source(false)
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(uses) == 0:
			fmt.Fprintln(s.err, "rote: "+noKeyYet)
		case err != nil:
			fmt.Fprintf(s.err, "rote: the keys cannot be read: %v\n", err)
		}
		for _, id := range ring.IDs() {
			if !slices.ContainsFunc(uses, func(u rows.KeyUse) bool { return u.ID == id }) {
				uses = append(uses, rows.KeyUse{ID: id})
			}
		}
		out := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(out, "KEY\tENCRYPTS\tSTATE")
		for _, u := range uses {
			id, state := u.ID, "missing: add it to the file of --state-key"
			switch {
			case id == "":
				id, state = "unnamed", "of an earlier version: rote key rotate names it"
			case len(ring) > 0 && rows.KeyID(ring[0]) == id:
				state = "encrypts"
			case ring.Find(id) != nil:
				state = "decrypts"
			}
			fmt.Fprintf(out, "%s\t%d\t%s\n", id, u.Rows, state)
		}
		return out.Flush()
	})
}

// noKeyYet says why there is no key file.
const noKeyYet = "there is no state key yet: the first secret, session or queued run makes one"

// editKeys changes the keys of a file. See rows.EditKeyFile.
func editKeys(path string, edit func(rows.Ring) (rows.Ring, error)) error {
	err := rows.EditKeyFile(path, edit)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s, or it is not at %s: %w", noKeyYet, path, err)
	}
	return err
}

// withDatabase calls use with the database of --db, which must exist.
func (g *globals) withDatabase(ctx context.Context, s streams, use func(database) error) (err error) {
	store, err := g.openDatabase(ctx, s, mustExist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return use(store)
}

type keyRotate struct {
	Data         bool   `help:"Replace the keys that encrypt the secrets of organizations, and encrypt the secrets again. The state key stays."`
	Organization string `help:"With --data: only the key of this organization." placeholder:"ORGANIZATION" env:"-" name:"only"`
	NoNewKey     bool   `help:"Make no new state key: the first of --state-key is new already."`
}

// Run replaces a key. It can be interrupted at any time: the data can be read, and the next
// call continues.
func (c *keyRotate) Run(ctx context.Context, g *globals, s streams) error {
	return g.withDatabase(ctx, s, func(store database) error {
		if c.Data {
			return c.rotateData(ctx, store, s)
		}
		if !c.NoNewKey {
			if err := g.addKey(ctx, store, s); err != nil {
				return err
			}
		}
		n, err := store.Reseal(ctx)
		if err != nil {
			return err
		}
		s.audit.Changed(ctx, routine.Principal{}, audit.KeysRotated, slog.Int("rows", n))
		fmt.Fprintf(s.err, "rote: %d rows are encrypted with the new key; the old keys still decrypt: when no server and no backup needs them, "+
			"remove them with rote key prune\n", n)
		if postgres.IsURL(g.DB) {
			fmt.Fprintln(s.err, "rote: copy the key file to all other servers")
		}
		return nil
	})
}

// addKey puts a new key before those of the file, unless an earlier rotation was interrupted.
func (g *globals) addKey(ctx context.Context, store database, s streams) error {
	path, err := g.keyFile()
	if err != nil {
		return err
	}
	return editKeys(path, func(ring rows.Ring) (rows.Ring, error) {
		uses, err := store.StateKeys(ctx)
		if err != nil {
			return nil, err
		}
		first, known := rows.KeyID(ring[0]), false
		for _, u := range uses {
			known = known || u.ID == first
		}
		for _, u := range uses {
			if u.ID != "" && u.ID != first && (u.Rows > 0 || !known) {
				fmt.Fprintf(s.err, "rote: completing the change to the key %s, which was begun before\n", first)
				return ring, nil
			}
		}
		key := make([]byte, len(ring[0]))
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		fmt.Fprintf(s.err, "rote: the new key %s is in %s\n", rows.KeyID(key), path)
		return append(rows.Ring{key}, ring...), nil
	})
}

func (c *keyRotate) rotateData(ctx context.Context, store database, s streams) error {
	organizations, err := store.DataKeyOrganizations(ctx)
	if err != nil {
		return err
	}
	if c.Organization != "" {
		if !slices.Contains(organizations, c.Organization) {
			return fmt.Errorf("the organization %s has no secrets", c.Organization)
		}
		organizations = []string{c.Organization}
	}
	for _, organization := range organizations {
		n, err := store.RotateDataKey(ctx, organization, time.Now())
		if err != nil {
			return err
		}
		s.audit.Changed(ctx, routine.Principal{OrganizationID: organization}, audit.KeysRotated, slog.Int("values", n))
		fmt.Fprintf(s.err, "rote: %d values of %s are encrypted with a new key\n", n, organization)
	}
	return nil
}

type keyPrune struct{}

// Run removes the keys with which nothing is encrypted any more from the file, except the first. The
// database refuses them before they are removed, so that a server with an older file cannot
// encrypt anything with them.
func (c *keyPrune) Run(ctx context.Context, g *globals, s streams) error {
	path, err := g.keyFile()
	if err != nil {
		return err
	}
	return g.withDatabase(ctx, s, func(store database) error {
		return editKeys(path, func(ring rows.Ring) (rows.Ring, error) {
			kept := ring[:1:1]
			for _, key := range ring[1:] {
				id := rows.KeyID(key)
				err := store.RemoveKey(ctx, id)
				switch {
				case errors.Is(err, rows.ErrKeyInUse):
					fmt.Fprintf(s.err, "rote: the key %s stays, because something is encrypted with it: run rote key rotate first\n", id)
					kept = append(kept, key)
				case errors.Is(err, rows.ErrKeyNotUsed):
					fmt.Fprintf(s.err, "rote: the key %s stays, because nothing was encrypted with it yet, so it may be a new one: if not, "+
						"delete its line from %s\n", id, path)
					kept = append(kept, key)
				case err != nil:
					return nil, err
				default:
					fmt.Fprintf(s.err, "rote: the key %s is removed\n", id)
					s.audit.Changed(ctx, routine.Principal{}, audit.KeyRemoved, slog.String("key", id))
				}
			}
			return kept, nil
		})
	})
}
