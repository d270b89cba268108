package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"rote/routine"
	"rote/routine/rows"
)

// saveIdempotencyKey saves that a call with a key created madeID, in the
// transaction that creates it. An expired key is overwritten. It returns
// [routine.ErrKeyTaken] if the key is in use.
func saveIdempotencyKey(ctx context.Context, tx writer, k *routine.IdempotencyKey, madeID string) error {
	if k == nil {
		return nil
	}
	done, err := tx.ExecContext(ctx, `
		INSERT INTO idempotency_keys (organization_id, user_id, project_id, reach, key, fingerprint, made_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, made_id = excluded.made_id, created_at = excluded.created_at
			WHERE created_at <= ?`,
		k.OrganizationID, k.UserID, k.ProjectID, k.Reach, k.Key, k.Fingerprint[:], madeID, rows.Micros(k.CreatedAt),
		rows.Micros(k.CreatedAt.Add(-routine.IdempotencyTime)))
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		err = routine.ErrKeyTaken
	}
	return err
}

// FindByKey returns the id that a call with k's key created, and the fingerprint of
// that call. It returns [routine.ErrNotFound].
func (s *Store) FindByKey(ctx context.Context, k *routine.IdempotencyKey) (id string, fingerprint [32]byte, err error) {
	var kept []byte
	err = s.read.QueryRowContext(ctx, `
		SELECT made_id, fingerprint FROM idempotency_keys
		WHERE organization_id = ? AND user_id = ? AND project_id = ? AND reach = ? AND key = ? AND created_at > ?`,
		k.OrganizationID, k.UserID, k.ProjectID, k.Reach, k.Key, rows.Micros(k.CreatedAt.Add(-routine.IdempotencyTime))).Scan(&id, &kept)
	if errors.Is(err, sql.ErrNoRows) {
		err = routine.ErrNotFound
	}
	if err != nil {
		return "", fingerprint, fmt.Errorf("read idempotency key: %w", err)
	}
	copy(fingerprint[:], kept)
	return id, fingerprint, nil
}
