package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// SaveCode keeps a one-time code of a secret. It returns [routine.ErrNotFound],
// [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) SaveCode(ctx context.Context, of *routine.Secret, code routine.Hidden, valid time.Duration) error {
	others, err := s.hasSealed(ctx)
	if err != nil {
		return fmt.Errorf("save one-time code: %w", err)
	}
	id, sealed, err := s.sealer.SealCode(of, code, !others)
	if err == nil {
		err = s.registerKey(ctx, s.write, sealed)
	}
	if err != nil {
		return fmt.Errorf("save one-time code: %w", err)
	}
	now := time.Now()
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `INSERT INTO secret_codes (id, organization_id, project_id, name, expires_at, sealed, key_id)
			SELECT ?, organization_id, project_id, name, ?, ?, ? FROM secrets `+ofSecret,
			append([]any{id, rows.Micros(now.Add(valid)), sealed.Text, sealed.KeyID}, secretKey(of)...)...)
		if err := changedOne(done, err, routine.ErrNotFound); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM secret_codes WHERE id IN (SELECT id FROM secret_codes `+ofSecret+`
			ORDER BY expires_at DESC, id DESC LIMIT -1 OFFSET ?)`, append(secretKey(of), routine.MaxCodes)...)
		return err
	})
	return rows.Wrap("save one-time code of secret "+of.Name, err)
}

// TakeCode deletes the newest one-time code of a secret and returns it. It returns
// [routine.ErrNotFound], [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) TakeCode(ctx context.Context, of *routine.Secret) (routine.Hidden, error) {
	for {
		var (
			id     string
			sealed rows.Sealed
		)
		err := s.read.QueryRowContext(ctx, `SELECT id, sealed, key_id FROM secret_codes `+ofSecret+` AND expires_at > ?
			ORDER BY expires_at DESC, id DESC LIMIT 1`, append(secretKey(of), rows.Micros(time.Now()))...).Scan(&id, &sealed.Text, &sealed.KeyID)
		if errors.Is(err, sql.ErrNoRows) {
			err = routine.ErrNotFound
		}
		if err != nil {
			return "", rows.Wrap("take one-time code of secret "+of.Name, err)
		}
		code, err := s.sealer.OpenCode(of, id, sealed)
		if err != nil {
			return "", err
		}
		done, err := s.write.ExecContext(ctx, `DELETE FROM secret_codes WHERE id = ?`, id)
		if err = changedOne(done, err, routine.ErrNotFound); !errors.Is(err, routine.ErrNotFound) {
			return code, rows.Wrap("take one-time code of secret "+of.Name, err)
		} // another run has taken it
	}
}

// pruneCodes deletes the one-time codes that have expired.
func (s *Store) pruneCodes(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM secret_codes WHERE expires_at <= ?`, rows.Micros(time.Now()))
	return rows.Wrap("prune one-time codes", err)
}
