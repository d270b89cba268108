package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"rote/cmd/rote/telemetry"
	"rote/httpapi"
	"rote/routine"
	"rote/routine/postgres"
)

type workerCommand struct {
	Addr string `help:"Address of /healthz, /readyz and /metrics, which need no token." default:"127.0.0.1:8081"`
	runFlags
}

// Run does the asynchronous and scheduled runs and the webhooks of a Postgres database,
// without REST and MCP, until a signal arrives. It deletes no executions: rote serve does.
func (c *workerCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if !postgres.IsURL(g.DB) {
		return errors.New("rote worker does the asynchronous and scheduled runs of a Postgres database: name it with --db postgres://USER@HOST/DATABASE. " +
			"With a SQLite file, rote serve does them itself")
	}
	if c.Async == nil {
		c.Async = new(number(maxCount)) // of --concurrency
	}
	if *c.Async == 0 {
		return errors.New("--async 0 would leave a worker without work: leave it out for all of --concurrency")
	}
	if err := errors.Join(g.checkBrowser(), g.requireStateKey()); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w (choose another with --addr)", err)
	}
	metrics := httpapi.NewMetrics()
	a, err := openServerApp(ctx, g, s, metrics, routine.Retention{}, &c.runFlags, false)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	config := httpapi.Config{Service: a.service, Log: a.log, Metrics: metrics, Tracer: a.telemetry.Tracer()}
	if !listensOnLoopback(listener) {
		config.AllowedHosts = []string{"*"} // probes and scrapers may use any name or address
		a.log.Warn("everybody who reaches --addr can read the metrics without a token: let only your probes and Prometheus through",
			"address", listener.Addr().String())
	}
	handler := httpapi.NewWorkerHandler(config)
	sent, err := telemetry.StartMetrics(ctx, version(), metrics.Gatherer(), a.log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer sent.Close()
	a.log.Info("working", "url", "http://"+listener.Addr().String())
	return serve(ctx, listener, handler, s, a.drainTime, a.stopRuns)
}
