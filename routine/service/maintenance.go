package service

import (
	"context"
	"errors"
	"sync"
	"time"

	"rote/routine"
)

// maintainInterval is the interval of Maintain's rounds, and after how long signals are
// listened for again when the store did not answer.
const maintainInterval = 500 * time.Millisecond

// Every how many rounds the records of running operations are saved, and executions of dead
// processes are looked for.
const (
	progressRounds = 4
	recoveryRounds = 4
)

// Maintain does the background work of the service until ctx ends: it ends the runs that
// were cancelled through another process, saves the progress of runs, saves ends that
// could not be saved before, ends executions whose process has died or that were queued for
// too long, and does the jobs that the queue of jobs hands to this process: it runs queued
// executions, sends webhooks and deletes executions that are no longer kept. Each process runs it in a goroutine of its own, from before the first
// execution until after Close.
func (s *Service) Maintain(ctx context.Context) {
	var others sync.WaitGroup // a slow receiver of webhooks keeps nothing else waiting
	others.Go(func() { s.jobs.Work(ctx, s.jobHandlers()) })
	others.Go(func() { s.listen(ctx) })
	defer others.Wait()
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
		var err error
		if round%progressRounds == 0 {
			err = s.saveProgress(ctx)
		}
		if round%recoveryRounds == 0 {
			err = errors.Join(err, s.saveUnsaved(ctx), s.endAbandonedExecutions(ctx), s.expireQueued(ctx))
		}
		if err != nil && healthy && ctx.Err() == nil { // once, not every two seconds
			s.log.ErrorContext(ctx, "the ledger cannot be maintained", "error", err)
		}
		if err != nil || round%recoveryRounds == 0 { // the other rounds may not have asked the store
			healthy = err == nil
		}
	}
}

// listen reacts to the signals of the store until ctx ends: it ends the runs of this
// process that were cancelled through another, and wakes those who wait for changes.
func (s *Service) listen(ctx context.Context) {
	retry := time.NewTicker(maintainInterval)
	defer retry.Stop()
	failing := false
	for {
		s.changes.begin()
		err := s.store.Signals(ctx, func(signal routine.Signal) {
			failing = false
			if signal.Changed {
				s.changes.wake()
			}
			s.cancelRun(signal.Cancel)
		})
		s.changes.end()
		if err != nil && !failing && ctx.Err() == nil { // once, not twice a second
			s.log.ErrorContext(ctx, "requests to cancel runs cannot be read", "error", err)
		}
		failing = err != nil
		select {
		case <-retry.C:
		case <-ctx.Done():
			return
		}
	}
}

// progressAge is how old a run must be for its progress to be saved. Most runs end
// before, and then the records are saved with the result.
const progressAge = 2 * time.Second

// saveProgress saves, all at once, the records of runs that have more of them than are
// saved. The store skips runs that have ended meanwhile, and those of RunOnce.
func (s *Service) saveProgress(ctx context.Context) error {
	began := s.now().Add(-progressAge)
	progress := map[string][]routine.OperationRecord{}
	var behind []*activeRun
	for _, run := range s.activeRuns() {
		if run.accepted.CreatedAt.After(began) {
			continue
		}
		if records := run.operations(); len(records) != run.savedRecords {
			progress[run.accepted.ID] = records
			behind = append(behind, run)
		}
	}
	if len(progress) == 0 {
		return nil
	}
	if err := s.store.SaveProgress(ctx, progress); err != nil {
		return err
	}
	for _, run := range behind {
		run.savedRecords = len(progress[run.accepted.ID])
	}
	return nil
}
