package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// sightings are what this Store has seen of other owners.
type sightings struct {
	timing timing
	mu     sync.Mutex
	seen   map[string]sighting
}

// sighting is a beat, and the first and last time at which it was seen.
type sighting struct {
	beat        int64
	first, last time.Time
}

// look records the beats of all other owners and returns the owners that are dead.
func (v *sightings) look(beats map[string]int64, now time.Time) (dead map[string]int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.seen
	v.seen, dead = map[string]sighting{}, map[string]int64{}
	for id, beat := range beats {
		if beat == noOwnerRow {
			dead[id] = beat
			continue
		}
		seen, known := before[id]
		if !known || seen.beat != beat || now.Sub(seen.last) > v.timing.maxLookGap {
			seen = sighting{beat: beat, first: now}
		}
		seen.last = now
		v.seen[id] = seen
		if now.Sub(seen.first) >= v.timing.deadAfter {
			dead[id] = beat
		}
	}
	return dead
}

// forget makes earlier looks count no more. It reports whether any owner had been seen.
func (v *sightings) forget() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	had := len(v.seen) > 0
	v.seen = map[string]sighting{}
	return had
}

// noOwnerRow is the beat of an owner of open executions that has no row.
const noOwnerRow = -1

// RecoverExecutions fails the open executions of dead owners and returns their number. An
// owner is dead only after some calls; see above.
func (s *Store) RecoverExecutions(ctx context.Context, at time.Time) (int, error) {
	if err := s.checkStillCompatible(ctx); err != nil {
		return 0, rows.Wrap("recover executions", err)
	}
	began := time.Now() // a beat is at least as new
	total, err := s.endDoubtful(ctx, at)
	if err != nil {
		return 0, rows.Wrap("recover executions", err)
	}
	beats, err := s.otherBeats(ctx)
	if err != nil {
		return total, rows.Wrap("recover executions", err)
	}
	if err := s.checkBeatsAreSaved(ctx); err != nil {
		if s.others.forget() { // once, not at each look
			s.config.Log.WarnContext(ctx, "the database takes no signs of life, so executions of processes that have died are not ended", "error", err)
		}
		return total, nil // a process that only reads can do its work
	}
	var faults []error
	for id, beat := range s.others.look(beats, began) {
		n, err := s.recoverFrom(ctx, id, beat, at)
		total += n
		if err != nil {
			faults = append(faults, fmt.Errorf("recover executions of owner %s: %w", id, err))
		}
	}
	return total, errors.Join(faults...)
}

// checkStillCompatible returns an error if a newer program has changed the schema meanwhile so
// that this one might take the executions of others for those of dead owners.
func (s *Store) checkStillCompatible(ctx context.Context) error {
	known, err := knownSchema()
	if err != nil {
		return err
	}
	var needed int64
	if err := s.queryRow(ctx, `SELECT coalesce(max(min_schema), 0) FROM compatibility`).Scan(&needed); err != nil {
		return err
	}
	if needed > known {
		return fmt.Errorf("a newer rote has changed the schema (it needs version %d; this program knows %d), so this process ends no executions of others: "+
			"upgrade rote", needed, known)
	}
	return nil
}

// checkBeatsAreSaved returns nil if the database has just taken a beat of this Store, or
// would take one if the Store had an owner row. If it can be read but not changed, for
// example while a standby takes over, then all owners are silent, and none is dead.
//
// A beat may be as old as maxLookGap: all owners beat until at most beatInterval before the
// database refused it, and the sum of both is less than deadAfter.
func (s *Store) checkBeatsAreSaved(ctx context.Context) error {
	id, claimed, age := s.owner.lastBeat()
	if !claimed {
		_, err := s.exec(ctx, `UPDATE owners SET beat = beat WHERE id = $1`, id) // changes no row
		return err
	}
	if age > s.config.timing.maxLookGap {
		return fmt.Errorf("the last beat of this process is %s old", age.Round(time.Millisecond))
	}
	return nil
}

// otherBeats returns the beats of all owners except this Store.
func (s *Store) otherBeats(ctx context.Context) (map[string]int64, error) {
	self, _, _ := s.owner.state()
	beats := map[string]int64{}
	err := s.read(ctx, func(ctx context.Context) error {
		_, err := collect(ctx, s.pool, func(scan rows.Scan) (id string, err error) {
			var beat int64
			err = scan(&id, &beat)
			beats[id] = beat
			return id, err
		}, `
			WITH RECURSIVE open (owner) AS ( -- each owner costs one step in the index, however many executions it has
				SELECT min(owner) FROM executions WHERE status IN ('pending', 'running')
				UNION ALL
				SELECT (SELECT min(owner) FROM executions WHERE status IN ('pending', 'running') AND owner > open.owner) FROM open WHERE open.owner IS NOT NULL)
			SELECT id, beat FROM owners WHERE id <> $1
			UNION ALL
			SELECT owner, -1::bigint FROM open WHERE owner NOT IN ($1, '') AND NOT EXISTS (SELECT 1 FROM owners WHERE owners.id = open.owner)`, self)
		return err
	})
	return beats, err
}

// recoverFrom fails the open executions of an owner and deletes its row, unless it has
// beaten since.
func (s *Store) recoverFrom(ctx context.Context, id string, beat int64, at time.Time) (int, error) {
	const failOpen = `UPDATE executions SET status = 'failed', error = $2, error_code = $3, completed_at = $4,
			duration_seconds = greatest($4::bigint - created_at, 0) / 1000000.0
		WHERE status IN ('pending', 'running') AND `
	args := []any{id, []byte(rows.Interrupted), string(routine.CodeInterrupted), rows.Micros(at)}
	if beat == noOwnerRow { // ids are not used again, so a row cannot appear
		n, err := s.exec(ctx, failOpen+`owner = $1 AND NOT EXISTS (SELECT 1 FROM owners WHERE id = $1)`, args...)
		return int(n), err
	}
	// The rows that DELETE returns decide, and not a look at the table. If the statement has
	// waited for a beat, a look would still see the row as it was before.
	n, err := s.exec(ctx, `WITH gone AS (DELETE FROM owners WHERE id = $1 AND beat = $5 RETURNING id)
		`+failOpen+`owner IN (SELECT id FROM gone)`, append(args, beat)...)
	return int(n), err
}
