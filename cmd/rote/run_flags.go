package main

import (
	"errors"
	"time"

	"rote/routine/postgres"
	"rote/routine/service"
)

// runFlags say how a server does asynchronous runs, and how it stops.
type runFlags struct {
	Async     *number  `help:"Asynchronous runs at once, from the queue of a Postgres database (serve: half of --concurrency; worker: all)." placeholder:"N"`
	QueueTime duration `help:"How long an asynchronous run may wait for a place." default:"1h"`
	DrainTime duration `help:"How long runs may continue after the signal to stop." default:"10s"`
}

// apply completes c, whose Concurrency is set. Servers on Postgres share their asynchronous
// runs. With a SQLite file, the process that accepts one runs it. Other commands, whose
// QueueTime is 0, take no part.
func (f *runFlags) apply(c *service.Config, shared bool) {
	c.QueueTime, c.ShareRuns = time.Duration(f.QueueTime), shared && f.QueueTime > 0
	switch {
	case !c.ShareRuns:
	case f.Async != nil:
		c.Async = min(int(*f.Async), c.Concurrency)
	default:
		c.Async = max(c.Concurrency/2, 1)
	}
}

// check refuses --async with a SQLite file.
func (f *runFlags) check(g *globals) error {
	if f.Async != nil && !postgres.IsURL(g.DB) {
		return errors.New("--async is for a Postgres database (--db postgres://USER@HOST/DATABASE): with a SQLite file, " +
			"the process that accepts an asynchronous run does it itself, within --concurrency")
	}
	return nil
}
