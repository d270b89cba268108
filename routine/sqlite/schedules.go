package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// selectSchedule returns the columns that rows.ScanSchedule reads, of schedules s.
// Parameters are included only up to the given number of bytes.
func selectSchedule(parameters int) string {
	columns := `s.` + strings.Join(rows.ScheduleIdentity, `, s.`) + `, s.` + strings.Join(rows.ScheduleSettings, `, s.`)
	shown := fmt.Sprintf(`iif(octet_length(s.parameters) <= %d, s.parameters, NULL)`, parameters)
	return `SELECT ` + strings.Replace(columns, `s.parameters`, shown, 1) + fmt.Sprintf(`, octet_length(s.parameters) > %d,
		s.revision, s.last_at, s.last_execution_id, (SELECT status FROM executions WHERE id = s.last_execution_id), s.last_skip
		FROM schedules s `, parameters)
}

// placeholders returns n placeholders separated by commas.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat(`?, `, n), `, `) }

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
	err = s.inTxIf(ctx, sc.Key != nil, func(tx writer) error {
		if err := saveIdempotencyKey(ctx, tx, sc.Key, sc.ID); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO schedules (`+columns+`) SELECT `+placeholders(len(values))+`
			WHERE (SELECT count(*) FROM schedules WHERE organization_id = ?) < ?`, append(values, sc.OrganizationID, limit)...)
		return changedOne(done, err, routine.ErrScheduleLimit)
	})
	return rows.Wrap("create schedule", err)
}

// changedOne returns otherwise if a statement changed no row.
func changedOne(done sql.Result, err, otherwise error) error {
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return otherwise
	}
	return err
}

// sealSchedule encrypts the values of sc. If nothing has been encrypted before, a missing
// key is created.
func (s *Store) sealSchedule(ctx context.Context, sc *routine.Schedule) (sealed rows.Sealed, err error) {
	if rows.NoValues(sc.Values) {
		return sealed, nil
	}
	others, err := s.hasSealed(ctx)
	if err != nil {
		return sealed, err
	}
	if sealed, err = s.sealer.SealSchedule(sc.ID, sc.Values, !others); err != nil {
		return sealed, err
	}
	return sealed, s.registerKey(ctx, s.write, sealed)
}

// hasSealed reports whether something is stored that was encrypted with a state key.
func (s *Store) hasSealed(ctx context.Context) (found bool, err error) {
	query := `SELECT EXISTS (SELECT 1 FROM key_ring)`
	for _, kind := range rows.SealedKinds {
		query += ` OR EXISTS (SELECT 1 FROM ` + kind.Table + ` WHERE ` + kind.Text + ` IS NOT NULL)`
	}
	err = s.read.QueryRowContext(ctx, query).Scan(&found)
	return found, err
}

// UpdateSchedule replaces the settings of a schedule. It returns [routine.ErrStale],
// [routine.ErrNotFound] or [routine.ErrStateKey].
func (s *Store) UpdateSchedule(ctx context.Context, sc *routine.Schedule, c routine.ScheduleChange) error {
	values, err := rows.ScheduleSettingsOf(sc)
	if err != nil {
		return fmt.Errorf("update schedule: %w", err)
	}
	set := strings.Join(rows.ScheduleSettings, ` = ?, `) + ` = ?, revision = revision + 1`
	if c.Data {
		set += `, data_hash = NULL, data_execution_id = ''`
	}
	if c.Times {
		set += `, next_at = ?, moved_at = ?`
		values = append(values, rows.NullMicros(sc.NextAt), rows.Micros(sc.MovedAt))
	}
	if sc.Values != nil {
		sealed, err := s.sealSchedule(ctx, sc)
		if err != nil {
			return fmt.Errorf("update schedule: %w", err)
		}
		set += `, sealed = ?, key_id = ?`
		values = append(values, sealed.Text, sealed.KeyID)
	}
	done, err := s.write.ExecContext(ctx, `UPDATE schedules SET `+set+` WHERE id = ? AND revision = ?`, append(values, sc.ID, sc.Revision)...)
	err = changedOne(done, err, routine.ErrStale)
	if errors.Is(err, routine.ErrStale) {
		if _, missing := s.Schedule(ctx, sc.ID); missing != nil {
			err = missing
		}
	}
	return rows.Wrap("update schedule "+sc.ID, err)
}

// DeleteSchedule deletes a schedule. It returns [routine.ErrNotFound].
func (s *Store) DeleteSchedule(ctx context.Context, id string) error {
	done, err := s.write.ExecContext(ctx, `DELETE FROM schedules WHERE id = ?`, id)
	return rows.Wrap("delete schedule "+id, changedOne(done, err, routine.ErrNotFound))
}

// Schedule returns one schedule. It returns [routine.ErrNotFound].
func (s *Store) Schedule(ctx context.Context, id string) (*routine.Schedule, error) {
	sc, err := rows.ScanSchedule(s.read.QueryRowContext(ctx, selectSchedule(math.MaxInt)+`WHERE s.id = ?`, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
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
	err := s.read.QueryRowContext(ctx, `SELECT sealed, key_id FROM schedules WHERE id = ?`, id).Scan(&sealed.Text, &sealed.KeyID)
	if errors.Is(err, sql.ErrNoRows) {
		err = routine.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read values of schedule %s: %w", id, err)
	}
	return s.sealer.OpenSchedule(id, sealed)
}

// Schedules lists the matches of f, newest first.
func (s *Store) Schedules(ctx context.Context, f routine.ScheduleFilter) (list []*routine.Schedule, total int, err error) {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, fmt.Errorf("list schedules: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	where, args := `WHERE s.organization_id = ?`, []any{f.OrganizationID}
	if f.RoutineID != "" {
		where, args = where+` AND s.routine_id = ?`, append(args, f.RoutineID)
	}
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM schedules s `+where, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count schedules: %w", err)
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	list, err = querySchedules(ctx, tx, selectSchedule(routine.MaxListedParameters)+where+` ORDER BY s.created_at DESC, s.id DESC LIMIT ? OFFSET ?`,
		append(args, limit, f.Offset)...)
	return list, total, rows.Wrap("list schedules", err)
}

func querySchedules(ctx context.Context, q interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, query string, args ...any) ([]*routine.Schedule, error) {
	found, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	list := []*routine.Schedule{}
	for found.Next() {
		sc, err := rows.ScanSchedule(found.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, sc)
	}
	return list, found.Err()
}

// dueSchedules selects the columns of selectSchedule of the schedules that are due at ?1. The
// unary plus keeps SQLite from looking for those that a wrong clock has moved by next_at.
var dueSchedules = `
	WITH due AS (
		SELECT id, organization_id, next_at FROM schedules WHERE enabled AND next_at <= ?1
		UNION ALL
		SELECT id, organization_id, next_at FROM schedules WHERE enabled AND moved_at > ?1 + ?2 AND +next_at > ?1),
	turns AS MATERIALIZED (
		SELECT id, next_at, row_number() OVER (PARTITION BY organization_id ORDER BY next_at, id) AS turn FROM due ORDER BY turn, next_at, id LIMIT ?3)
	` + selectSchedule(0) + `JOIN turns ON turns.id = s.id ORDER BY turns.turn, turns.next_at, s.id`

// DueSchedules lists the schedules that are due. All processes have the clock of one machine.
func (s *Store) DueSchedules(ctx context.Context, now time.Time, limit int) ([]*routine.Schedule, time.Time, error) {
	list, err := querySchedules(ctx, s.read, dueSchedules, rows.Micros(now), rows.WrongClock, limit)
	return list, now, rows.Wrap("find due schedules", err)
}

// ScheduleClock returns now.
func (s *Store) ScheduleClock(_ context.Context, now time.Time) (time.Time, error) { return now, nil }

// moveSchedule is the statement of a claim, to which what is recorded is added. Its last
// arguments are those of moveArgs.
const moveSchedule = `UPDATE schedules SET next_at = ?1, moved_at = ?2, %s WHERE id = ?3 AND revision = ?4 AND next_at = ?5 AND enabled`

func moveArgs(c *routine.ScheduleClaim, more ...any) []any {
	return append([]any{rows.Micros(c.Next), rows.Micros(c.MovedAt), c.ID, c.Revision, rows.Micros(c.Due)}, more...)
}

// claimSchedule makes the claim of an execution in the transaction that creates it.
func claimSchedule(ctx context.Context, tx writer, e *routine.Execution) error {
	if e.Claim == nil {
		return nil
	}
	done, err := tx.ExecContext(ctx, fmt.Sprintf(moveSchedule, `last_at = ?5, last_execution_id = ?6`), moveArgs(e.Claim, e.ID)...)
	return changedOne(done, err, routine.ErrNotDue)
}

// MoveSchedule makes a claim without a run. It returns [routine.ErrNotDue].
func (s *Store) MoveSchedule(ctx context.Context, c *routine.ScheduleClaim, skip *routine.Skip) error {
	text, err := rows.EncodeOptional(skip)
	if err != nil {
		return fmt.Errorf("move schedule: %w", err)
	}
	done, err := s.write.ExecContext(ctx, fmt.Sprintf(moveSchedule, `last_skip = coalesce(?6, last_skip)`), moveArgs(c, text)...)
	return rows.Wrap("move schedule "+c.ID, changedOne(done, err, routine.ErrNotDue))
}

// CompareScheduleData saves the hash of the data of an execution and reports whether it is
// another than that before. It returns [routine.ErrNotFound].
func (s *Store) CompareScheduleData(ctx context.Context, id, executionID string, hash [32]byte) (changed bool, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		var before []byte
		var of string
		err := tx.QueryRowContext(ctx, `SELECT data_hash, data_execution_id, data_changed FROM schedules WHERE id = ?`, id).Scan(&before, &of, &changed)
		if errors.Is(err, sql.ErrNoRows) {
			return routine.ErrNotFound
		}
		if err != nil {
			return err
		}
		answer, save := rows.DataChange(before, of, changed, executionID, hash)
		changed = answer
		if !save {
			return nil
		}
		_, err = tx.ExecContext(ctx, `UPDATE schedules SET data_hash = ?, data_execution_id = ?, data_changed = ? WHERE id = ?`, hash[:], executionID, changed, id)
		return err
	})
	return changed, rows.Wrap("compare data of schedule "+id, err)
}
