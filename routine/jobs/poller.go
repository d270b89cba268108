// Package jobs hands out the jobs of a store to the processes that share it, by asking the
// store for due jobs at intervals.
package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"rote/routine"
)

const (
	// claimInterval is how often the store is asked for due jobs.
	claimInterval = time.Second
	// repeatInterval is how often the store is asked whether a repeated job is due. The
	// first time comes soon after the start of a service, but most commands have ended
	// before.
	repeatInterval = 10 * time.Second
)

var _ routine.JobQueue = (*Poller)(nil)

// Store is what a Poller needs of a [routine.Store].
type Store interface {
	routine.QueueStore
	routine.WebhookStore
	routine.JobStore
}

// Poller is a [routine.JobQueue] on any store. A job may be handed out a second after it is
// due.
type Poller struct {
	Store Store
	Log   *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Work hands out jobs until ctx ends, and returns when all handlers have returned.
func (p *Poller) Work(ctx context.Context, handlers map[routine.JobKind]routine.JobHandler) {
	var all sync.WaitGroup
	for kind, h := range handlers {
		switch {
		case h.Every > 0:
			all.Go(func() { p.repeat(ctx, kind, h) })
		case kind == routine.JobWebhook:
			all.Go(func() { newWorker(p, h, newWebhooks(p, h).find).work(ctx) })
		case kind == routine.JobRun:
			all.Go(func() { newWorker(p, h, newRuns(p, h).find).work(ctx) })
		}
	}
	all.Wait()
}

// repeat does the repeated jobs of one kind when this process gets them, or, if all
// processes do them, each time.
func (p *Poller) repeat(ctx context.Context, kind routine.JobKind, h routine.JobHandler) {
	tick := time.NewTicker(repeatInterval)
	if h.Everywhere {
		tick.Reset(h.Every)
	}
	defer tick.Stop()
	healthy := true
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		mine, err := h.Everywhere, error(nil)
		if now := p.Now(); !mine {
			mine, err = p.Store.ClaimRepeated(ctx, kind, now, now.Add(h.Every))
		}
		if err == nil && mine {
			_, err = h.Do(ctx, &routine.Job{Kind: kind})
		}
		healthy = p.logFailure(ctx, healthy, err)
	}
}

// logFailure logs an error, unless the last attempt failed too, and returns whether there
// was none.
func (p *Poller) logFailure(ctx context.Context, healthy bool, err error) bool {
	if err != nil && healthy && ctx.Err() == nil {
		p.Log.ErrorContext(ctx, "jobs cannot be done", "error", err)
	}
	return err == nil
}
