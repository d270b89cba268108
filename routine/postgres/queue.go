package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// An execution is queued if it is pending and has no owner. The conditions below must be
// written as in the partial indexes executions_queued and executions_queued_by_age.

// sealQueuedCall encrypts the call of a queued execution, if it is one.
func (s *Store) sealQueuedCall(ctx context.Context, e *routine.Execution) (sealed rows.Sealed, err error) {
	if err := rows.CheckQueuedCall(e); err != nil || e.QueuedCall == nil {
		return sealed, err
	}
	return s.sealCall(ctx, e.QueuedCall, e.ID)
}

func (s *Store) sealCall(ctx context.Context, call []byte, executionID string) (sealed rows.Sealed, err error) {
	if sealed, err = s.sealer.SealCall(call, executionID, false); err != nil {
		return sealed, err
	}
	return sealed, s.useKey(ctx, sealed)
}

// queueWait is how many microseconds a queued execution has waited, by the clock of the
// database. One whose call was lost has waited since its creation.
const queueWait = databaseMicros + `
	- coalesce((SELECT queued_at FROM execution_calls WHERE execution_id = executions.id), executions.created_at)`

// claim makes an owner that has a row run a queued execution. Its last columns are the sealed
// call, which is deleted, its key and the URL of its webhook. It returns no row if the execution is
// not queued, or has waited for more than $4 microseconds.
var claim = `
	WITH claimed AS (
		UPDATE executions SET status = 'running', started_at = $2, owner = $3
		WHERE id = $1 AND ` + stillPending + ` AND owner = '' AND EXISTS (SELECT 1 FROM owners WHERE id = $3)
			AND ` + queueWait + ` <= $4 RETURNING *),
	call AS (DELETE FROM execution_calls WHERE execution_id IN (SELECT id FROM claimed) RETURNING sealed, key_id)
	SELECT ` + executionColumns(math.MaxInt32) + `, (SELECT sealed FROM call), (SELECT key_id FROM call),
		(SELECT url FROM webhooks WHERE execution_id = executions.id) FROM claimed AS executions`

// ClaimExecution makes this Store the owner of a queued execution.
func (s *Store) ClaimExecution(ctx context.Context, id string, at time.Time, limit time.Duration) (e *routine.Execution, call []byte, err error) {
	allowed, doubted := s.owner.startClaim(id)
	if !allowed {
		return nil, nil, fmt.Errorf("claim execution %s: the database has not confirmed an earlier call", id)
	}
	defer func() {
		if doubted && e == nil {
			s.owner.doubt(id, doubtful{})
		}
	}()
	var sealed rows.Sealed
	var callback *string
	for e == nil {
		owner, err := s.claimOwner(ctx)
		if err == nil {
			err = s.write(ctx, func(ctx context.Context) (err error) {
				row := s.pool.QueryRow(ctx, claim, value(id), rows.Micros(at), owner, limit.Microseconds())
				e, err = rows.ScanExecution(row.Scan, &sealed.Text, &sealed.KeyID, &callback)
				return err
			})
		}
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			if err = s.whyNotQueued(ctx, id, owner, limit); err != nil {
				return nil, nil, fmt.Errorf("claim execution %s: %w", id, err)
			}
		case err != nil:
			if sqlState(err) == "" && !isConnectError(err) { // the server may have committed it
				s.owner.doubt(id, doubtful{})
			}
			return nil, nil, fmt.Errorf("claim execution %s: %w", id, err)
		}
	}
	if callback != nil { // FinishExecution makes the job of the webhook
		e.Callback = &routine.Callback{URL: *callback}
	}
	if sealed.Text != nil {
		call, err = s.sealer.OpenCall(sealed, id)
	}
	return e, call, err
}

// release gives an execution of an owner back to the queue, or ends it if its cancel was
// requested. One UPDATE does both, so that it sees a request that comes at the same time.
const release = `
	WITH released AS (
		UPDATE executions SET owner = '', started_at = NULL,
			status = CASE WHEN cancel_requested_at IS NULL THEN 'pending' ELSE 'failed' END,
			error = CASE WHEN cancel_requested_at IS NOT NULL THEN $4::bytea END,
			error_code = CASE WHEN cancel_requested_at IS NULL THEN '' ELSE $5 END,
			completed_at = CASE WHEN cancel_requested_at IS NOT NULL THEN $6::bigint END,
			duration_seconds = CASE WHEN cancel_requested_at IS NOT NULL THEN greatest($6 - created_at, 0) / 1000000.0 END
		WHERE id = $1 AND owner = $2 AND status || '' = 'running' RETURNING id, status),
	queued AS (INSERT INTO execution_calls (execution_id, sealed, key_id) SELECT id, $3, $7 FROM released WHERE status = 'pending')
	SELECT id FROM released`

// ReleaseExecution makes an execution that this Store has claimed queued again, or ends it if
// its cancel was requested.
func (s *Store) ReleaseExecution(ctx context.Context, id string, call []byte, at time.Time) error {
	sealed, err := s.sealCall(ctx, call, id)
	if err != nil {
		return fmt.Errorf("release execution %s: %w", id, err)
	}
	owner, _, _ := s.owner.state()
	n, err := s.execWithJob(ctx, routine.JobRun, release, value(id), owner, sealed.Text, []byte(routine.CancelledMessage), string(routine.CodeCancelled),
		rows.Micros(at), sealed.KeyID)
	if err == nil && n == 0 {
		const noLimit = math.MaxInt64
		if err = s.whyNotQueued(ctx, id, owner, noLimit); err == nil {
			err = routine.ErrTaken // it is queued
		}
	}
	return rows.Wrap("release execution "+id, err)
}

// whyNotQueued returns why an execution could not be claimed, or nil if it can be by now. If
// the owner has no row, it disowns it.
func (s *Store) whyNotQueued(ctx context.Context, id, owner string, limit time.Duration) error {
	var (
		status                 routine.ExecutionStatus
		queued, owned, expired bool
	)
	err := s.queryRow(ctx, `SELECT status, owner = '', EXISTS (SELECT 1 FROM owners WHERE id = $2), `+queueWait+` > $3
		FROM executions WHERE id = $1`, value(id), owner, limit.Microseconds()).Scan(&status, &queued, &owned, &expired)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return routine.ErrNotFound
	case err != nil:
		return err
	case status == routine.ExecutionCompleted || status == routine.ExecutionFailed:
		return routine.ErrFinal
	case !queued:
		return routine.ErrTaken
	case expired:
		return routine.ErrExpired
	}
	if !owned { // another process has deleted it
		s.owner.disown(owner)
	}
	return nil
}

// QueuedExecutions lists the first queued executions of each organization. It reads only
// these, even if many more are queued.
func (s *Store) QueuedExecutions(ctx context.Context, perOrganization int) (list []routine.QueuedExecution, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		list, err = collect(ctx, s.pool, func(scan rows.Scan) (q routine.QueuedExecution, err error) {
			return q, scan(&q.ID, &q.OrganizationID)
		}, `
			WITH RECURSIVE organizations (id) AS (
				(SELECT organization_id FROM executions WHERE status = 'pending' AND owner = '' ORDER BY organization_id LIMIT 1)
				UNION ALL
				SELECT n.organization_id FROM organizations o CROSS JOIN LATERAL (
					SELECT organization_id FROM executions WHERE status = 'pending' AND owner = '' AND organization_id > o.id
					ORDER BY organization_id LIMIT 1) n
			)
			SELECT q.id, o.id FROM organizations o CROSS JOIN LATERAL (
				SELECT id, created_at FROM executions WHERE status = 'pending' AND owner = '' AND organization_id = o.id
				ORDER BY created_at, id LIMIT $1) q
			ORDER BY q.created_at, q.id`, perOrganization)
		return err
	})
	return list, rows.Wrap("list queued executions", err)
}

// ExpireExecutions fails the queued executions that have waited for longer than limit, by the
// clock of the database.
func (s *Store) ExpireExecutions(ctx context.Context, limit time.Duration, at time.Time) (int, error) {
	n, err := s.exec(ctx, `
		WITH ended AS (
			UPDATE executions SET status = 'failed', error = $2, error_code = $3, completed_at = $4,
				duration_seconds = greatest($4::bigint - created_at, 0) / 1000000.0
			WHERE status = 'pending' AND owner = '' AND `+queueWait+` > $1 RETURNING id),
		calls AS (DELETE FROM execution_calls WHERE execution_id IN (SELECT id FROM ended))
		SELECT id FROM ended`,
		limit.Microseconds(), []byte(routine.QueueTimeMessage), string(routine.CodeTimeout), rows.Micros(at))
	return int(n), rows.Wrap("expire executions", err)
}

// CountQueued counts the queued executions of each organization.
func (s *Store) CountQueued(ctx context.Context) (counts map[string]int, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		counts = map[string]int{}
		_, err := collect(ctx, s.pool, func(scan rows.Scan) (organization string, err error) {
			var n int
			err = scan(&organization, &n)
			counts[organization] = n
			return organization, err
		}, `SELECT organization_id, count(*) FROM executions WHERE status = 'pending' AND owner = '' GROUP BY organization_id`)
		return err
	})
	return counts, rows.Wrap("count queued executions", err)
}
