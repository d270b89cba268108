package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rote/routine"
)

// CreateExecution saves e and makes this Store its owner.
func (s *Store) CreateExecution(ctx context.Context, e *routine.Execution) error {
	if err := s.claimOwner(ctx); err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	result, err := s.stageResult(e.Result)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	defer result.discard()
	evidence, err := encodeOptional(e.Evidence)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		if err := saveIdempotencyKey(ctx, tx, e.Key, e.ID); err != nil {
			return err
		}
		if err := result.moveIntoPlace(); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO executions (id, routine_id, routine_name, routine_version, status, result, result_hash, size, error, error_code,
				created_at, started_at, completed_at, duration_seconds, parameters, created_by, token_id, via,
				operations_done, operations_total, evidence, organization_id, owner)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.ID, e.RoutineID, e.RoutineName, e.RoutineVersion, e.Status, result.text, result.hash(), result.size+len(e.Parameters)+lengthOf(evidence), e.Error,
			e.ErrorCode,
			micros(e.CreatedAt), nullMicros(e.StartedAt), nullMicros(e.CompletedAt), e.DurationSeconds,
			nullText(e.Parameters), e.CreatedBy, e.TokenID, e.Via, e.OperationsDone, e.OperationsTotal, evidence, e.OrganizationID, s.owner.id); err != nil {
			return err
		}
		return saveCallback(ctx, tx, e)
	})
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	return nil
}

// StartExecution changes a pending execution to running. For one that is
// already running it returns an error that is neither ErrNotFound nor ErrFinal.
func (s *Store) StartExecution(ctx context.Context, id string, at time.Time) error {
	return s.changeExecution(ctx, "start execution", id, nil,
		`UPDATE executions SET status = 'running', started_at = ?2 WHERE id = ?1 AND status = 'pending'`, micros(at))
}

// SaveOperations saves the operation records so far. It returns
// [routine.ErrNotFound] or [routine.ErrFinal].
func (s *Store) SaveOperations(ctx context.Context, id string, records []routine.OperationRecord) error {
	text, err := encode(records)
	if err != nil {
		return fmt.Errorf("save operations: %w", err)
	}
	return s.changeExecution(ctx, "save operations of execution", id, nil,
		`UPDATE executions SET operations = ?2, operations_done = ?3 WHERE id = ?1 AND status IN ('pending', 'running')`, text, len(records))
}

// FinishExecution ends an open execution. One statement tests and changes the
// status, so that exactly one of several concurrent calls succeeds, also across
// processes.
func (s *Store) FinishExecution(ctx context.Context, e *routine.Execution) error {
	if e.Open() {
		return fmt.Errorf("finish execution: %q is not a final status", e.Status)
	}
	result, err := s.stageResult(e.Result)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	defer result.discard()
	evidence, err := encodeOptional(e.Evidence)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	return s.changeExecution(ctx, "finish execution", e.ID, func(*sql.Tx) error { return result.moveIntoPlace() }, `
		UPDATE executions SET status = ?2, result = ?3, result_hash = ?4, size = size + ?5, error = ?6, error_code = ?7,
			started_at = ?8, completed_at = ?9, duration_seconds = ?10, operations_done = ?11, operations = NULL,
			evidence = ?12
		WHERE id = ?1 AND status IN ('pending', 'running')`,
		e.Status, result.text, result.hash(), result.size+lengthOf(evidence), e.Error, e.ErrorCode,
		nullMicros(e.StartedAt), nullMicros(e.CompletedAt), e.DurationSeconds, e.OperationsDone, evidence)
}

// RequestCancel marks an open execution for cancellation. It returns
// [routine.ErrNotFound] or [routine.ErrFinal].
func (s *Store) RequestCancel(ctx context.Context, id string, at time.Time) error {
	return s.changeExecution(ctx, "request cancel of execution", id, nil, `
		UPDATE executions SET cancel_requested_at = coalesce(cancel_requested_at, ?2)
		WHERE id = ?1 AND status IN ('pending', 'running')`, micros(at))
}

// CancelRequests returns the ids of this Store's own open executions that are
// marked for cancellation.
func (s *Store) CancelRequests(ctx context.Context) ([]string, error) {
	ids, err := s.queryStrings(ctx, `
		SELECT id FROM executions
		WHERE owner = ? AND status IN ('pending', 'running') AND cancel_requested_at IS NOT NULL`, s.owner.id)
	if err != nil {
		return nil, fmt.Errorf("read cancel requests: %w", err)
	}
	return ids, nil
}

// changeExecution changes the execution ?1 with one statement and then calls
// rest, if not nil, in the same transaction. If the statement changed no row,
// the error says why.
func (s *Store) changeExecution(ctx context.Context, doing, id string, rest func(*sql.Tx) error, query string, args ...any) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, query, append([]any{id}, args...)...)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err != nil {
			return err
		}
		if n == 0 {
			return whyExecutionUnchanged(ctx, tx, id)
		}
		if rest == nil {
			return nil
		}
		return rest(tx)
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", doing, id, err)
	}
	return nil
}

func whyExecutionUnchanged(ctx context.Context, tx *sql.Tx, id string) error {
	var status routine.ExecutionStatus
	err := tx.QueryRowContext(ctx, `SELECT status FROM executions WHERE id = ?`, id).Scan(&status)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return routine.ErrNotFound
	case err != nil:
		return err
	case status == routine.ExecutionCompleted, status == routine.ExecutionFailed:
		return routine.ErrFinal
	}
	return fmt.Errorf("it is %s", status)
}

// stagedResult is a result to be stored, as JSON.
type stagedResult struct {
	stagedData
	text *string // nil: there is no result, or it is a blob
	size int
}

func (s *Store) stageResult(r *routine.Result) (stagedResult, error) {
	text, err := encodeOptional(r)
	if err != nil || text == nil {
		return stagedResult{}, err
	}
	h := stagedResult{text: text, size: len(*text)}
	if h.size > inlineLimit {
		h.text = nil
		h.stagedData, err = s.stage([]byte(*text))
	}
	return h, err
}

// encodeOptional returns the JSON of a value, or nil for nil.
func encodeOptional[T any](v *T) (*string, error) {
	if v == nil {
		return nil, nil
	}
	text, err := encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return &text, nil
}

func lengthOf(text *string) int {
	if text == nil {
		return 0
	}
	return len(*text)
}

// encode returns JSON as a string, because a TEXT column of a STRICT table does
// not accept bytes.
func encode(v any) (string, error) {
	text, err := routine.EncodeJSON(v)
	return string(text), err
}

// nullText converts raw for a TEXT column, because a STRICT table does not
// accept bytes there.
func nullText(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}
