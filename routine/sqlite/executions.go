package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rote/routine"
)

// CreateExecution saves e as one of this Store's own.
func (s *Store) CreateExecution(ctx context.Context, e *routine.Execution) error {
	if err := s.claimOwner(ctx); err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	result, err := encodeResult(e.Result)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	_, err = s.write.ExecContext(ctx, `
		INSERT INTO executions (id, routine_id, routine_name, routine_version, status, result, error, error_code,
			created_at, started_at, completed_at, duration_seconds, parameters, created_by, organization_id, owner)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.ID, e.RoutineID, e.RoutineName, e.RoutineVersion, e.Status, result, e.Error, e.ErrorCode,
		micros(e.CreatedAt), nullMicros(e.StartedAt), nullMicros(e.CompletedAt), e.DurationSeconds,
		nullText(e.Parameters), e.CreatedBy, e.OrganizationID, s.owner.id)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	return nil
}

// StartExecution turns a pending execution into a running one. One that runs
// already is an error that is neither ErrNotFound nor ErrFinal.
func (s *Store) StartExecution(ctx context.Context, id string, at time.Time) error {
	done, err := s.write.ExecContext(ctx,
		`UPDATE executions SET status = 'running', started_at = ? WHERE id = ? AND status = 'pending'`,
		micros(at), id)
	if err != nil {
		return fmt.Errorf("start execution: %w", err)
	}
	return s.expectChanged(ctx, "start execution", id, done)
}

// FinishExecution ends an open execution. The status is tested by the one
// statement that changes it, so that of many attempts, also of several
// processes, exactly one succeeds.
func (s *Store) FinishExecution(ctx context.Context, e *routine.Execution) error {
	if e.Status != routine.ExecutionCompleted && e.Status != routine.ExecutionFailed {
		return fmt.Errorf("finish execution: %q is not a final status", e.Status)
	}
	result, err := encodeResult(e.Result)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	done, err := s.write.ExecContext(ctx, `
		UPDATE executions SET status = ?, result = ?, error = ?, error_code = ?,
			started_at = ?, completed_at = ?, duration_seconds = ?
		WHERE id = ? AND status IN ('pending', 'running')`,
		e.Status, result, e.Error, e.ErrorCode,
		nullMicros(e.StartedAt), nullMicros(e.CompletedAt), e.DurationSeconds, e.ID)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	return s.expectChanged(ctx, "finish execution", e.ID, done)
}

// expectChanged says why an update changed no row. Rows are never deleted and
// never leave a final status, so asking afterwards gives the true reason.
func (s *Store) expectChanged(ctx context.Context, doing, id string, done sql.Result) error {
	n, err := done.RowsAffected()
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if n == 1 {
		return nil
	}
	var status routine.ExecutionStatus
	err = s.read.QueryRowContext(ctx, `SELECT status FROM executions WHERE id = ?`, id).Scan(&status)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s %s: %w", doing, id, routine.ErrNotFound)
	case err != nil:
		return fmt.Errorf("%s: %w", doing, err)
	case status == routine.ExecutionCompleted, status == routine.ExecutionFailed:
		return fmt.Errorf("%s %s: %w", doing, id, routine.ErrFinal)
	}
	return fmt.Errorf("%s %s: it is %s", doing, id, status)
}

// Execution reads one execution. [routine.ErrNotFound].
func (s *Store) Execution(ctx context.Context, id string) (*routine.Execution, error) {
	var (
		e                    routine.Execution
		result, parameters   []byte
		created              int64
		started, completedAt *int64
	)
	err := s.read.QueryRowContext(ctx, `
		SELECT id, routine_id, routine_name, routine_version, status, result, error, error_code,
			created_at, started_at, completed_at, duration_seconds, parameters, created_by, organization_id
		FROM executions WHERE id = ?`, id).Scan(
		&e.ID, &e.RoutineID, &e.RoutineName, &e.RoutineVersion, &e.Status, &result, &e.Error, &e.ErrorCode,
		&created, &started, &completedAt, &e.DurationSeconds, &parameters, &e.CreatedBy, &e.OrganizationID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("execution %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read execution: %w", err)
	}
	if result != nil {
		if err := json.Unmarshal(result, &e.Result); err != nil {
			return nil, fmt.Errorf("read result of execution %s: %w", id, err)
		}
	}
	e.Parameters = parameters
	e.CreatedAt = fromMicros(created)
	e.StartedAt, e.CompletedAt = fromNullMicros(started), fromNullMicros(completedAt)
	return &e, nil
}

// encodeResult gives the JSON text of a result, nil for none.
func encodeResult(r *routine.Result) (*string, error) {
	if r == nil {
		return nil, nil
	}
	text, err := encode(r)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return &text, nil
}

// encode is json.Marshal without the escaping of < > &: a definition has to
// come back as its author wrote it, and a page's HTML would grow severalfold.
func encode(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// nullText is for a TEXT column, which takes no bytes in a STRICT table.
func nullText(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}
