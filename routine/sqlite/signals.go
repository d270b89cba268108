package sqlite

import (
	"context"
	"fmt"
	"time"

	"rote/routine"
)

// signalInterval is how often Signals looks for news. SQLite cannot tell other
// processes of a commit, but the look at its counter of commits costs
// microseconds.
const signalInterval = 500 * time.Millisecond

// Signals calls heard for requests to cancel and for changes until ctx ends.
func (s *Store) Signals(ctx context.Context, heard func(routine.Signal)) error {
	tick := time.NewTicker(signalInterval)
	defer tick.Stop()
	var seen uint64 // commits
	var last *routine.Changes
	for {
		changes, err := s.Changes(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("signals: %w", err)
		}
		if last == nil || *last != changes {
			heard(routine.Signal{Changed: true})
			last = &changes
		}
		if commits := s.changes.commitsSeen.Load(); commits != seen {
			ids, err := s.cancelRequests(ctx)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return fmt.Errorf("signals: %w", err)
			}
			seen = commits
			for _, id := range ids {
				heard(routine.Signal{Cancel: id})
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
