package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"rote/routine"
)

// executionColumns returns the columns that lists read too. Parameters are
// included only up to the given number of bytes.
func executionColumns(parameters int) string {
	return fmt.Sprintf(`executions.id, routine_id, routine_name, routine_version, status, error, error_code,
	executions.created_at, started_at, completed_at, duration_seconds, iif(octet_length(parameters) <= %d, parameters, NULL),
	coalesce(octet_length(parameters), 0) > %[1]d, created_by, token_id, via,
	operations_done, operations_total, organization_id`, parameters)
}

// scanExecution reads executionColumns and then more columns.
func scanExecution(scan func(...any) error, more ...any) (*routine.Execution, error) {
	var (
		e                    routine.Execution
		parameters           []byte
		created              int64
		started, completedAt *int64
	)
	err := scan(append([]any{&e.ID, &e.RoutineID, &e.RoutineName, &e.RoutineVersion, &e.Status, &e.Error, &e.ErrorCode,
		&created, &started, &completedAt, &e.DurationSeconds, &parameters, &e.ParametersOmitted, &e.CreatedBy, &e.TokenID, &e.Via,
		&e.OperationsDone, &e.OperationsTotal, &e.OrganizationID}, more...)...)
	if err != nil {
		return nil, err
	}
	e.Parameters = parameters
	e.CreatedAt = fromMicros(created)
	e.StartedAt, e.CompletedAt = fromNullMicros(started), fromNullMicros(completedAt)
	return &e, nil
}

// Execution reads one execution. It returns [routine.ErrNotFound].
func (s *Store) Execution(ctx context.Context, id string) (*routine.Execution, error) {
	var result, hash, operations, evidence []byte
	e, err := scanExecution(s.read.QueryRowContext(ctx,
		`SELECT `+executionColumns(math.MaxInt)+`, result, result_hash, operations, evidence FROM executions WHERE id = ?`, id).Scan,
		&result, &hash, &operations, &evidence)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("execution %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read execution: %w", err)
	}
	if hash != nil {
		if result, err = s.readBlob(hash); err != nil {
			return nil, fmt.Errorf("read result of execution %s: %w", id, err)
		}
	}
	if result != nil {
		if err := json.Unmarshal(result, &e.Result); err != nil {
			return nil, fmt.Errorf("read result of execution %s: %w", id, err)
		}
	}
	if operations != nil {
		if err := json.Unmarshal(operations, &e.Operations); err != nil {
			return nil, fmt.Errorf("read operations of execution %s: %w", id, err)
		}
	}
	if evidence != nil {
		if err := json.Unmarshal(evidence, &e.Evidence); err != nil {
			return nil, fmt.Errorf("read evidence of execution %s: %w", id, err)
		}
	}
	if e.Files, err = s.fileInfos(ctx, id); err != nil {
		return nil, fmt.Errorf("read files of execution %s: %w", id, err)
	}
	return e, nil
}

// Executions lists the matches of f, newest first.
func (s *Store) Executions(ctx context.Context, f routine.ExecutionFilter) ([]*routine.Execution, int, error) {
	// One transaction, so that page and total are of the same moment.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, fmt.Errorf("list executions: %w", err)
	}
	defer func() { _ = tx.Rollback() }()

	where, args := ` FROM executions WHERE organization_id = ?`, []any{f.OrganizationID}
	if f.RoutineID != "" {
		where, args = where+` AND routine_id = ?`, append(args, f.RoutineID)
	}
	if f.Status != "" {
		where, args = where+` AND status = ?`, append(args, f.Status)
	}
	var total int
	if err := tx.QueryRowContext(ctx, `SELECT count(*)`+where, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count executions: %w", err)
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	// The page is chosen by an index alone; only its rows are read.
	rows, err := tx.QueryContext(ctx, `WITH page AS (SELECT id, created_at`+where+` ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?)
		SELECT `+executionColumns(routine.MaxListedParameters)+` FROM page JOIN executions USING (id) ORDER BY page.created_at DESC, id DESC`,
		append(args, limit, f.Offset)...)
	if err != nil {
		return nil, 0, fmt.Errorf("list executions: %w", err)
	}
	defer rows.Close()
	list := []*routine.Execution{}
	for rows.Next() {
		e, err := scanExecution(rows.Scan)
		if err != nil {
			return nil, 0, fmt.Errorf("list executions: %w", err)
		}
		list = append(list, e)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("list executions: %w", err)
	}
	return list, total, nil
}
