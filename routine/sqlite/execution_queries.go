package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"rote/routine"
	"rote/routine/rows"
)

// executionColumns returns the columns that lists read too. Parameters are
// included only up to the given number of bytes.
func executionColumns(parameters int) string {
	return fmt.Sprintf(`executions.id, routine_id, routine_name, routine_version, status, error, error_code,
	executions.created_at, started_at, completed_at, duration_seconds, iif(octet_length(parameters) <= %d, parameters, NULL),
	coalesce(octet_length(parameters), 0) > %[1]d, created_by, token_id, via,
	operations_done, operations_total, organization_id, schedule_id`, parameters)
}

// Execution reads one execution. It returns [routine.ErrNotFound].
func (s *Store) Execution(ctx context.Context, id string) (*routine.Execution, error) {
	var (
		d    rows.ExecutionDetails
		hash []byte
	)
	e, err := rows.ScanExecution(s.read.QueryRowContext(ctx,
		`SELECT `+executionColumns(math.MaxInt)+`, result, result_hash, operations, evidence FROM executions WHERE id = ?`, id).Scan,
		&d.Result, &hash, &d.Operations, &d.Evidence)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("execution %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read execution: %w", err)
	}
	if hash != nil {
		if d.Result, err = s.readBlob(hash); err != nil {
			return nil, fmt.Errorf("read result of execution %s: %w", id, err)
		}
	}
	if err := d.Decode(e); err != nil {
		return nil, err
	}
	if e.Files, err = s.fileInfos(ctx, id); err != nil {
		return nil, fmt.Errorf("read files of execution %s: %w", id, err)
	}
	return e, nil
}

// executionMatches returns the tables and conditions of the executions that match f.
func executionMatches(f routine.ExecutionFilter) (where string, args []any) {
	where, args = ` FROM executions WHERE organization_id = ?`, []any{f.OrganizationID}
	if f.RoutineID != "" {
		where, args = where+` AND routine_id = ?`, append(args, f.RoutineID)
	}
	if f.ScheduleID != "" { // as in the partial index executions_of_schedule
		where, args = where+` AND schedule_id = ? AND schedule_id <> ''`, append(args, f.ScheduleID)
	}
	if f.Status != "" {
		where, args = where+` AND status = ?`, append(args, f.Status)
	}
	return where, args
}

// executionPageQuery selects a page of the executions of executionMatches. Its last arguments
// are the limit and the offset. The page is chosen by an index alone; only its rows are read.
func executionPageQuery(where string) string {
	return `WITH page AS (SELECT id, created_at` + where + ` ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?)
		SELECT ` + executionColumns(routine.MaxListedParameters) + ` FROM page JOIN executions USING (id) ORDER BY page.created_at DESC, id DESC`
}

// Executions lists the matches of f, newest first.
func (s *Store) Executions(ctx context.Context, f routine.ExecutionFilter) ([]*routine.Execution, int, error) {
	// One transaction, so that page and total are of the same moment.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, fmt.Errorf("list executions: %w", err)
	}
	defer func() { _ = tx.Rollback() }()

	where, args := executionMatches(f)
	var total int
	if err := tx.QueryRowContext(ctx, countQuery(`SELECT 1`+where), args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count executions: %w", err)
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	found, err := tx.QueryContext(ctx, executionPageQuery(where), append(args, limit, f.Offset)...)
	if err != nil {
		return nil, 0, fmt.Errorf("list executions: %w", err)
	}
	defer found.Close()
	list := []*routine.Execution{}
	for found.Next() {
		e, err := rows.ScanExecution(found.Scan)
		if err != nil {
			return nil, 0, fmt.Errorf("list executions: %w", err)
		}
		list = append(list, e)
	}
	if err := found.Err(); err != nil {
		return nil, 0, fmt.Errorf("list executions: %w", err)
	}
	return list, total, nil
}
