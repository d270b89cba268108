package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// selectSchedule returns the columns that rows.ScanSchedule reads, of schedules s.
// Parameters are included only up to the given number of bytes.
func selectSchedule(parameters int) string {
	columns := `s.` + strings.Join(rows.ScheduleIdentity, `, s.`) + `, s.` + strings.Join(rows.ScheduleSettings, `, s.`)
	shown := fmt.Sprintf(`CASE WHEN octet_length(s.parameters) <= %d THEN s.parameters END`, parameters)
	return `SELECT ` + strings.Replace(columns, `s.parameters`, shown, 1) + fmt.Sprintf(`, octet_length(s.parameters) > %d,
		s.revision, s.last_at, s.last_execution_id, (SELECT status FROM executions WHERE id = s.last_execution_id), s.last_skip
		FROM schedules s `, parameters)
}

// placeholders returns the placeholders $from to $to separated by commas.
func placeholders(from, to int) string {
	var all []string
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprintf(`$%d`, i))
	}
	return strings.Join(all, `, `)
}

// CreateSchedule saves sc with its idempotency key. It returns [routine.ErrScheduleLimit],
// [routine.ErrKeyTaken] or [routine.ErrStateKey].
func (s *Store) CreateSchedule(ctx context.Context, sc *routine.Schedule, limit int) error {
	settings, err := rows.ScheduleSettingsOf(sc)
	if err != nil {
		return fmt.Errorf("create schedule: %w", err)
	}
	sealed, err := s.sealSchedule(ctx, sc)
	if err != nil {
		return fmt.Errorf("create schedule: %w", err)
	}
	values := append(append(rows.ScheduleIdentityOf(sc), settings...), sealed.Text, sealed.KeyID)
	columns := strings.Join(rows.ScheduleIdentity, `, `) + `, ` + strings.Join(rows.ScheduleSettings, `, `) + `, sealed, key_id`
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := saveIdempotencyKey(ctx, tx, sc.Key, sc.ID); err != nil {
			return err
		}
		// Others that create one for the organization wait, so that the count is right.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('rote schedules ' || $1, 0))`, sc.OrganizationID); err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM schedules WHERE organization_id = $1`, sc.OrganizationID).Scan(&count); err != nil {
			return err
		}
		if count >= limit {
			return routine.ErrScheduleLimit
		}
		_, err := tx.Exec(ctx, `INSERT INTO schedules (`+columns+`) VALUES (`+placeholders(1, len(values))+`)`, values...)
		return err
	})
	return rows.Wrap("create schedule", err)
}

// sealSchedule encrypts the values of sc.
func (s *Store) sealSchedule(ctx context.Context, sc *routine.Schedule) (sealed rows.Sealed, err error) {
	if sealed, err = s.sealer.SealSchedule(sc.ID, sc.Values, false); err != nil {
		return sealed, err
	}
	return sealed, s.useKey(ctx, sealed)
}

// UpdateSchedule replaces the settings of a schedule. It returns [routine.ErrStale],
// [routine.ErrNotFound] or [routine.ErrStateKey].
func (s *Store) UpdateSchedule(ctx context.Context, sc *routine.Schedule, c routine.ScheduleChange) error {
	settings, err := rows.ScheduleSettingsOf(sc)
	if err != nil {
		return fmt.Errorf("update schedule: %w", err)
	}
	columns, values := append([]string{}, rows.ScheduleSettings...), append([]any{value(sc.ID), sc.Revision}, settings...)
	if c.Times {
		columns = append(columns, "next_at", "moved_at")
		values = append(values, rows.NullMicros(sc.NextAt), rows.Micros(sc.MovedAt))
	}
	if sc.Values != nil {
		sealed, err := s.sealSchedule(ctx, sc)
		if err != nil {
			return fmt.Errorf("update schedule: %w", err)
		}
		columns, values = append(columns, "sealed", "key_id"), append(values, sealed.Text, sealed.KeyID)
	}
	set := `revision = revision + 1, `
	if c.Data {
		set += `data_hash = NULL, data_execution_id = '', `
	}
	n, err := s.exec(ctx, `UPDATE schedules SET `+set+`(`+strings.Join(columns, `, `)+`)
		= ROW (`+placeholders(3, len(values))+`) WHERE id = $1 AND revision = $2`, values...)
	if err == nil && n == 0 {
		if _, err = s.Schedule(ctx, sc.ID); err == nil {
			err = routine.ErrStale
		}
	}
	return rows.Wrap("update schedule "+sc.ID, err)
}

// DeleteSchedule deletes a schedule. It returns [routine.ErrNotFound].
func (s *Store) DeleteSchedule(ctx context.Context, id string) error {
	n, err := s.exec(ctx, `DELETE FROM schedules WHERE id = $1`, value(id))
	if err == nil && n == 0 {
		err = routine.ErrNotFound
	}
	return rows.Wrap("delete schedule "+id, err)
}

// Schedule returns one schedule. It returns [routine.ErrNotFound].
func (s *Store) Schedule(ctx context.Context, id string) (*routine.Schedule, error) {
	sc, err := rows.ScanSchedule(s.queryRow(ctx, selectSchedule(math.MaxInt32)+`WHERE s.id = $1`, value(id)).Scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = routine.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read schedule %s: %w", id, err)
	}
	return sc, nil
}

// ScheduleValues decrypts the values of a schedule. It returns [routine.ErrNotFound],
// [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) ScheduleValues(ctx context.Context, id string) (json.RawMessage, error) {
	var sealed rows.Sealed
	err := s.queryRow(ctx, `SELECT sealed, key_id FROM schedules WHERE id = $1`, value(id)).Scan(&sealed.Text, &sealed.KeyID)
	if errors.Is(err, pgx.ErrNoRows) {
		err = routine.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read values of schedule %s: %w", id, err)
	}
	return s.sealer.OpenSchedule(id, sealed)
}

// Schedules lists the matches of f, newest first.
func (s *Store) Schedules(ctx context.Context, f routine.ScheduleFilter) (list []*routine.Schedule, total int, err error) {
	const where = `WHERE s.organization_id = $1 AND (NOT $2::boolean OR s.routine_id = $3)`
	args := []any{value(f.OrganizationID), f.RoutineID != "", value(f.RoutineID)}
	err = s.snapshot(ctx, func(ctx context.Context, q queryer) (err error) {
		if list, err = collect(ctx, q, rows.ScanSchedule, selectSchedule(routine.MaxListedParameters)+where+`
			ORDER BY s.created_at DESC, s.id DESC LIMIT $4 OFFSET $5`, append(args[:3:3], limitOf(f.Limit), f.Offset)...); err != nil {
			return err
		}
		return q.QueryRow(ctx, `SELECT count(*) FROM schedules s `+where, args...).Scan(&total)
	})
	return list, total, rows.Wrap("list schedules", err)
}

// dueSchedules selects the columns of selectSchedule of the schedules that are due at $1.
var dueSchedules = `
	WITH due AS (
		SELECT id, organization_id, next_at FROM schedules WHERE enabled AND next_at <= $1
		UNION ALL
		SELECT id, organization_id, next_at FROM schedules WHERE enabled AND moved_at > $1::bigint + $2::bigint AND next_at > $1),
	turns AS MATERIALIZED (
		SELECT id, next_at, row_number() OVER (PARTITION BY organization_id ORDER BY next_at, id) AS turn FROM due ORDER BY turn, next_at, id LIMIT $3)
	` + selectSchedule(0) + `JOIN turns ON turns.id = s.id ORDER BY turns.turn, turns.next_at, s.id`

// DueSchedules lists the schedules that are due by the clock of the database. The clock of a
// process does not count: one that is behind would move schedules back to times for which
// another process has started runs.
func (s *Store) DueSchedules(ctx context.Context, now time.Time, limit int) (list []*routine.Schedule, at time.Time, err error) {
	if at, err = s.ScheduleClock(ctx, now); err != nil {
		return nil, at, err
	}
	err = s.read(ctx, func(ctx context.Context) (err error) {
		list, err = collect(ctx, s.pool, rows.ScanSchedule, dueSchedules, rows.Micros(at), rows.WrongClock, limit)
		return err
	})
	return list, at, rows.Wrap("find due schedules", err)
}

// ScheduleClock returns the time of the clock of the database.
func (s *Store) ScheduleClock(ctx context.Context, _ time.Time) (time.Time, error) {
	at, err := s.databaseClock(ctx)
	return at, rows.Wrap("read the clock of the database", err)
}

// claimSchedule returns the statement that makes the claim of an execution, and adds its
// arguments.
func claimSchedule(args pgx.NamedArgs, e *routine.Execution) string {
	c := e.Claim
	args["claim_id"], args["claim_revision"], args["claim_due"] = c.ID, c.Revision, rows.Micros(c.Due)
	args["claim_next"], args["claim_moved"] = rows.Micros(c.Next), rows.Micros(c.MovedAt)
	return `UPDATE schedules SET next_at = @claim_next, moved_at = @claim_moved, last_at = @claim_due, last_execution_id = @id
		WHERE id = @claim_id AND revision = @claim_revision AND next_at = @claim_due AND enabled`
}

// MoveSchedule makes a claim without a run. It returns [routine.ErrNotDue].
func (s *Store) MoveSchedule(ctx context.Context, c *routine.ScheduleClaim, skip *routine.Skip) error {
	text, err := rows.EncodeOptional(skip)
	if err != nil {
		return fmt.Errorf("move schedule: %w", err)
	}
	n, err := s.exec(ctx, `UPDATE schedules SET next_at = $1, moved_at = $2, last_skip = coalesce($3, last_skip)
		WHERE id = $4 AND revision = $5 AND next_at = $6 AND enabled`,
		rows.Micros(c.Next), rows.Micros(c.MovedAt), text, value(c.ID), c.Revision, rows.Micros(c.Due))
	if err == nil && n == 0 {
		err = routine.ErrNotDue
	}
	return rows.Wrap("move schedule "+c.ID, err)
}

// CompareScheduleData saves the hash of the data of an execution and reports whether it is
// another than that before. It returns [routine.ErrNotFound].
func (s *Store) CompareScheduleData(ctx context.Context, id, executionID string, hash [32]byte) (changed bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var before []byte
		var of string
		var answered bool
		err := tx.QueryRow(ctx, `SELECT data_hash, data_execution_id, data_changed FROM schedules WHERE id = $1 FOR UPDATE`, value(id)).
			Scan(&before, &of, &answered)
		if errors.Is(err, pgx.ErrNoRows) {
			return routine.ErrNotFound
		}
		if err != nil {
			return err
		}
		var save bool
		if changed, save = rows.DataChange(before, of, answered, executionID, hash); !save {
			return nil
		}
		_, err = tx.Exec(ctx, `UPDATE schedules SET data_hash = $1, data_execution_id = $2, data_changed = $3 WHERE id = $4`, hash[:], executionID, changed, id)
		return err
	})
	return changed, rows.Wrap("compare data of schedule "+id, err)
}
