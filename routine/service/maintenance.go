package service

import (
	"context"
	"errors"
	"rote/routine"
	"sync"
	"time"
)

// maintainInterval is the interval of Maintain's rounds. A run that is cancelled through
// another process ends within one interval.
const maintainInterval = 500 * time.Millisecond

// Every how many rounds the records of running operations are saved, executions of dead
// processes are looked for, and executions that are no longer kept are deleted.
const (
	progressRounds = 2
	recoveryRounds = 4
	pruneRounds    = 1200 // ten minutes
	// firstPrune is the round of the first deletion. It comes soon after the start of a
	// service, but most commands have ended before.
	firstPrune = 20
)

// Maintain does the background work of the service until ctx ends: it ends the runs that
// were cancelled through another process, saves the progress of runs, saves ends that
// could not be saved before, ends executions whose process has died, deletes executions
// that are no longer kept, and sends webhooks. Each process runs it in a goroutine of its
// own, from before the first execution until after Close.
func (s *Service) Maintain(ctx context.Context) {
	var webhooks sync.WaitGroup // a slow receiver keeps nothing else waiting
	webhooks.Go(func() { s.deliverWebhooks(ctx) })
	defer webhooks.Wait()
	tick := time.NewTicker(maintainInterval)
	defer tick.Stop()
	healthy := true
	for round := 1; ; round++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.saveUnsavedAtExit(ctx)
			return
		}
		err := s.endCancelledRuns(ctx)
		if round%progressRounds == 0 {
			err = errors.Join(err, s.saveProgress(ctx))
		}
		if round%recoveryRounds == 0 {
			err = errors.Join(err, s.saveUnsaved(ctx), s.endAbandonedExecutions(ctx))
		}
		if round%pruneRounds == firstPrune {
			err = errors.Join(err, s.prune(ctx))
		}
		if err != nil && healthy && ctx.Err() == nil { // once, not twice a second
			s.log.ErrorContext(ctx, "the ledger cannot be maintained", "error", err)
		}
		healthy = err == nil
	}
}

// prune deletes the executions that the retention of the service does not keep.
func (s *Service) prune(ctx context.Context) error {
	n, err := s.store.Prune(ctx, s.retention, s.now())
	if n > 0 {
		s.log.InfoContext(ctx, "deleted executions that are not kept any longer", "count", n)
	}
	return err
}

// endCancelledRuns ends the runs of this process that were cancelled through another.
func (s *Service) endCancelledRuns(ctx context.Context) error {
	if len(s.activeRuns()) == 0 {
		return nil
	}
	ids, err := s.store.CancelRequests(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if run := s.activeRun(id); run != nil {
			run.cancel(errCancelled)
		}
	}
	return nil
}

// saveProgress saves the records of runs that have more of them than are saved.
func (s *Service) saveProgress(ctx context.Context) error {
	var faults []error
	for _, run := range s.activeRuns() {
		records := run.operations()
		if len(records) == run.savedRecords {
			continue
		}
		err := s.store.SaveOperations(ctx, run.accepted.ID, records)
		// It is not an error that the run has ended meanwhile, or that RunOnce stores no
		// execution.
		if err != nil && !errors.Is(err, routine.ErrFinal) && !errors.Is(err, routine.ErrNotFound) {
			faults = append(faults, err)
			continue
		}
		run.savedRecords = len(records)
	}
	return errors.Join(faults...)
}
