package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

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

// executionMatches returns the tables and conditions of the executions that match f, on all
// pages. One index narrows the list, the first in this order that f allows: that of the
// schedule, the version, the routine, of failures, of what is open, of the user, of the front
// end, of the organization. A unary + keeps the planner, which has no statistics, from
// preferring another one.
func executionMatches(f routine.ExecutionFilter) (where string, args []any) {
	from := ` FROM executions`
	narrowed := false
	add := func(column, operator string, arg any) {
		if narrowed {
			column = `+` + column
		}
		where += ` AND ` + column + operator
		args = append(args, arg)
	}
	if f.ScheduleID != "" { // as in the partial index executions_of_schedule
		add(`schedule_id`, ` = ? AND schedule_id <> ''`, f.ScheduleID)
		narrowed = true
	}
	if f.RoutineID != "" {
		add(`routine_id`, ` = ?`, f.RoutineID)
		if f.Version > 0 {
			add(`routine_version`, ` = ?`, f.Version)
		}
		narrowed = true
	} else if f.Version > 0 {
		add(`+routine_version`, ` = ?`, f.Version)
	}
	add(`organization_id`, ` = ?`, f.OrganizationID)
	switch {
	case f.Code != "" || f.Status == routine.ExecutionFailed:
		if !narrowed { // as in the partial index executions_failed
			from += ` INDEXED BY executions_failed`
		}
		where, narrowed = where+` AND status = 'failed'`, true
		if f.Code != "" {
			add(`error_code`, ` = ?`, f.Code)
		}
	case f.Status == routine.ExecutionPending || f.Status == routine.ExecutionRunning:
		if !narrowed {
			from += ` INDEXED BY executions_open`
		}
		where, narrowed = where+` AND status IN ('pending', 'running')`, true
	}
	if f.Status != "" {
		add(`+status`, ` = ?`, f.Status)
	}
	if f.CreatedBy != "" {
		add(`created_by`, ` = ?`, f.CreatedBy)
		narrowed = true
	}
	if f.Via != "" {
		add(`via`, ` = ?`, f.Via)
	}
	if !f.Since.IsZero() {
		where, args = where+` AND executions.created_at >= ?`, append(args, rows.Micros(f.Since))
	}
	if !f.Until.IsZero() {
		where, args = where+` AND executions.created_at < ?`, append(args, rows.Micros(f.Until))
	}
	return from + ` WHERE ` + where[len(` AND `):], args
}

// executionPage returns the query for the page of f among the executions of executionMatches.
func executionPage(f routine.ExecutionFilter, where string, args []any) (string, []any) {
	args = slices.Clone(args)
	if f.Before != nil {
		where += ` AND (executions.created_at, executions.id) < (?, ?)`
		args = append(args, rows.Micros(f.Before.CreatedAt), f.Before.ID)
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	return executionPageQuery(where), append(args, limit, f.Offset)
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
	if err := tx.QueryRowContext(ctx, countQuery(`SELECT 1`+where, f.MaxCounted()), args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count executions: %w", err)
	}
	page, args := executionPage(f, where, args)
	found, err := tx.QueryContext(ctx, page, args...)
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
