package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"rote/cmd/rote/telemetry"
	"rote/httpapi"
	"rote/httpapi/console"
	"rote/mcp/wire"
	"rote/routine/postgres"
)

type serveCommand struct {
	mcpFlags
	lessonFlags
	Toolsets    []string `help:"MCP tools in addition to routines: run (always), teach, authoring." default:"run" enum:"run,teach,authoring" placeholder:"NAME"`
	Addr        string   `help:"Address to listen on." default:"127.0.0.1:8080"`
	MetricsAddr string   `help:"Additional address for /metrics without a token, as in 127.0.0.1:9464." placeholder:"ADDR"`
	BasePath    string   `help:"Prefix of all paths." placeholder:"/PATH"`
	AllowedHost []string `help:"Name of the service, as host, host:port or origin. Its pages may use the service too. Repeatable." placeholder:"HOST"`
	retentionFlags
	backupFlags
	runFlags
	Console  string `help:"Web console at /console: on or off." default:"on" enum:"on,off"`
	LiveView bool   `help:"Let people who may read executions see the pages of running ones in the console, once a second. Never those with secrets."`
	Demo     bool   `help:"Start the practice shop too, and offer its routines in the console." env:"-"`
	Auth     string `help:"token, or off: every caller is the local user (loopback only)." default:"token" enum:"token,off"`
	httpFlags
}

func (c *serveCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if err := c.check(g); err != nil {
		return err
	}
	if base := strings.Trim(c.BasePath, "/"); base != "" {
		c.BasePath = "/" + base
	} else {
		c.BasePath = ""
	}
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w (choose another with --addr)", err)
	}
	c.setDefaults(listener)
	if c.Auth == "off" && !listensOnLoopback(listener) {
		return errors.Join(fmt.Errorf("--auth off would let everybody who reaches %s act as %s: use tokens, or listen on 127.0.0.1", listener.Addr(), g.User),
			listener.Close())
	}
	var examples []console.Example
	if c.Demo {
		own, shop, err := startShop(ctx, g)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		defer func() { err = errors.Join(err, shop.stop()) }()
		g, examples = own, shopExamples(shop.address)
	}
	metrics := httpapi.NewMetrics()
	a, err := openServerApp(ctx, g, s, metrics, c.retention(), &c.runFlags, c.LiveView)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := c.lessonFlags.open(a, g, min(int(c.Lessons), maxLessonsPerUser)); err != nil {
		return errors.Join(err, listener.Close())
	}
	if c.Auth == "token" {
		a.warnOfShortToken()
		if err := c.createFirstToken(ctx, a, g, s, listener); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	h, tools, err := c.handler(a, g, metrics, listener, examples)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	sent, err := telemetry.StartMetrics(ctx, version(), metrics.Gatherer(), a.log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer sent.Close()
	scraped, err := listenForMetrics(c.MetricsAddr, c.AllowedHost, metrics, a.log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, scraped.Close()) }()
	stopBackups, err := c.startBackups(ctx, a, g)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer stopBackups()
	a.log.Info("serving", c.addresses(listener)...)
	return serve(ctx, listener, h, s, a.drainTime, func(ctx context.Context) {
		a.closeLessons()
		a.stopRuns(ctx)
		tools.Close() // after the runs, so that their responses can still be sent
	})
}

// check returns an error that names the first invalid flag or combination of flags.
func (c *serveCommand) check(g *globals) error {
	if err := errors.Join(c.httpFlags.check(), c.runFlags.check(g), c.retentionFlags.check()); err != nil {
		return err
	}
	if c.Auth == "off" && slices.Contains(c.AllowedHost, "*") {
		return fmt.Errorf("--auth off with --allowed-host * would let every web page that you open act as %s: name the hosts", g.User)
	}
	return errors.Join(g.checkBrowser(), g.requireStateKey())
}

// handler returns the handler for REST and MCP, which share one admission.
func (c *serveCommand) handler(a *app, g *globals, metrics *httpapi.Metrics, l net.Listener, examples []console.Example) (http.Handler, *wire.HTTP, error) {
	config := httpapi.Config{Service: a.service, Log: a.log, Audit: a.streams.audit, Tracer: a.telemetry.Tracer(), MaxBody: int64(g.MaxBody),
		AllowedHosts: c.AllowedHost, BasePath: c.BasePath, Metrics: metrics}
	c.httpFlags.apply(&config)
	var lessons console.Lessons
	if a.lessons != nil && !c.ReadOnly {
		config.Lessons, lessons = a.lessons, a.lessons
	}
	if c.Auth == "off" {
		config.Local = new(g.localPrincipal())
	}
	server, err := c.server(a, g, c.Toolsets, nil, "")
	if err != nil {
		return nil, nil, err
	}
	config.Admission = httpapi.NewAdmission(config)
	if c.Console == "on" {
		config.Console = console.New(console.Config{Service: a.service, Admission: config.Admission, Log: a.log, Local: config.Local,
			BasePath: c.BasePath, MaxBody: int64(g.MaxBody), About: c.about(g, l), Examples: examples, Lessons: lessons})
	}
	tools := server.NewHTTP(config.Admission, c.BasePath)
	rest, measured := httpapi.NewHandler(config), map[string]http.Handler{}
	for _, path := range tools.Paths() {
		measured[path] = metrics.Measure(path, tools)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := measured[r.URL.Path]; h != nil {
			h.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	}), tools, nil
}

// responseTimeout is how long open requests may take to send their responses
// after all runs have ended.
const responseTimeout = 5 * time.Second

// serve serves until ctx ends. Then it stops accepting requests, calls drain to
// end the runs that open requests wait for, whose context ends after drainTime, and
// waits for their responses.
func serve(ctx context.Context, l net.Listener, h http.Handler, s streams, drainTime time.Duration, drain func(context.Context)) error {
	server := httpapi.NewServer(l.Addr().String(), h)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	draining, cancel := s.graceContext(ctx, drainTime)
	defer cancel()
	ending, cancelEnding := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelEnding()
	drained := make(chan struct{})
	go func() {
		drain(draining)
		close(drained)
		time.AfterFunc(responseTimeout, cancelEnding)
	}()
	err := server.Shutdown(ending)
	if errors.Is(err, context.Canceled) {
		err = server.Close()
	}
	<-drained
	if serving := <-failed; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

// addresses returns the addresses of the service for its log line.
func (c *serveCommand) addresses(l net.Listener) []any {
	list := []any{"url", "http://" + l.Addr().String() + c.BasePath}
	if c.Console == "on" {
		list = append(list, "console", consoleURL(l.Addr().String(), c.BasePath)+"/")
	}
	return list
}

// consoleURL returns the address of the console of a service. On loopback its name is one that
// no other program of the machine uses, because cookies ignore ports.
func consoleURL(address, basePath string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "http://" + address + basePath + "/console"
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		host = "rote.localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + basePath + "/console"
}

// createFirstToken creates the first token of a new database and prints only
// the secret to standard output.
func (c *serveCommand) createFirstToken(ctx context.Context, a *app, g *globals, s streams, l net.Listener) error {
	if os.Getenv(adminTokenVariable) != "" {
		return nil
	}
	tokens, err := a.service.Tokens(ctx)
	if err != nil || len(tokens) > 0 {
		return err
	}
	if postgres.IsURL(g.DB) { // of several servers that start at once, each would create one
		a.log.Warn("the database has no service token: create one with rote token create, or set " + adminTokenVariable)
		return nil
	}
	secret, _, err := a.service.CreateToken(ctx, g.localPrincipal(), 0)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.err, "rote: this is a new database. Its first service token follows; it is not shown again. Send it as X-Service-Token.")
	if c.Console == "on" && isTerminal(s.err) { // any other stream is a log, in which no token may be
		fmt.Fprintf(s.err, "rote: to sign in to the console with it, open: %s/login#%s\n", consoleURL(l.Addr().String(), c.BasePath), secret)
	}
	fmt.Fprintln(s.out, secret)
	return nil
}

// listensOnLoopback reports whether only programs of this machine reach a listener.
func listensOnLoopback(l net.Listener) bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}
