package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"rote/browser"
	"rote/browser/egress"
	"rote/routine"
	"rote/routine/sqlite"
)

// app is the program's parts, wired together.
type app struct {
	log     *slog.Logger
	streams streams
	store   *sqlite.Store
	browser *browser.Browser
	service *routine.Service
	// stopMaintaining ends what keeps the ledger true, and returns after it.
	stopMaintaining func()
}

// drainTime is how long runs in flight may go on when the program is told to
// stop once.
const drainTime = 10 * time.Second

// open builds the parts and ends what a crash has left open. The browser is not
// started before it is needed.
func open(ctx context.Context, g *globals, s streams, options ...sqlite.Option) (*app, error) {
	return build(ctx, g, s, routine.Config{}, options...)
}

// openServer is open for a server: only that sends webhooks and deletes what is
// not kept, because other processes that share its database may have been given
// other rules, or none.
func openServer(ctx context.Context, g *globals, s streams, o routine.Observer, keep routine.Retention) (*app, error) {
	policy, err := g.egress()
	if err != nil {
		return nil, err
	}
	return build(ctx, g, s, routine.Config{Sender: webhooks{policy}, Observer: o, Retention: keep})
}

// build completes c with what all commands have alike.
func build(ctx context.Context, g *globals, s streams, c routine.Config, options ...sqlite.Option) (*app, error) {
	a := &app{log: s.logger(), streams: s}
	policy, err := g.egress()
	if err != nil {
		return nil, err
	}
	path, err := g.database()
	if err != nil {
		return nil, err
	}
	if a.store, err = sqlite.Open(ctx, path, append(options, g.stateKey()...)...); err != nil {
		return nil, err
	}
	concurrency := cmp.Or(int(g.Concurrency), 2*runtime.NumCPU())
	a.browser = browser.New(browser.Config{Executable: g.BrowserPath, Egress: policy, MaxTraffic: int64(g.MaxTraffic), MaxMemory: int64(g.MaxMemory),
		Warm: min(concurrency, runtime.NumCPU()), Log: a.log})
	c.Store, c.Browser, c.Log, c.Concurrency, c.Queue = a.store, a.browser, a.log, concurrency, int(g.Queue)
	c.MaxResult, c.AdminToken = int64(g.MaxResult), os.Getenv(adminToken)
	a.service = routine.NewService(c)
	a.maintain(ctx)
	if err := a.service.Recover(ctx); err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = sqlite.WithRemedy(fmt.Errorf("database %s: %w", path, cause))
		}
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// adminToken names the variable with a token for everything; a shorter one than
// minAdminToken characters somebody may come upon by trying.
const (
	adminToken    = "ROTE_SERVICE_TOKEN"
	minAdminToken = 24
)

// warnOfShortToken says so where it may be guessed.
func (a *app) warnOfShortToken() {
	if n := len(os.Getenv(adminToken)); n > 0 && n < minAdminToken {
		a.log.Warn(adminToken+" opens everything and can be guessed: make a longer one, with openssl rand -hex 32 for example",
			"characters", n, "at_least", minAdminToken)
	}
}

// checkBrowser refuses an executable that is none: all runs would fail. Without
// --browser one may yet be installed.
func (g *globals) checkBrowser() error {
	if g.BrowserPath == "" {
		return nil
	}
	if _, err := browser.Find(g.BrowserPath); err != nil {
		return fmt.Errorf("--browser: %w", err)
	}
	return nil
}

// egress is what runs and webhooks may reach.
func (g *globals) egress() (*egress.Policy, error) {
	return egress.NewPolicy(egress.Mode(g.Egress), g.AllowHost, g.DenyHost)
}

// maintain begins to keep the ledger true, for as long as runs may go on: after
// ctx, until Close.
func (a *app) maintain(ctx context.Context) {
	maintaining, stop := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() { a.service.Maintain(maintaining) })
	a.stopMaintaining = func() { stop(); done.Wait() }
}

// Close ends the parts in order: runs, browser, database.
func (a *app) Close() error {
	ctx, cancel := a.streams.ending(context.Background(), drainTime)
	defer cancel()
	a.stopRuns(ctx)
	a.stopMaintaining()
	a.browser.Close()
	return a.store.Close()
}

// local is the principal of the command line. Who can read the database is held
// back by no scope.
func (g *globals) local() routine.Principal {
	return routine.Principal{UserID: g.User, OrganizationID: g.Organization, ProjectID: g.Project, Scopes: routine.UsualScopes | routine.ScopeAdmin}
}

// stateKey says where the key of browser states is, unless beside the database.
func (g *globals) stateKey() []sqlite.Option {
	if g.StateKey == "" {
		return nil
	}
	return []sqlite.Option{sqlite.KeyFile(g.StateKey)}
}

// database is the path of the database.
func (g *globals) database() (string, error) {
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

// logger writes text on a terminal, JSON elsewhere.
func (s streams) logger() *slog.Logger {
	if s.log != nil {
		return s.log
	}
	if f, ok := s.err.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return slog.New(slog.NewTextHandler(s.err, nil))
	}
	return slog.New(slog.NewJSONHandler(s.err, nil))
}
