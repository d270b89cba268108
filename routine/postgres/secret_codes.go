package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// databaseMicros is the time of the database in microseconds.
const databaseMicros = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`

// SaveCode keeps a one-time code of a secret. It returns [routine.ErrNotFound],
// [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) SaveCode(ctx context.Context, of *routine.Secret, code routine.Hidden, valid time.Duration) error {
	id, sealed, err := s.sealer.SealCode(of, code, false)
	if err == nil {
		err = s.useKey(ctx, sealed)
	}
	if err != nil {
		return fmt.Errorf("save one-time code: %w", err)
	}
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		key := secretKey(of.OrganizationID, of.ProjectID, of.Name)
		done, err := tx.Exec(ctx, `INSERT INTO secret_codes (id, organization_id, project_id, name, expires_at, sealed, key_id)
			SELECT $4, organization_id, project_id, name, `+databaseMicros+` + $5, $6, $7 FROM secrets `+ofSecret,
			append(key, id, valid.Microseconds(), sealed.Text, sealed.KeyID)...)
		if err == nil && done.RowsAffected() == 0 {
			err = routine.ErrNotFound
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM secret_codes WHERE id IN (SELECT id FROM secret_codes `+ofSecret+`
			ORDER BY expires_at DESC, id DESC OFFSET $4)`, append(key, routine.MaxCodes)...)
		return err
	})
	return rows.Wrap("save one-time code of secret "+of.Name, withKeyRemedy(err))
}

// TakeCode deletes the newest one-time code of a secret and returns it. It returns
// [routine.ErrNotFound], [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) TakeCode(ctx context.Context, of *routine.Secret) (routine.Hidden, error) {
	for {
		var (
			id     string
			sealed rows.Sealed
		)
		err := s.queryRow(ctx, `SELECT id, sealed, key_id FROM secret_codes `+ofSecret+` AND expires_at > `+databaseMicros+`
			ORDER BY expires_at DESC, id DESC LIMIT 1`, secretKey(of.OrganizationID, of.ProjectID, of.Name)...).Scan(&id, &sealed.Text, &sealed.KeyID)
		if errors.Is(err, pgx.ErrNoRows) {
			err = routine.ErrNotFound
		}
		if err != nil {
			return "", rows.Wrap("take one-time code of secret "+of.Name, err)
		}
		code, err := s.sealer.OpenCode(of, id, sealed)
		if err != nil {
			return "", err
		}
		n, err := s.exec(ctx, `DELETE FROM secret_codes WHERE id = $1`, id)
		if err != nil {
			return "", rows.Wrap("take one-time code of secret "+of.Name, err)
		}
		if n > 0 { // else another run has taken it
			return code, nil
		}
	}
}

// pruneCodes deletes the one-time codes that have expired.
func (s *Store) pruneCodes(ctx context.Context) error {
	_, err := s.exec(ctx, `DELETE FROM secret_codes WHERE expires_at <= `+databaseMicros)
	return rows.Wrap("prune one-time codes", err)
}
