package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// CreateExecution saves e and makes this Store its owner, unless it is queued.
func (s *Store) CreateExecution(ctx context.Context, e *routine.Execution) error {
	if err := s.claimOwner(ctx); err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	result, err := s.stageResult(e.Result)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	defer result.discard()
	evidence, err := rows.EncodeOptional(e.Evidence)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	sealed, err := s.sealQueuedCall(ctx, e)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	owner := s.owner.id
	if sealed.Text != nil {
		owner = ""
	}
	err = s.inTxIf(ctx, e.Key != nil || e.Callback != nil || e.Claim != nil || result.blob != nil || sealed.Text != nil, func(tx writer) error {
		if err := saveIdempotencyKey(ctx, tx, e.Key, e.ID); err != nil {
			return err
		}
		if err := claimSchedule(ctx, tx, e); err != nil {
			return err
		}
		if err := result.moveIntoPlace(); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO executions (id, routine_id, routine_name, routine_version, status, result, result_hash, size, error, error_code,
				created_at, started_at, completed_at, duration_seconds, parameters, created_by, token_id, via,
				operations_done, operations_total, evidence, organization_id, owner, schedule_id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.ID, e.RoutineID, e.RoutineName, e.RoutineVersion, e.Status, result.text, result.hash(), result.size+len(e.Parameters)+rows.Length(evidence), e.Error,
			e.ErrorCode,
			rows.Micros(e.CreatedAt), rows.NullMicros(e.StartedAt), rows.NullMicros(e.CompletedAt), e.DurationSeconds,
			rows.NullText(e.Parameters), e.CreatedBy, e.TokenID, e.Via, e.OperationsDone, e.OperationsTotal, evidence, e.OrganizationID, owner,
			e.ScheduleID); err != nil {
			return err
		}
		if err := saveQueuedCall(ctx, tx, e.ID, sealed); err != nil {
			return err
		}
		return saveCallback(ctx, tx, e)
	})
	if err != nil && ctx.Err() != nil && s.hasExecution(ctx, e.ID) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	return nil
}

// hasExecution reports whether an execution is stored, also after ctx has ended.
// The driver returns the error of a context that ends during a statement even if
// the statement was committed. The execution would then stay open as long as
// this process lives, because its caller believes that it does not exist.
func (s *Store) hasExecution(ctx context.Context, id string) (found bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), findTimeout)
	defer cancel()
	err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM executions WHERE id = ?)`, id).Scan(&found)
	return err == nil && found
}

// findTimeout limits hasExecution. A read does not wait for writers.
const findTimeout = 5 * time.Second

// StartExecution changes a pending execution to running. For one that is
// already running it returns an error that is neither ErrNotFound nor ErrFinal.
func (s *Store) StartExecution(ctx context.Context, id string, at time.Time) error {
	return s.changeExecution(ctx, "start execution", id, nil,
		`UPDATE executions SET status = 'running', started_at = ?2 WHERE id = ?1 AND status = 'pending'`, rows.Micros(at))
}

// SaveProgress saves the operation records so far of executions that are open.
func (s *Store) SaveProgress(ctx context.Context, records map[string][]routine.OperationRecord) error {
	if len(records) == 0 {
		return nil
	}
	// The records are texts in the JSON that SQLite reads: it limits the depth of JSON.
	type progress struct {
		ID         string `json:"id"`
		Done       int    `json:"done"`
		Operations string `json:"operations"`
	}
	var all []progress
	for id, done := range records {
		text, err := rows.Encode(done)
		if err != nil {
			return fmt.Errorf("save progress: %w", err)
		}
		all = append(all, progress{id, len(done), text})
	}
	text, err := rows.Encode(all)
	if err != nil {
		return fmt.Errorf("save progress: %w", err)
	}
	_, err = s.write.ExecContext(ctx, `
		UPDATE executions SET operations = progress.operations, operations_done = progress.done
		FROM (SELECT value ->> 'id' AS id, value ->> 'done' AS done, value ->> 'operations' AS operations FROM json_each(?)) AS progress
		WHERE executions.id = progress.id AND status IN ('pending', 'running')`, text)
	return rows.Wrap("save progress", err)
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
	evidence, err := rows.EncodeOptional(e.Evidence)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	sealed, err := s.sealState(ctx, e.OrganizationID, e.State)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	var rest func(writer) error
	if result.blob != nil || sealed.Text != nil || len(e.SecretUses) > 0 {
		rest = func(tx writer) error {
			if sealed.Text != nil {
				if err := saveState(ctx, tx, e.OrganizationID, e.State.ProjectID, sealed, *cmp.Or(e.CompletedAt, &e.CreatedAt)); err != nil {
					return err
				}
			}
			if err := saveSecretUses(ctx, tx, e.SecretUses); err != nil {
				return err
			}
			return result.moveIntoPlace()
		}
	}
	return s.changeExecution(ctx, "finish execution", e.ID, rest, `
		UPDATE executions SET status = ?2, result = ?3, result_hash = ?4, size = size + ?5, error = ?6, error_code = ?7,
			started_at = ?8, completed_at = ?9, duration_seconds = ?10, operations_done = ?11, operations = NULL,
			evidence = ?12
		WHERE id = ?1 AND status IN ('pending', 'running')`,
		e.Status, result.text, result.hash(), result.size+rows.Length(evidence), e.Error, e.ErrorCode,
		rows.NullMicros(e.StartedAt), rows.NullMicros(e.CompletedAt), e.DurationSeconds, e.OperationsDone, evidence)
}

// RequestCancel ends a queued execution, and marks any other open one for cancellation. It
// returns [routine.ErrNotFound] or [routine.ErrFinal].
func (s *Store) RequestCancel(ctx context.Context, id string, at time.Time) error {
	n, err := s.endQueued(ctx, `id = ?1`, id, routine.CodeCancelled, routine.CancelledMessage, at)
	if err != nil || n > 0 {
		return rows.Wrap("request cancel of execution "+id, err)
	}
	return s.changeExecution(ctx, "request cancel of execution", id, nil, `
		UPDATE executions SET cancel_requested_at = coalesce(cancel_requested_at, ?2)
		WHERE id = ?1 AND status IN ('pending', 'running')`, rows.Micros(at))
}

// cancelRequests returns the ids of this Store's own open executions that are
// marked for cancellation.
func (s *Store) cancelRequests(ctx context.Context) ([]string, error) {
	ids, err := s.queryStrings(ctx, `
		SELECT id FROM executions
		WHERE owner = ? AND status IN ('pending', 'running') AND cancel_requested_at IS NOT NULL`, s.owner.id)
	if err != nil {
		return nil, fmt.Errorf("read cancel requests: %w", err)
	}
	return ids, nil
}

// changeExecution changes the execution ?1 with one statement. If rest is not
// nil, it is called in the same transaction. If the statement changed no row,
// the error says why.
func (s *Store) changeExecution(ctx context.Context, doing, id string, rest func(writer) error, query string, args ...any) error {
	err := s.inTxIf(ctx, rest != nil, func(tx writer) error {
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

func whyExecutionUnchanged(ctx context.Context, tx writer, id string) error {
	var status routine.ExecutionStatus
	err := tx.QueryRowContext(ctx, `SELECT status FROM executions WHERE id = ?`, id).Scan(&status)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return routine.ErrNotFound
	case err != nil:
		return err
	}
	return rows.WhyUnchanged(status)
}

// stagedResult is a result to be stored, as JSON.
type stagedResult struct {
	stagedData
	text *string // nil: there is no result, or it is a blob
	size int
}

func (s *Store) stageResult(r *routine.Result) (stagedResult, error) {
	text, err := rows.EncodeOptional(r)
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
