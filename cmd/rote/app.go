package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"rote/browser"
	"rote/browser/chromium"
	"rote/browser/egress"
	"rote/cmd/rote/telemetry"
	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/postgres"
	"rote/routine/service"
	"rote/routine/sqlite"
	"rote/routine/tracing"
)

// app is the running program: its store, browser and service.
type app struct {
	log     *slog.Logger
	streams streams
	store   database
	// browser is nil for commands that open no pages.
	browser anyBrowser
	// gateway is nil without --egress-listen, and for commands that open no pages.
	gateway *egress.Gateway
	service *service.Service
	// lessons is nil for commands without lessons.
	lessons  *lesson.Lessons
	observer routine.Observer
	// telemetry sends traces; nil: it sends none.
	telemetry *telemetry.Telemetry
	// drainTime is how long runs may continue after the first signal to stop.
	drainTime time.Duration
	// stopMaintenance stops the maintenance of the service and waits for it.
	stopMaintenance func()
}

// defaultDrainTime is the drain time of commands without --drain-time.
const defaultDrainTime = 10 * time.Second

// openApp creates the app and fails executions that a crash has left open. The
// browser is started on first use.
func openApp(ctx context.Context, g *globals, s streams, use databaseUse) (*app, error) {
	return newApp(ctx, g, s, service.Config{}, use, &runFlags{DrainTime: duration(defaultDrainTime)})
}

// openAppWithoutBrowser is openApp for commands that open no pages. They can be used while a
// server has the address of --egress-listen and the browsers of --browser-url.
func openAppWithoutBrowser(ctx context.Context, g *globals, s streams, use databaseUse) (*app, error) {
	if _, err := g.egressPolicy(); err != nil {
		return nil, err // wrong flags are an error of every command
	}
	return newApp(ctx, g, s, service.Config{Browser: noBrowser{}}, use, &runFlags{DrainTime: duration(defaultDrainTime)})
}

// noBrowser is the browser of commands that open no pages.
type noBrowser struct{}

func (noBrowser) Open(context.Context, routine.PageOptions) (routine.Page, error) {
	return nil, routine.Errorf(routine.CodeBrowserUnavailable, "this command opens no pages")
}

// openServerApp is openApp for a server. Only a server sends webhooks, starts the runs of
// schedules and deletes old executions: other processes with the same database may have other
// rules or none.
func openServerApp(ctx context.Context, g *globals, s streams, o routine.Observer, keep routine.Retention, f *runFlags, liveView bool) (*app, error) {
	policy, err := g.egressPolicy()
	if err != nil {
		return nil, err
	}
	c := service.Config{Sender: webhookSender{policy}, Observer: o, Retention: keep, Schedules: true, LiveView: liveView}
	return newApp(ctx, g, s, c, mayCreate, f)
}

// newApp completes c with the settings that all commands share, and with a browser and a queue
// of jobs unless it has one.
func newApp(ctx context.Context, g *globals, s streams, c service.Config, use databaseUse, f *runFlags) (*app, error) {
	a := &app{log: s.logger(), streams: s, observer: c.Observer, drainTime: time.Duration(f.DrainTime)}
	name, err := g.databaseName()
	if err != nil {
		return nil, err
	}
	if c.Providers, err = g.providers(); err != nil {
		return nil, err
	}
	if a.telemetry, err = telemetry.Start(ctx, version(), a.log); err != nil {
		return nil, err
	}
	c.Tracer = a.telemetry.Tracer()
	if a.store, err = g.openDatabase(ctx, s, use); err != nil {
		return nil, errors.Join(err, a.telemetry.Close())
	}
	c.Concurrency = cmp.Or(int(g.Concurrency), 2*runtime.NumCPU())
	if c.Browser == nil {
		if err := a.openBrowser(g, &c); err != nil {
			return nil, errors.Join(err, a.store.Close(), a.telemetry.Close())
		}
	}
	f.apply(&c, postgres.IsURL(g.DB))
	if c.Jobs == nil {
		c.Jobs = jobQueue(a.store, c.Sender != nil)
	}
	c.Store, c.Log, c.Audit, c.Queue = a.store, a.log, s.audit, int(g.Queue)
	c.MaxResult, c.AdminToken = int64(g.MaxResult), os.Getenv(adminTokenVariable)
	a.service = service.New(c)
	a.startMaintenance(ctx)
	if err := a.service.Recover(ctx); err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = sqlite.WithRemedy(fmt.Errorf("database %s: %w", name, cause))
		}
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// openBrowser opens the browsers of runs, and the listener of --egress-listen if some of them
// need it. All slots together are the default of c.Concurrency.
func (a *app) openBrowser(g *globals, c *service.Config) error {
	policy, err := g.egressPolicy()
	if err != nil {
		return err
	}
	endpoints, err := g.endpoints()
	if err != nil {
		return err
	}
	if a.gateway, err = g.openGateway(endpoints); err != nil {
		return err
	}
	if a.gateway != nil {
		if err := a.gateway.Reserve(policy); err != nil {
			return err
		}
	}
	if g.Concurrency == 0 && len(endpoints) > 0 {
		c.Concurrency = totalSlots(endpoints)
	}
	a.browser = openBrowser(browser.Config{Executable: g.BrowserPath, Egress: policy, MaxTraffic: int64(g.MaxTraffic), MaxMemory: int64(g.MaxMemory),
		Gateway: a.gateway, Unverified: g.BrowserUnverified, Warm: min(c.Concurrency, runtime.NumCPU()), Log: a.log}, endpoints)
	c.Browser = a.browser
	return nil
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
	endpoints, err := g.endpoints()
	if err != nil {
		return err
	}
	if g.BrowserPath == "" {
		return nil
	}
	if !usesLocalBrowser(endpoints) {
		return errors.New("--browser names a browser of this machine, and --browser-url only others: leave --browser out, or add --browser-url local")
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

// openLessons makes the lessons of the app. It completes c with the parts of the app.
func (a *app) openLessons(c lesson.Config) {
	c.Service, c.Log, c.Observer = a.service, a.log, a.observer
	a.lessons = lesson.New(c)
}

// closeLessons ends all lessons.
func (a *app) closeLessons() {
	if a.lessons != nil {
		a.lessons.Close()
	}
}

// startMaintenance starts the maintenance of the service. It continues after
// ctx ends until Close, as runs do.
func (a *app) startMaintenance(ctx context.Context) {
	maintaining, stop := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() { a.service.Maintain(maintaining) })
	a.stopMaintenance = func() { stop(); done.Wait() }
}

// Close closes the lessons, the runs, the browser and the database, in this order.
func (a *app) Close() error {
	ctx, cancel := a.streams.graceContext(context.Background(), a.drainTime)
	defer cancel()
	a.closeLessons()
	a.stopRuns(ctx)
	a.stopMaintenance()
	if a.browser != nil {
		a.browser.Close()
	}
	if a.gateway != nil {
		a.gateway.Close()
	}
	return errors.Join(a.store.Close(), a.telemetry.Close())
}

// localPrincipal returns the principal of the command line. It has all scopes,
// because the user can read the database anyway.
func (g *globals) localPrincipal() routine.Principal {
	return routine.Principal{UserID: g.User, OrganizationID: g.Organization, ProjectID: g.Project, Scopes: routine.DefaultScopes | routine.ScopeAdmin}
}

// logger returns a log in text on a terminal and in JSON otherwise, with the ids of spans.
func (s streams) logger() *slog.Logger {
	if s.log != nil {
		return s.log
	}
	var h slog.Handler = slog.NewJSONHandler(s.err, nil)
	if f, ok := s.err.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		h = slog.NewTextHandler(s.err, nil)
	}
	return slog.New(tracing.LogHandler(h))
}
