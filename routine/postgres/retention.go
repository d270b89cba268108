package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

const (
	// pruneBatch limits how many executions one statement deletes, so that it does not
	// hold its locks for long.
	pruneBatch = 2000
	// sizeTimeout limits a query that adds up the sizes of executions.
	sizeTimeout = 5 * time.Minute
	// settleTime is after how long the size of an hour is kept, if none of its executions
	// is open: then it does not grow any more.
	settleTime = 2 * time.Hour
	// maxClockDifference is how far the clock of this machine may be ahead of the
	// database's without a warning.
	maxClockDifference = time.Minute
)

// Prune deletes the executions that retention does not keep, with their files, and expired
// idempotency keys, one-time codes and sign-ins. It returns the number of deleted executions. Several processes may
// prune at once: each skips the rows that another deletes. A process whose clock is ahead
// of the database's deletes by the time of the database.
func (s *Store) Prune(ctx context.Context, r routine.Retention, now time.Time) (int, error) {
	now, err := s.boundByDatabaseClock(ctx, now)
	if err != nil {
		return 0, rows.Wrap("prune executions", err)
	}
	before, err := s.pruneLimit(ctx, r, now)
	if err != nil {
		return 0, rows.Wrap("prune executions", err)
	}
	total := 0
	for {
		n, err := s.exec(ctx, `
			DELETE FROM executions WHERE id IN (
				SELECT id FROM executions WHERE created_at < $1 AND status IN ('completed', 'failed')
					AND NOT EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.made_id = executions.id AND k.created_at > $2)
					AND NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.execution_id = executions.id AND w.due_at IS NOT NULL)
				ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)`, before, expiredKeys(now), pruneBatch)
		total += int(n)
		if err != nil {
			return total, rows.Wrap("prune executions", err)
		}
		if n < pruneBatch {
			break
		}
	}
	if _, err = s.exec(ctx, `DELETE FROM ledger_sizes WHERE hour <= $1::bigint / 3600000000`, before); err != nil {
		return total, rows.Wrap("forget sizes", err)
	}
	if _, err = s.exec(ctx, `DELETE FROM idempotency_keys WHERE created_at <= $1`, expiredKeys(now)); err != nil {
		return total, rows.Wrap("prune idempotency keys", err)
	}
	return total, errors.Join(s.pruneCodes(ctx), s.pruneSignIns(ctx, now))
}

// databaseClock returns the time of the database.
func (s *Store) databaseClock(ctx context.Context) (time.Time, error) {
	var micros int64
	err := s.queryRow(ctx, `SELECT `+databaseMicros).Scan(&micros)
	return time.UnixMicro(micros).UTC(), err
}

// boundByDatabaseClock returns the earlier one of now and the time of the database. Each
// machine has a clock, and one that is wrong must not delete what others keep.
func (s *Store) boundByDatabaseClock(ctx context.Context, now time.Time) (time.Time, error) {
	database, err := s.databaseClock(ctx)
	if err != nil || now.Before(database) {
		return now, err
	}
	if ahead := now.Sub(database); ahead > maxClockDifference {
		s.config.Log.WarnContext(ctx, "the clock of this machine is ahead of the database's: executions are deleted by the database's",
			"ahead", fmt.Sprint(ahead.Round(time.Second)))
	}
	return database, nil
}

// pruneLimit returns the creation time in microseconds before which executions are
// deleted: by age or by total size, whichever is later.
func (s *Store) pruneLimit(ctx context.Context, r routine.Retention, now time.Time) (int64, error) {
	var before, bySize int64
	if r.Age > 0 {
		before = rows.Micros(now.Add(-r.Age))
	}
	if r.Size <= 0 {
		return before, nil
	}
	ctx, cancel := context.WithTimeout(ctx, sizeTimeout)
	defer cancel()
	begin := pgx.TxOptions{BeginQuery: beginQuery("", sizeTimeout)}
	err := pgx.BeginTxFunc(ctx, s.pool, begin, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, settleSizes, rows.Micros(now.Add(-settleTime))); err != nil {
			return err
		}
		found, err := collect(ctx, tx, func(scan rows.Scan) (limit int64, err error) { err = scan(&limit); return limit, err }, sizeLimit, r.Size)
		if err == nil && len(found) > 0 {
			bySize = found[0]
		}
		return err
	})
	return max(before, bySize), err
}

// hours are the hours since the epoch in which executions were created. It reads one entry
// of an index for each.
const hours = `WITH RECURSIVE hours (hour) AS (
		SELECT min(created_at) / 3600000000 FROM executions
		UNION ALL
		SELECT (SELECT min(created_at) FROM executions WHERE created_at >= (hour + 1) * 3600000000) / 3600000000
		FROM hours WHERE hour IS NOT NULL)`

// sizeOfHour adds up the sizes of the executions of an hour.
const sizeOfHour = `(SELECT coalesce(sum(size), 0)::bigint FROM executions
		WHERE created_at >= hours.hour * 3600000000 AND created_at < (hours.hour + 1) * 3600000000)`

// settleSizes saves the sizes of hours that ended before $1 and have no open execution, so
// that they need not be added up again.
const settleSizes = hours + `
	INSERT INTO ledger_sizes (hour, bytes)
	SELECT hour, ` + sizeOfHour + ` FROM hours
	WHERE (hour + 1) * 3600000000 <= $1 AND NOT EXISTS (SELECT 1 FROM ledger_sizes kept WHERE kept.hour = hours.hour)
		AND NOT EXISTS (SELECT 1 FROM executions WHERE status IN ('pending', 'running')
			AND created_at >= hours.hour * 3600000000 AND created_at < (hours.hour + 1) * 3600000000)
	ON CONFLICT (hour) DO NOTHING`

// sizeLimit selects the creation time before which executions are more than $1 bytes too
// much; no row if they are not. From the newest hour on, it looks for the hour that is too
// much, and then in this hour for the execution.
const sizeLimit = hours + `, sizes AS (
		SELECT hours.hour, coalesce(kept.bytes, ` + sizeOfHour + `) AS bytes
		FROM hours LEFT JOIN ledger_sizes kept ON kept.hour = hours.hour WHERE hours.hour IS NOT NULL),
	totals AS (SELECT hour, bytes, (sum(bytes) OVER (ORDER BY hour DESC))::bigint AS total FROM sizes),
	last AS (SELECT hour, total - bytes AS newer FROM totals WHERE total > $1 ORDER BY hour DESC LIMIT 1)
	SELECT coalesce((SELECT max(created_at) + 1 FROM (
			SELECT created_at, last.newer + sum(size) OVER (ORDER BY created_at DESC, id DESC) AS total FROM executions
			WHERE created_at >= last.hour * 3600000000 AND created_at < (last.hour + 1) * 3600000000) AS sums
		WHERE total > $1), last.hour * 3600000000)::bigint FROM last`
