package postgres

import (
	"context"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// ClaimRepeated claims a repeated job until next, unless it is claimed. It writes only if it
// may succeed.
func (s *Store) ClaimRepeated(ctx context.Context, kind routine.JobKind, now, next time.Time) (bool, error) {
	last := rows.Micros(now.Add(2 * next.Sub(now))) // a claim until later has expired
	var claimed bool
	err := s.queryRow(ctx, `SELECT EXISTS (SELECT 1 FROM repeated_jobs WHERE kind = $1 AND claimed_until > $2 AND claimed_until <= $3)`,
		string(kind), rows.Micros(now), last).Scan(&claimed)
	if err != nil || claimed {
		return false, rows.Wrap("read repeated job", err)
	}
	n, err := s.exec(ctx, `
		INSERT INTO repeated_jobs (kind, claimed_until) VALUES ($1, $3)
		ON CONFLICT (kind) DO UPDATE SET claimed_until = excluded.claimed_until
			WHERE repeated_jobs.claimed_until <= $2 OR repeated_jobs.claimed_until > $4`,
		string(kind), rows.Micros(now), rows.Micros(next), last)
	return n == 1, rows.Wrap("claim repeated job", err)
}
