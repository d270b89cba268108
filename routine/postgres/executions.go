package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// CreateExecution saves e with its idempotency key, its callback and its queued call in one
// statement, and makes this Store its owner, unless it is queued. Then a job is made with it.
func (s *Store) CreateExecution(ctx context.Context, e *routine.Execution) error {
	sealed, err := s.sealQueuedCall(ctx, e)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	query, args, err := insertExecution(e, sealed)
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	for { // twice at most, unless the process is frozen again and again
		owner := ""
		if sealed.Text == nil {
			if owner, err = s.claimOwner(ctx); err != nil {
				return fmt.Errorf("create execution: %w", err)
			}
		}
		args["owner"] = owner
		var created, owned bool
		scan := func(ctx context.Context, q queryer) error { return q.QueryRow(ctx, query, args).Scan(&created, &owned) }
		if sealed.Text == nil {
			err = s.write(ctx, func(ctx context.Context) error { return scan(ctx, s.pool) })
		} else {
			err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
				if err := scan(ctx, tx); err != nil || !created {
					return err
				}
				return s.makeJob(ctx, tx, routine.JobRun)
			})
		}
		switch {
		case err != nil:
			if sqlState(err) == "" && !isConnectError(err) { // the server may have committed it
				s.owner.doubt(e.ID, doubtful{queued: sealed.Text != nil})
			}
			return fmt.Errorf("create execution: %w", err)
		case created:
			return nil
		case owned && e.Key == nil:
			return fmt.Errorf("create execution: %w", routine.ErrNotDue)
		case owned:
			return fmt.Errorf("create execution: %w", routine.ErrKeyTaken)
		}
		s.owner.disown(owner) // another process has deleted its row
	}
}

// insertExecution returns the statement that creates an execution if its owner has a row,
// which that of a queued one need not have, its idempotency key is free and its schedule is
// due. Its result is whether it was created, and whether the owner has a row.
func insertExecution(e *routine.Execution, sealed rows.Sealed) (query string, args pgx.NamedArgs, err error) {
	result, err := rows.EncodeOptional(e.Result)
	if err != nil {
		return "", nil, err
	}
	evidence, err := rows.EncodeOptional(e.Evidence)
	if err != nil {
		return "", nil, err
	}
	args = pgx.NamedArgs{"id": e.ID, "routine_id": e.RoutineID, "routine_name": []byte(e.RoutineName), "routine_version": e.RoutineVersion,
		"status": string(e.Status), "result": result, "error": optionalBytes(e.Error), "error_code": string(e.ErrorCode),
		"created_at": rows.Micros(e.CreatedAt), "started_at": rows.NullMicros(e.StartedAt), "completed_at": rows.NullMicros(e.CompletedAt),
		"duration_seconds": e.DurationSeconds, "parameters": rows.NullText(e.Parameters), "created_by": e.CreatedBy, "token_id": e.TokenID,
		"via": string(e.Via), "done": e.OperationsDone, "total": e.OperationsTotal, "evidence": evidence, "organization_id": e.OrganizationID,
		"schedule_id": e.ScheduleID, "size": rows.Length(result) + len(e.Parameters) + rows.Length(evidence)}
	query = `WITH owner AS (SELECT id FROM owners WHERE id = @owner)`
	if sealed.Text != nil {
		query = `WITH owner AS (SELECT 1)`
	}
	from := `owner`
	if e.Key != nil {
		from = `taken`
		query += `, taken AS (` + insertKey + ` FROM owner ` + onKeyConflict + `)`
		addKey(args, e.Key)
	}
	if e.Claim != nil {
		query += `, claimed AS (` + claimSchedule(args, e) + ` AND EXISTS (SELECT 1 FROM ` + from + `) RETURNING 1)`
		from = `claimed`
	}
	query += `, made AS (
		INSERT INTO executions (id, routine_id, routine_name, routine_version, status, result, error, error_code, created_at, started_at,
			completed_at, duration_seconds, parameters, created_by, token_id, via, operations_done, operations_total, evidence, organization_id,
			size, owner, schedule_id)
		SELECT @id, @routine_id, @routine_name, @routine_version, @status, @result, @error, @error_code, @created_at, @started_at,
			@completed_at, @duration_seconds, @parameters, @created_by, @token_id, @via, @done, @total, @evidence, @organization_id, @size,
			@owner, @schedule_id
		FROM ` + from + ` RETURNING id)`
	if sealed.Text != nil {
		args["sealed"], args["key_id"] = sealed.Text, sealed.KeyID
		query += `, queued AS (INSERT INTO execution_calls (execution_id, sealed, key_id) SELECT id, @sealed, @key_id FROM made)`
	}
	if e.Callback != nil {
		hosts, err := rows.Encode(e.Callback.AllowedHosts)
		if err != nil {
			return "", nil, err
		}
		target := routine.WebhookTargetOf(e.OrganizationID, e.Callback.URL)
		args["webhook_id"], args["host"], args["url"], args["hosts"] = "msg_"+uuid.NewString(), target.Host, e.Callback.URL, hosts
		args["notify"] = string(e.Callback.Notify)
		query += `, called AS (
			INSERT INTO webhooks (id, execution_id, organization_id, host, url, allowed_hosts, due_at, notify)
			SELECT @webhook_id, id, @organization_id, @host, @url, @hosts, @created_at, @notify FROM made)`
	}
	return query + ` SELECT EXISTS (SELECT 1 FROM made), EXISTS (SELECT 1 FROM owner)`, args, nil
}

// insertKey and onKeyConflict save that a call with an idempotency key created @id. They
// return a row unless the key is in use; an expired key is overwritten.
const (
	insertKey = `INSERT INTO idempotency_keys (organization_id, user_id, project_id, reach, key, fingerprint, made_id, created_at)
		SELECT @key_organization, @key_user, @key_project, @key_reach, @key, @key_fingerprint, @id, @key_created`
	onKeyConflict = `ON CONFLICT (organization_id, user_id, project_id, reach, key) DO UPDATE
		SET fingerprint = excluded.fingerprint, made_id = excluded.made_id, created_at = excluded.created_at
		WHERE idempotency_keys.created_at <= @key_expired RETURNING 1`
)

func addKey(args pgx.NamedArgs, k *routine.IdempotencyKey) {
	args["key_organization"], args["key_user"], args["key_project"], args["key_reach"] = k.OrganizationID, k.UserID, k.ProjectID, reachHash(k)
	args["key"], args["key_fingerprint"], args["key_created"] = []byte(k.Key), k.Fingerprint[:], rows.Micros(k.CreatedAt)
	args["key_expired"] = expiredKeys(k.CreatedAt)
}

// reachHash returns the hash of the hosts to which the token of a call is limited.
func reachHash(k *routine.IdempotencyKey) []byte {
	hash := sha256.Sum256([]byte(k.Reach))
	return hash[:]
}

// expiredKeys returns the latest creation time of idempotency keys that have expired.
func expiredKeys(now time.Time) int64 { return rows.Micros(now.Add(-routine.IdempotencyTime)) }

// FindByKey returns the id that a call with k's key created, and the fingerprint of
// that call. It returns [routine.ErrNotFound].
func (s *Store) FindByKey(ctx context.Context, k *routine.IdempotencyKey) (id string, fingerprint [32]byte, err error) {
	var kept []byte
	err = s.queryRow(ctx, `
		SELECT made_id, fingerprint FROM idempotency_keys
		WHERE organization_id = $1 AND user_id = $2 AND project_id = $3 AND reach = $4 AND key = $5 AND created_at > $6`,
		value(k.OrganizationID), value(k.UserID), value(k.ProjectID), reachHash(k), []byte(k.Key), expiredKeys(k.CreatedAt)).Scan(&id, &kept)
	if errors.Is(err, pgx.ErrNoRows) {
		err = routine.ErrNotFound
	}
	if err != nil {
		return "", fingerprint, fmt.Errorf("read idempotency key: %w", err)
	}
	copy(fingerprint[:], kept)
	return id, fingerprint, nil
}

// stillOpen and stillPending are conditions on the status of an execution that is found by
// its id. They hide the column from the planner: if its statistics know no open executions,
// which is usual, it takes the partial indexes of these for the smallest, and then each
// statement reads all executions that are open.
const (
	stillOpen    = `status || '' IN ('pending', 'running')`
	stillPending = `status || '' = 'pending'`
)

// StartExecution changes a pending execution to running. For one that is already running
// it returns an error that is neither ErrNotFound nor ErrFinal.
func (s *Store) StartExecution(ctx context.Context, id string, at time.Time) error {
	return s.changeExecution(ctx, "start execution", id,
		`UPDATE executions SET status = 'running', started_at = $2 WHERE id = $1 AND `+stillPending, rows.Micros(at))
}

// FinishExecution ends an open execution. One statement tests and changes the status, so
// that exactly one of several concurrent calls succeeds, also across processes.
func (s *Store) FinishExecution(ctx context.Context, e *routine.Execution) error {
	if e.Open() {
		return fmt.Errorf("finish execution: %q is not a final status", e.Status)
	}
	result, err := rows.EncodeOptional(e.Result)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	evidence, err := rows.EncodeOptional(e.Evidence)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	query := `
		UPDATE executions SET status = $2, result = $3, size = size + $4, error = $5, error_code = $6,
			started_at = $7, completed_at = $8, duration_seconds = $9, operations_done = $10, operations = NULL, evidence = $11
		WHERE id = $1 AND ` + stillOpen
	args := []any{string(e.Status), result, rows.Length(result) + rows.Length(evidence), optionalBytes(e.Error), string(e.ErrorCode),
		rows.NullMicros(e.StartedAt), rows.NullMicros(e.CompletedAt), e.DurationSeconds, e.OperationsDone, evidence}
	with := ``
	if e.State != nil {
		sealed, err := s.sealer.SealState(e.State.Data, e.OrganizationID, e.State.ProjectID, false)
		if err != nil {
			return fmt.Errorf("finish execution: %w", err)
		}
		if err := s.useKey(ctx, sealed); err != nil {
			return fmt.Errorf("finish execution: %w", err)
		}
		with = `, state AS (` + insertState + `SELECT $12, $13, $14::bytea, $15, $16::bigint FROM finished` + replaceState + `)`
		args = append(args, e.OrganizationID, e.State.ProjectID, sealed.Text, sealed.KeyID, rows.NullMicros(e.CompletedAt))
	}
	if len(e.SecretUses) > 0 {
		arrays, err := secretUseArrays(e.SecretUses)
		if err != nil {
			return fmt.Errorf("finish execution: %w", err)
		}
		with += `, uses AS (` + insertSecretUses(len(args)+2) + ` WHERE EXISTS (SELECT 1 FROM finished))`
		args = append(args, arrays...)
	}
	if with != "" {
		query = `WITH finished AS (` + query + ` RETURNING id)` + with + ` SELECT 1 FROM finished`
	}
	// The poller finds the webhook of an execution that ends in another way, up to a second later.
	var job routine.JobKind
	if e.Callback != nil {
		job = routine.JobWebhook
	}
	return s.changeExecutionWithJob(ctx, "finish execution", e.ID, job, query, args...)
}

// RequestCancel ends a queued execution, and marks any other open one for cancellation and
// notifies the process that runs it. It returns [routine.ErrNotFound] or
// [routine.ErrFinal].
func (s *Store) RequestCancel(ctx context.Context, id string, at time.Time) error {
	return s.changeExecution(ctx, "request cancel of execution", id, `
		WITH asked AS (
			UPDATE executions SET cancel_requested_at = coalesce(cancel_requested_at, $2::bigint),
				status = CASE owner WHEN '' THEN 'failed' ELSE status END,
				error = CASE owner WHEN '' THEN $3::bytea ELSE error END,
				error_code = CASE owner WHEN '' THEN $4 ELSE error_code END,
				completed_at = CASE owner WHEN '' THEN $2 ELSE completed_at END,
				duration_seconds = CASE owner WHEN '' THEN greatest($2 - created_at, 0) / 1000000.0 ELSE duration_seconds END
			WHERE id = $1 AND `+stillOpen+` RETURNING id, owner),
		ended AS (DELETE FROM execution_calls WHERE execution_id IN (SELECT id FROM asked WHERE owner = ''))
		SELECT pg_notify('`+cancelChannel+`', owner || ' ' || id) FROM asked`,
		rows.Micros(at), []byte(routine.CancelledMessage), string(routine.CodeCancelled))
}

// changeExecution changes the execution $1 with one statement. If the statement changed
// no row, the error says why.
func (s *Store) changeExecution(ctx context.Context, doing, id, query string, args ...any) error {
	return s.changeExecutionWithJob(ctx, doing, id, "", query, args...)
}

// changeExecutionWithJob is changeExecution. It makes a job in the same transaction, unless
// its kind is empty.
func (s *Store) changeExecutionWithJob(ctx context.Context, doing, id string, job routine.JobKind, query string, args ...any) (err error) {
	var n int64
	if args = append([]any{value(id)}, args...); job == "" {
		n, err = s.exec(ctx, query, args...)
	} else {
		n, err = s.execWithJob(ctx, job, query, args...)
	}
	if err == nil && n == 0 {
		err = s.whyExecutionUnchanged(ctx, id)
	}
	return rows.Wrap(doing+" "+id, err)
}

func (s *Store) whyExecutionUnchanged(ctx context.Context, id string) error {
	var status routine.ExecutionStatus
	err := s.queryRow(ctx, `SELECT status FROM executions WHERE id = $1`, value(id)).Scan(&status)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return routine.ErrNotFound
	case err != nil:
		return err
	}
	return rows.WhyUnchanged(status)
}

// SaveProgress saves the operation records so far of executions that are open.
func (s *Store) SaveProgress(ctx context.Context, records map[string][]routine.OperationRecord) error {
	if len(records) == 0 {
		return nil
	}
	var ids, texts []string
	var done []int32
	for id, all := range records {
		text, err := rows.Encode(all)
		if err != nil {
			return fmt.Errorf("save progress: %w", err)
		}
		ids, texts, done = append(ids, id), append(texts, text), append(done, int32(len(all)))
	}
	_, err := s.execRelaxed(ctx, s.pool, `
		UPDATE executions SET operations = progress.operations, operations_done = progress.done
		FROM unnest($1::text[], $2::text[], $3::integer[]) AS progress (id, operations, done)
		WHERE executions.id = progress.id AND `+stillOpen, ids, texts, done)
	return rows.Wrap("save progress", err)
}
