package service

import (
	"context"
	"errors"
	"maps"
	"rote/routine"
	"slices"
	"sync"
	"time"
)

// beatTime is the rhythm of Maintain. A run is ended within one beat of being
// cancelled through another process.
const beatTime = 500 * time.Millisecond

// In beats: how often the records of running operations are saved, how often
// rows are looked for that a dead process has left open, and how often what is
// not kept any longer is deleted.
const (
	progressBeats = 2
	recoveryBeats = 4
	pruneBeats    = 1200 // ten minutes
)

// Maintain keeps the ledger true until ctx ends: it ends the runs that were
// cancelled through another process, saves what running ones have done so far,
// saves ends that could not be saved before, ends what processes that have died
// left open, deletes what is not kept any longer, and sends webhooks. Each process runs it, in a goroutine of its own, from before
// the first execution until after Close.
func (s *Service) Maintain(ctx context.Context) {
	var webhooks sync.WaitGroup // a slow receiver keeps nothing else waiting
	webhooks.Go(func() { s.deliverWebhooks(ctx) })
	defer webhooks.Wait()
	tick := time.NewTicker(beatTime)
	defer tick.Stop()
	healthy := true
	for beat := 1; ; beat++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.saveLast(ctx)
			return
		}
		err := s.heedCancelRequests(ctx)
		if beat%progressBeats == 0 {
			err = errors.Join(err, s.saveProgress(ctx))
		}
		if beat%recoveryBeats == 0 {
			err = errors.Join(err, s.saveAgain(ctx), s.recover(ctx))
		}
		if beat%pruneBeats == firstPrune {
			err = errors.Join(err, s.prune(ctx))
		}
		if err != nil && healthy && ctx.Err() == nil { // once, not twice a second
			s.log.ErrorContext(ctx, "the ledger cannot be maintained", "error", err)
		}
		healthy = err == nil
	}
}

// firstPrune comes soon after the start, but not within most command lines.
const firstPrune = 20

func (s *Service) prune(ctx context.Context) error {
	n, err := s.store.Prune(ctx, s.retention, s.now())
	if n > 0 {
		s.log.InfoContext(ctx, "deleted executions that are not kept any longer", "count", n)
	}
	return err
}

func (s *Service) heedCancelRequests(ctx context.Context) error {
	s.mu.Lock()
	idle := len(s.running) == 0
	s.mu.Unlock()
	if idle {
		return nil
	}
	ids, err := s.store.CancelRequests(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if l := s.live(id); l != nil {
			l.cancel(cancelled())
		}
	}
	return nil
}

// saveProgress saves the records of runs that have more than were saved before.
func (s *Service) saveProgress(ctx context.Context) error {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	var faults []error
	for _, l := range all {
		records := l.done()
		if len(records) == l.saved {
			continue
		}
		err := s.store.SaveOperations(ctx, l.accepted.ID, records)
		// It may have ended meanwhile, and what RunOnce runs has no row.
		if err != nil && !errors.Is(err, routine.ErrFinal) && !errors.Is(err, routine.ErrNotFound) {
			faults = append(faults, err)
			continue
		}
		l.saved = len(records)
	}
	return errors.Join(faults...)
}
