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
	"rote/browser/chromium"
	"rote/browser/egress"
	"rote/routine"
	"rote/routine/service"
	"rote/routine/sqlite"
)

// app is the running program: its store, browser and service.
type app struct {
	log     *slog.Logger
	streams streams
	store   *sqlite.Store
	browser *browser.Browser
	service *service.Service
	// stopMaintenance stops the maintenance of the service and waits for it.
	stopMaintenance func()
}

// drainTimeout is how long runs may continue after the first signal to stop.
const drainTimeout = 10 * time.Second

// openApp creates the app and fails executions that a crash has left open. The
// browser is started on first use.
func openApp(ctx context.Context, g *globals, s streams, options ...sqlite.Option) (*app, error) {
	return newApp(ctx, g, s, service.Config{}, options...)
}

// openServerApp is openApp for a server. Only a server sends webhooks and
// deletes old executions: other processes with the same database may have other
// rules or none.
func openServerApp(ctx context.Context, g *globals, s streams, o routine.Observer, keep routine.Retention) (*app, error) {
	policy, err := g.egressPolicy()
	if err != nil {
		return nil, err
	}
	return newApp(ctx, g, s, service.Config{Sender: webhookSender{policy}, Observer: o, Retention: keep})
}

// newApp completes c with the settings that all commands share.
func newApp(ctx context.Context, g *globals, s streams, c service.Config, options ...sqlite.Option) (*app, error) {
	a := &app{log: s.logger(), streams: s}
	policy, err := g.egressPolicy()
	if err != nil {
		return nil, err
	}
	path, err := g.databasePath()
	if err != nil {
		return nil, err
	}
	if a.store, err = sqlite.Open(ctx, path, append(options, g.stateKeyOption()...)...); err != nil {
		return nil, err
	}
	concurrency := cmp.Or(int(g.Concurrency), 2*runtime.NumCPU())
	a.browser = browser.New(browser.Config{Executable: g.BrowserPath, Egress: policy, MaxTraffic: int64(g.MaxTraffic), MaxMemory: int64(g.MaxMemory),
		Warm: min(concurrency, runtime.NumCPU()), Log: a.log})
	c.Store, c.Browser, c.Log, c.Concurrency, c.Queue = a.store, a.browser, a.log, concurrency, int(g.Queue)
	c.MaxResult, c.AdminToken = int64(g.MaxResult), os.Getenv(adminTokenVariable)
	a.service = service.New(c)
	a.startMaintenance(ctx)
	if err := a.service.Recover(ctx); err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = sqlite.WithRemedy(fmt.Errorf("database %s: %w", path, cause))
		}
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// adminTokenVariable is the environment variable with a token for everything. A
// token with fewer than minAdminTokenChars characters could be guessed.
const (
	adminTokenVariable = "ROTE_SERVICE_TOKEN"
	minAdminTokenChars = 24
)

// warnOfShortToken logs a warning if the admin token could be guessed.
func (a *app) warnOfShortToken() {
	if n := len(os.Getenv(adminTokenVariable)); n > 0 && n < minAdminTokenChars {
		a.log.Warn(adminTokenVariable+" opens everything and can be guessed: make a longer one, with openssl rand -hex 32 for example",
			"characters", n, "at_least", minAdminTokenChars)
	}
}

// checkBrowser returns an error if --browser is not an executable, because all
// runs would fail. Without --browser, one can still be installed later.
func (g *globals) checkBrowser() error {
	if g.BrowserPath == "" {
		return nil
	}
	if _, err := chromium.Find(g.BrowserPath); err != nil {
		return fmt.Errorf("--browser: %w", err)
	}
	return nil
}

// egressPolicy returns what runs and webhooks may reach.
func (g *globals) egressPolicy() (*egress.Policy, error) {
	return egress.NewPolicy(egress.Mode(g.Egress), g.AllowHost, g.DenyHost)
}

// startMaintenance starts the maintenance of the service. It continues after
// ctx ends until Close, as runs do.
func (a *app) startMaintenance(ctx context.Context) {
	maintaining, stop := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() { a.service.Maintain(maintaining) })
	a.stopMaintenance = func() { stop(); done.Wait() }
}

// Close closes the runs, the browser and the database, in this order.
func (a *app) Close() error {
	ctx, cancel := a.streams.graceContext(context.Background(), drainTimeout)
	defer cancel()
	a.stopRuns(ctx)
	a.stopMaintenance()
	a.browser.Close()
	return a.store.Close()
}

// localPrincipal returns the principal of the command line. It has all scopes,
// because the user can read the database anyway.
func (g *globals) localPrincipal() routine.Principal {
	return routine.Principal{UserID: g.User, OrganizationID: g.Organization, ProjectID: g.Project, Scopes: routine.DefaultScopes | routine.ScopeAdmin}
}

// stateKeyOption sets the file with the key of browser states, if --state-key
// is given.
func (g *globals) stateKeyOption() []sqlite.Option {
	if g.StateKey == "" {
		return nil
	}
	return []sqlite.Option{sqlite.KeyFile(g.StateKey)}
}

// databasePath returns the path of the database.
func (g *globals) databasePath() (string, error) {
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

// logger returns a log in text on a terminal and in JSON otherwise.
func (s streams) logger() *slog.Logger {
	if s.log != nil {
		return s.log
	}
	if f, ok := s.err.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return slog.New(slog.NewTextHandler(s.err, nil))
	}
	return slog.New(slog.NewJSONHandler(s.err, nil))
}
