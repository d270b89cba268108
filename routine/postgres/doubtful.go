package postgres

import (
	"context"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

const (
	// doubtTime is how long an execution is looked for whose creation or claim was not
	// confirmed. Its statement may take effect long after the caller has left: a pooler does
	// not pass on statementTimeout, and a commit may wait for a standby.
	doubtTime = 30 * time.Minute
	// claimPause is how long this Store does not claim an execution whose claim was not
	// confirmed. Nearly all statements have ended after that.
	claimPause = 3 * statementTimeout
)

// doubtful is an execution whose creation or claim failed in a way that leaves open whether
// it happened. Nobody runs it if it did, except that another process may have claimed a
// queued one.
type doubtful struct {
	since time.Time
	// queued reports whether it was to be created as queued. Otherwise it has this owner
	// if it was created or claimed.
	queued bool
}

// doubt remembers a doubtful execution.
func (o *owner) doubt(id string, d doubtful) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d.since = time.Now()
	o.doubtful[id] = d
}

// startClaim reports whether this Store may claim an execution, and whether it was doubtful.
// One that is must not be claimed: it might be ended as doubtful while it runs. After
// claimPause, the claim of an execution that was queued before is no longer doubtful. The
// caller calls doubt if it does not get the execution, because the earlier claim may be
// the reason.
func (o *owner) startClaim(id string) (allowed, doubted bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d, doubted := o.doubtful[id]
	if !doubted {
		return true, false
	}
	if d.queued || o.endingDoubtful || time.Since(d.since) < claimPause {
		return false, true
	}
	delete(o.doubtful, id)
	return true, true
}

// endDoubtful fails those of the doubtful executions that were created or claimed after
// all.
func (s *Store) endDoubtful(ctx context.Context, at time.Time) (int, error) {
	o := &s.owner
	o.mu.Lock()
	var ids, queued, settled []string
	for id, d := range o.doubtful {
		ids = append(ids, id)
		if d.queued {
			queued = append(queued, id)
		}
		if time.Since(d.since) > doubtTime {
			settled = append(settled, id)
		}
	}
	self := o.id
	o.endingDoubtful = len(ids) > 0
	o.mu.Unlock()
	if len(ids) == 0 {
		return 0, nil
	}
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.endingDoubtful = false
	}()
	// If this Store has a new id since, others end the executions of the old one.
	n, err := s.exec(ctx, `
		WITH ended AS (
			UPDATE executions SET status = 'failed', error = $3, error_code = $4, completed_at = $5,
				duration_seconds = greatest($5::bigint - created_at, 0) / 1000000.0
			WHERE id = ANY($1) AND `+stillOpen+` AND (owner = $6 OR owner = '' AND id = ANY($2)) RETURNING id),
		calls AS (DELETE FROM execution_calls WHERE execution_id IN (SELECT id FROM ended))
		SELECT id FROM ended`,
		ids, queued, []byte("the database did not confirm that it was saved, so it was not run"), string(routine.CodeInterrupted), rows.Micros(at), self)
	if err != nil {
		return 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range settled {
		delete(o.doubtful, id)
	}
	return int(n), nil
}
