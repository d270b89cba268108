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

// CreateExecution saves e as one of this Store's own.
func (s *Store) CreateExecution(ctx context.Context, e *routine.Execution) error {
	if err := s.claimOwner(ctx); err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	result, err := s.holdResult(e.Result)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	defer result.drop()
	evidence, err := encodeOptional(e.Evidence)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		if err := takeKey(ctx, tx, e.Key, e.ID); err != nil {
			return err
		}
		if err := result.place(); err != nil {
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

// StartExecution turns a pending execution into a running one. One that runs
// already is an error that is neither ErrNotFound nor ErrFinal.
func (s *Store) StartExecution(ctx context.Context, id string, at time.Time) error {
	return s.changeExecution(ctx, "start execution", id, nil,
		`UPDATE executions SET status = 'running', started_at = ?2 WHERE id = ?1 AND status = 'pending'`, micros(at))
}

// SaveOperations keeps the records so far. [routine.ErrNotFound],
// [routine.ErrFinal].
func (s *Store) SaveOperations(ctx context.Context, id string, records []routine.OperationRecord) error {
	text, err := encode(records)
	if err != nil {
		return fmt.Errorf("save operations: %w", err)
	}
	return s.changeExecution(ctx, "save operations of execution", id, nil,
		`UPDATE executions SET operations = ?2, operations_done = ?3 WHERE id = ?1 AND status IN ('pending', 'running')`, text, len(records))
}

// FinishExecution ends an open execution. The status is tested by the one
// statement that changes it, so that of many attempts, also of several
// processes, exactly one succeeds.
func (s *Store) FinishExecution(ctx context.Context, e *routine.Execution) error {
	if e.Open() {
		return fmt.Errorf("finish execution: %q is not a final status", e.Status)
	}
	result, err := s.holdResult(e.Result)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	defer result.drop()
	evidence, err := encodeOptional(e.Evidence)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	return s.changeExecution(ctx, "finish execution", e.ID, func(*sql.Tx) error { return result.place() }, `
		UPDATE executions SET status = ?2, result = ?3, result_hash = ?4, size = size + ?5, error = ?6, error_code = ?7,
			started_at = ?8, completed_at = ?9, duration_seconds = ?10, operations_done = ?11, operations = NULL,
			evidence = ?12
		WHERE id = ?1 AND status IN ('pending', 'running')`,
		e.Status, result.text, result.hash(), result.size+lengthOf(evidence), e.Error, e.ErrorCode,
		nullMicros(e.StartedAt), nullMicros(e.CompletedAt), e.DurationSeconds, e.OperationsDone, evidence)
}

// RequestCancel marks an open execution. [routine.ErrNotFound],
// [routine.ErrFinal].
func (s *Store) RequestCancel(ctx context.Context, id string, at time.Time) error {
	return s.changeExecution(ctx, "request cancel of execution", id, nil, `
		UPDATE executions SET cancel_requested_at = coalesce(cancel_requested_at, ?2)
		WHERE id = ?1 AND status IN ('pending', 'running')`, micros(at))
}

// CancelRequests are this Store's own open executions that are marked.
func (s *Store) CancelRequests(ctx context.Context) ([]string, error) {
	ids, err := s.texts(ctx, `
		SELECT id FROM executions
		WHERE owner = ? AND status IN ('pending', 'running') AND cancel_requested_at IS NOT NULL`, s.owner.id)
	if err != nil {
		return nil, fmt.Errorf("read cancel requests: %w", err)
	}
	return ids, nil
}

// changeExecution changes the execution ?1 by one statement, and does the rest,
// if any, in the same transaction. When the statement found no row that it may
// change, the error says why.
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

// heldResult is a result on its way into the database, as JSON.
type heldResult struct {
	held
	text *string // nil: there is none, or it is a blob
	size int
}

func (s *Store) holdResult(r *routine.Result) (heldResult, error) {
	text, err := encodeOptional(r)
	if err != nil || text == nil {
		return heldResult{}, err
	}
	h := heldResult{text: text, size: len(*text)}
	if h.size > inlineLimit {
		h.text = nil
		h.held, err = s.hold([]byte(*text))
	}
	return h, err
}

// encodeOptional gives the JSON text of a value, nil for none.
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

// encode is [routine.EncodeJSON] for a TEXT column, which takes no bytes in a
// STRICT table.
func encode(v any) (string, error) {
	text, err := routine.EncodeJSON(v)
	return string(text), err
}

// nullText is for a TEXT column, which takes no bytes in a STRICT table.
func nullText(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}
