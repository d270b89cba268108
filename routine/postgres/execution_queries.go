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

// Executions lists the matches of f, newest first.
func (s *Store) Executions(ctx context.Context, f routine.ExecutionFilter) (list []*routine.Execution, total int, err error) {
	where, args := ` FROM executions WHERE organization_id = $1`, []any{value(f.OrganizationID)}
	add := func(column, text string) {
		args = append(args, value(text))
		where += fmt.Sprintf(` AND %s = $%d`, column, len(args))
	}
	if f.RoutineID != "" {
		add("routine_id", f.RoutineID)
	}
	if f.ScheduleID != "" {
		add("schedule_id", f.ScheduleID)
		where += ` AND schedule_id <> ''` // as in the partial index executions_of_schedule
	}
	if f.Status != "" {
		add("status", string(f.Status))
	}
	// The page is chosen by an index alone; only its rows are read.
	n := len(args)
	page := fmt.Sprintf(`WITH page AS (SELECT id, created_at%s ORDER BY created_at DESC, id DESC LIMIT $%d OFFSET $%d)
		SELECT %s FROM page JOIN executions USING (id) ORDER BY page.created_at DESC, id DESC`,
		where, n+1, n+2, executionColumns(routine.MaxListedParameters))
	scan := func(scan rows.Scan) (*routine.Execution, error) { return rows.ScanExecution(scan) }
	err = s.snapshot(ctx, func(ctx context.Context, q queryer) (err error) {
		if list, err = collect(ctx, q, scan, page, append(args[:n:n], limitOf(f.Limit), f.Offset)...); err != nil {
			return err
		}
		return q.QueryRow(ctx, countQuery(`SELECT 1`+where), args...).Scan(&total)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list executions: %w", err)
	}
	return list, total, nil
}
