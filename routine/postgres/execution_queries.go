package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// executionColumns returns the columns that rows.ScanExecution reads. Parameters are
// included only up to the given number of bytes.
func executionColumns(parameters int) string {
	return fmt.Sprintf(`executions.id, routine_id, routine_name, routine_version, status, error, error_code,
	executions.created_at, started_at, completed_at, duration_seconds, CASE WHEN octet_length(parameters) <= %d THEN parameters END,
	coalesce(octet_length(parameters), 0) > %[1]d, created_by, token_id, via,
	operations_done, operations_total, organization_id, schedule_id`, parameters)
}

// Execution reads one execution. It returns [routine.ErrNotFound].
func (s *Store) Execution(ctx context.Context, id string) (e *routine.Execution, err error) {
	err = s.snapshot(ctx, func(ctx context.Context, q queryer) (err error) {
		var d rows.ExecutionDetails
		e, err = rows.ScanExecution(q.QueryRow(ctx,
			`SELECT `+executionColumns(math.MaxInt32)+`, result, operations, evidence FROM executions WHERE id = $1`, value(id)).Scan,
			&d.Result, &d.Operations, &d.Evidence)
		if err != nil {
			return err
		}
		if err := d.Decode(e); err != nil {
			return err
		}
		files, err := collect(ctx, q, scanFileInfo, `SELECT name, content_type, size FROM execution_files WHERE execution_id = $1 ORDER BY name`, id)
		if len(files) > 0 {
			e.Files = files
		}
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("execution %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read execution: %w", err)
	}
	return e, nil
}

// executionMatches returns the tables and conditions of the executions that match f, on all
// pages.
func executionMatches(f routine.ExecutionFilter) *query {
	q := &query{}
	q.add(` FROM executions WHERE organization_id = ?`, value(f.OrganizationID))
	for _, c := range []struct{ condition, text string }{
		{` AND routine_id = ?`, f.RoutineID},
		{` AND schedule_id = ? AND schedule_id <> ''`, f.ScheduleID}, // as in the partial index executions_of_schedule
		{` AND status = ?`, string(f.Status)},
		{` AND status = 'failed' AND error_code = ?`, string(f.Code)}, // as in the partial index executions_failed
		{` AND via = ?`, string(f.Via)},
		{` AND created_by = ?`, f.CreatedBy},
	} {
		if c.text != "" {
			q.add(c.condition, value(c.text))
		}
	}
	if f.Version > 0 {
		q.add(` AND routine_version = ?`, f.Version)
	}
	if !f.Since.IsZero() {
		q.add(` AND created_at >= ?`, rows.Micros(f.Since))
	}
	if !f.Until.IsZero() {
		q.add(` AND created_at < ?`, rows.Micros(f.Until))
	}
	return q
}

// executionPageQuery returns the query for the page of f. The page is chosen by an index
// alone; only its rows are read.
func executionPageQuery(f routine.ExecutionFilter) (text string, args []any) {
	page := executionMatches(f)
	if f.Before != nil {
		page.add(` AND (created_at, id) < (?, ?)`, rows.Micros(f.Before.CreatedAt), value(f.Before.ID))
	}
	page.add(` ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`, limitOf(f.Limit), f.Offset)
	return `WITH page AS (SELECT id, created_at` + page.text.String() + `)
		SELECT ` + executionColumns(routine.MaxListedParameters) + ` FROM page JOIN executions USING (id) ORDER BY page.created_at DESC, id DESC`, page.args
}

// Executions lists the matches of f, newest first.
func (s *Store) Executions(ctx context.Context, f routine.ExecutionFilter) (list []*routine.Execution, total int, err error) {
	page, args := executionPageQuery(f)
	matches := executionMatches(f)
	scan := func(scan rows.Scan) (*routine.Execution, error) { return rows.ScanExecution(scan) }
	err = s.snapshot(ctx, func(ctx context.Context, q queryer) (err error) {
		if list, err = collect(ctx, q, scan, page, args...); err != nil {
			return err
		}
		return q.QueryRow(ctx, countQuery(`SELECT 1`+matches.text.String(), f.MaxCounted()), matches.args...).Scan(&total)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list executions: %w", err)
	}
	return list, total, nil
}
