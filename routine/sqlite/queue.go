package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// An execution is queued if it is pending and has no owner. The conditions below must be
// written as in the partial indexes executions_queued and executions_queued_by_age.

// saveQueuedCall saves the sealed call of a queued execution, in the transaction that saves
// the execution.
func saveQueuedCall(ctx context.Context, tx writer, id string, sealed rows.Sealed) error {
	if sealed.Text == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO execution_calls (execution_id, sealed, key_id) VALUES (?, ?, ?)`, id, sealed.Text, sealed.KeyID)
	return err
}

// sealQueuedCall encrypts the call of a queued execution, if it is one.
func (s *Store) sealQueuedCall(ctx context.Context, e *routine.Execution) (sealed rows.Sealed, err error) {
	if err := rows.CheckQueuedCall(e); err != nil || e.QueuedCall == nil {
		return sealed, err
	}
	others, err := s.hasSealed(ctx)
	if err != nil {
		return sealed, err
	}
	if sealed, err = s.sealer.SealCall(e.QueuedCall, e.ID, !others); err != nil {
		return sealed, err
	}
	return sealed, s.registerKey(ctx, s.write, sealed)
}

// ClaimExecution makes this Store the owner of a queued execution. It does not end with
// ctx, so that no execution is claimed by a call that failed.
func (s *Store) ClaimExecution(ctx context.Context, id string, at time.Time, limit time.Duration) (e *routine.Execution, call []byte, err error) {
	ctx = context.WithoutCancel(ctx)
	if err := s.claimOwner(ctx); err != nil {
		return nil, nil, fmt.Errorf("claim execution %s: %w", id, err)
	}
	var sealed rows.Sealed
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		e, err = rows.ScanExecution(tx.QueryRowContext(ctx, `
			UPDATE executions SET status = 'running', started_at = ?, owner = ? WHERE id = ? AND status = 'pending' AND owner = ''
				AND created_at >= ?
			RETURNING `+executionColumns(math.MaxInt32), rows.Micros(at), s.owner.id, id, oldestQueued(limit, at)).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			return whyTaken(ctx, tx, id, routine.ErrExpired)
		}
		if err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, `DELETE FROM execution_calls WHERE execution_id = ? RETURNING sealed, key_id`, id).Scan(&sealed.Text, &sealed.KeyID)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("claim execution %s: %w", id, err)
	}
	if sealed.Text != nil {
		call, err = s.sealer.OpenCall(sealed, id)
	}
	return e, call, err
}

// ReleaseExecution makes an execution that this Store has claimed queued again, or ends it if
// its cancel was requested.
func (s *Store) ReleaseExecution(ctx context.Context, id string, call []byte, at time.Time) error {
	sealed, err := s.sealer.SealCall(call, id, false)
	if err == nil {
		err = s.registerKey(ctx, s.write, sealed)
	}
	if err != nil {
		return fmt.Errorf("release execution %s: %w", id, err)
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		var cancelled bool
		err := tx.QueryRowContext(ctx, `UPDATE executions SET status = 'pending', started_at = NULL, owner = ''
			WHERE id = ? AND status = 'running' AND owner = ? RETURNING cancel_requested_at IS NOT NULL`, id, s.owner.id).Scan(&cancelled)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return whyTaken(ctx, tx, id, routine.ErrTaken)
		case err != nil:
			return err
		case cancelled:
			_, err = endQueued(ctx, tx, `id = ?1`, id, routine.CodeCancelled, routine.CancelledMessage, at)
			return err
		}
		return saveQueuedCall(ctx, tx, id, sealed)
	})
	return rows.Wrap("release execution "+id, err)
}

// oldestQueued returns the earliest creation time of executions that have not waited in the
// queue for longer than limit.
func oldestQueued(limit time.Duration, at time.Time) int64 { return rows.Micros(at.Add(-limit)) }

// whyTaken returns why an execution could not be claimed or released. If it is queued, it
// returns ifQueued.
func whyTaken(ctx context.Context, tx writer, id string, ifQueued error) error {
	var ended, queued bool
	err := tx.QueryRowContext(ctx, `SELECT status IN ('completed', 'failed'), status = 'pending' AND owner = '' FROM executions WHERE id = ?`, id).
		Scan(&ended, &queued)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return routine.ErrNotFound
	case err != nil:
		return err
	case ended:
		return routine.ErrFinal
	case queued:
		return ifQueued
	}
	return routine.ErrTaken
}

// selectQueued selects the first queued executions of each organization. Its argument is their
// number.
const selectQueued = `
	WITH RECURSIVE organizations (id) AS (
		SELECT min(organization_id) FROM executions WHERE status = 'pending' AND owner = ''
		UNION ALL
		SELECT (SELECT min(organization_id) FROM executions WHERE status = 'pending' AND owner = '' AND organization_id > organizations.id)
		FROM organizations WHERE id IS NOT NULL
	)
	SELECT executions.id, organization_id FROM organizations CROSS JOIN executions ON executions.rowid IN (
		SELECT rowid FROM executions AS queued
		WHERE status = 'pending' AND owner = '' AND organization_id = organizations.id ORDER BY created_at, queued.id LIMIT ?)
	WHERE organizations.id IS NOT NULL ORDER BY created_at, executions.id`

// QueuedExecutions lists the first queued executions of each organization. It reads only
// these, even if many more are queued.
func (s *Store) QueuedExecutions(ctx context.Context, perOrganization int) ([]routine.QueuedExecution, error) {
	found, err := s.read.QueryContext(ctx, selectQueued, perOrganization)
	if err != nil {
		return nil, rows.Wrap("list queued executions", err)
	}
	defer found.Close()
	list := []routine.QueuedExecution{}
	for found.Next() {
		var q routine.QueuedExecution
		if err := found.Scan(&q.ID, &q.OrganizationID); err != nil {
			return nil, rows.Wrap("list queued executions", err)
		}
		list = append(list, q)
	}
	return list, rows.Wrap("list queued executions", found.Err())
}

// endQueued fails the queued executions that a condition on ?1 selects, deletes their calls,
// and returns their number.
func (s *Store) endQueued(ctx context.Context, condition string, argument any, code routine.Code, message string, at time.Time) (n int, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		n, err = endQueued(ctx, tx, condition, argument, code, message, at)
		return err
	})
	return n, err
}

func endQueued(ctx context.Context, tx *sql.Tx, condition string, argument any, code routine.Code, message string, at time.Time) (n int, err error) {
	ended, err := collectStrings(tx.QueryContext(ctx, `
		UPDATE executions SET status = 'failed', error = ?2, error_code = ?3, completed_at = ?4, duration_seconds = max(?4 - created_at, 0) / 1000000.0
		WHERE status = 'pending' AND owner = '' AND `+condition+` RETURNING id`, argument, message, code, rows.Micros(at)))
	if err != nil {
		return 0, err
	}
	for _, id := range ended {
		if _, err := tx.ExecContext(ctx, `DELETE FROM execution_calls WHERE execution_id = ?`, id); err != nil {
			return 0, err
		}
	}
	return len(ended), nil
}

// ExpireExecutions fails the queued executions that have waited for longer than limit.
func (s *Store) ExpireExecutions(ctx context.Context, limit time.Duration, at time.Time) (int, error) {
	var expired bool
	err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM executions WHERE status = 'pending' AND owner = '' AND created_at < ?)`,
		oldestQueued(limit, at)).Scan(&expired)
	if err != nil || !expired {
		return 0, rows.Wrap("expire executions", err)
	}
	n, err := s.endQueued(ctx, `created_at < ?1`, oldestQueued(limit, at), routine.CodeTimeout, routine.QueueTimeMessage, at)
	return n, rows.Wrap("expire executions", err)
}

// CountQueued counts the queued executions of each organization.
func (s *Store) CountQueued(ctx context.Context) (map[string]int, error) {
	found, err := s.read.QueryContext(ctx, `SELECT organization_id, count(*) FROM executions WHERE status = 'pending' AND owner = '' GROUP BY organization_id`)
	if err != nil {
		return nil, rows.Wrap("count queued executions", err)
	}
	defer found.Close()
	counts := map[string]int{}
	for found.Next() {
		var organization string
		var n int
		if err := found.Scan(&organization, &n); err != nil {
			return nil, rows.Wrap("count queued executions", err)
		}
		counts[organization] = n
	}
	return counts, rows.Wrap("count queued executions", found.Err())
}
