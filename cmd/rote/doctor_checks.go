package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize/english"

	"rote/browser/chromium"
	"rote/routine/postgres"
	"rote/routine/rows"
	"rote/routine/sqlite"
)

func checkVersion(context.Context, *globals, streams) []finding {
	return []finding{ok(fmt.Sprintf("%s (%s %s/%s)", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH))}
}

// checkBrowsers starts the browser of this machine, and connects to those of --browser-url.
func checkBrowsers(ctx context.Context, g *globals, s streams) []finding {
	endpoints, err := g.endpoints()
	if err != nil {
		return []finding{fault(err.Error(), "correct --browser-url")}
	}
	var found []finding
	if len(endpoints) > 0 {
		var printed strings.Builder
		err := g.checkEndpoints(ctx, streams{out: &printed, err: s.err, log: s.log}, endpoints)
		for line := range strings.Lines(printed.String()) {
			found = append(found, ok(strings.TrimSpace(line)))
		}
		if err != nil {
			found = append(found, fault(err.Error(), "start it with the flags that rote browser flags prints"))
		}
	}
	if usesLocalBrowser(endpoints) {
		found = append(found, checkLocalBrowser(ctx, g))
	}
	return found
}

// checkLocalBrowser starts the browser once, so it also finds out whether the sandbox works.
func checkLocalBrowser(ctx context.Context, g *globals) finding {
	const install = "rote browser install, which also installs what the sandbox needs"
	path, err := chromium.Find(g.BrowserPath)
	if err != nil {
		return fault(err.Error(), install)
	}
	began := time.Now()
	checked, err := chromium.Check(ctx, path)
	if err != nil {
		return fault(err.Error(), install)
	}
	detail := fmt.Sprintf("%s at %s starts in %.1f s", checked.Product, path, time.Since(began).Seconds())
	switch {
	case checked.NoSandbox:
		return warning(detail+", but "+checked.Warning, install)
	case checked.Warning != "":
		return warning(detail+", but "+checked.Warning, "run rote as a user without privileges")
	}
	return ok(detail + ", with its sandbox")
}

// checkDatabase opens the database if it exists. It is not migrated.
func checkDatabase(ctx context.Context, g *globals, s streams) []finding {
	name, err := g.databaseName()
	if err != nil {
		return []finding{fault(err.Error(), "name another with --db")}
	}
	if file, err := g.createsFile(); err == nil && file != "" {
		return []finding{ok("there is none at " + file + " yet; the first command that stores something makes it")}
	}
	store, err := g.examineDatabase(ctx, s)
	if errors.Is(err, sqlite.ErrOldSchema) {
		return []finding{warning(err.Error(), "make a backup with the program that wrote it (rote backup FILE); the next start of this one updates the schema")}
	}
	if err != nil {
		return []finding{fault(err.Error(), "correct --db, or make the database from a copy: rote restore FILE")}
	}
	defer func() { _ = store.Close() }()
	if err := store.Ping(ctx); err != nil {
		return []finding{fault(err.Error(), "check that the disk, or the database server, works")}
	}
	return []finding{ok(name + " can be read, and has the schema of this program")}
}

// examineDatabase opens the database of --db, which must exist and is not changed.
func (g *globals) examineDatabase(ctx context.Context, s streams) (database, error) {
	key, err := g.stateKey()
	if err != nil {
		return nil, err
	}
	if postgres.IsURL(g.DB) {
		c := g.postgresConfig(s, key, mustExist)
		c.NoMigration = true
		store, err := postgres.Open(ctx, c)
		if err != nil { // a nil *Store would be a database that is not nil
			return nil, err
		}
		return store, nil
	}
	path, err := g.databasePath()
	if err != nil {
		return nil, err
	}
	options := []sqlite.Option{sqlite.MustExist(), sqlite.NoMigration()}
	if key != nil {
		options = append(options, sqlite.Key(key))
	}
	store, err := sqlite.Open(ctx, path, options...)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// checkKey compares the keys of this process with those that the database needs.
func checkKey(ctx context.Context, g *globals, s streams) []finding {
	source, err := g.keySource()
	if err != nil {
		return []finding{fault(err.Error(), "correct --state-key, or name the file of the keys with it")}
	}
	ring, unreadable := source(false)
	store, err := g.examineDatabase(ctx, s)
	if err != nil { // it does not exist, or checkDatabase has said what is wrong with it
		if unreadable != nil && !errors.Is(unreadable, fs.ErrNotExist) {
			return []finding{fault(unreadable.Error(), "give --state-key a file that has keys and that this user may read")}
		}
		return []finding{ok(english.Plural(len(ring), "key", "") + "; there is no database to compare with")}
	}
	defer func() { _ = store.Close() }()
	uses, err := store.StateKeys(ctx)
	switch {
	case err != nil:
		return []finding{fault(err.Error(), "check that the disk, or the database server, works")}
	case errors.Is(unreadable, fs.ErrNotExist) && len(uses) == 0:
		return []finding{ok(noKeyYet)}
	case unreadable != nil:
		return []finding{fault(unreadable.Error(), "put the key file back: without it, nobody can read the saved logins and secrets")}
	}
	for _, u := range uses {
		if u.ID != "" && ring.Find(u.ID) == nil {
			return []finding{fault(fmt.Sprintf("%s encrypted with the key %s, which is not there", english.Plural(u.Rows, "row", ""), u.ID),
				"add it to the file of --state-key; rote key list shows all keys")}
		}
	}
	if slices.ContainsFunc(uses, func(u rows.KeyUse) bool { return u.ID == "" }) {
		return []finding{warning("something is encrypted with a key of an earlier version, which has no name", "rote key rotate names it")}
	}
	return []finding{ok(english.Plural(len(ring), "key", "") + ", all that the database needs")}
}

// checkEgress says what runs may reach.
func checkEgress(_ context.Context, g *globals, _ streams) []finding {
	if _, err := g.egressPolicy(); err != nil {
		return []finding{fault(err.Error(), "correct --allow-host or --deny-host")}
	}
	detail := map[string]string{"public": "the internet, not this machine or private networks", "listed": "only allowed hosts",
		"any": "everything, this machine and private networks included"}[g.Egress]
	detail = fmt.Sprintf("--egress %s: runs may reach %s; allowed hosts: %s", g.Egress, detail, listText(g.AllowHost, "none"))
	switch {
	case g.Egress == "any":
		return []finding{warning(detail, "allow single hosts with --allow-host instead, unless all routines are yours")}
	case g.Egress == "listed" && len(g.AllowHost) == 0:
		return []finding{warning(detail, "name the hosts of your routines with --allow-host")}
	}
	return []finding{ok(detail)}
}

// checkPort finds out whether a server can listen, or listens already.
func (c *doctorCommand) checkPort(ctx context.Context, _ *globals, _ streams) []finding {
	l, err := net.Listen("tcp", c.Addr)
	if err == nil {
		_ = l.Close()
		return []finding{ok(c.Addr + " is free")}
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && answersAsServer(ctx, c.Addr):
		return []finding{ok("a server of rote answers at " + c.Addr)}
	case errors.Is(err, syscall.EADDRINUSE):
		return []finding{fault("another program listens on "+c.Addr, "end that program, or name another address: rote serve --addr HOST:PORT")}
	case errors.Is(err, os.ErrPermission):
		return []finding{fault(err.Error(), "use a port from 1024 on, and a reverse proxy for 80 and 443")}
	}
	return []finding{fault(err.Error(), "name an address of this machine: rote serve --addr HOST:PORT")}
}

// answersAsServer reports whether a server answers at an address as one of rote does.
func answersAsServer(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return false
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return false
	}
	defer func() { _ = r.Body.Close() }()
	return r.StatusCode == http.StatusOK && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}
