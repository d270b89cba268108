package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// selectSecrets returns the columns that rows.AppendSecret reads.
var selectSecrets = `SELECT s.` + strings.Join(rows.SecretColumns, `, s.`) + `, f.field, f.is_totp, f.reference
	FROM secrets s LEFT JOIN secret_fields f USING (organization_id, project_id, name) `

// ofSecret selects the rows of one secret. Its arguments are those of secretKey.
const ofSecret = `WHERE organization_id = $1 AND project_id = $2 AND name = $3`

func secretKey(organizationID, projectID, name string) []any {
	return []any{value(organizationID), value(projectID), value(name)}
}

func textBytes(text string) any { return append([]byte{}, text...) }

// SaveSecret creates or replaces a secret. It returns [routine.ErrChanged],
// [routine.ErrNotFound], [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) SaveSecret(ctx context.Context, secret *routine.Secret, before int) error {
	var next routine.Secret
	err := s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		next = *secret
		next.Version = before + 1
		stored, err := lockSecret(ctx, tx, &next)
		switch {
		case errors.Is(err, routine.ErrNotFound) && before == 0:
		case errors.Is(err, routine.ErrNotFound):
			return routine.ErrChanged
		case err != nil:
			return err
		case stored.Version != before:
			return routine.ErrChanged
		default:
			next.CreatedAt, next.CreatedBy = stored.CreatedAt, stored.CreatedBy
		}
		fields, err := s.sealFields(ctx, tx, &next, stored)
		if err != nil {
			return err
		}
		return replaceSecret(ctx, tx, &next, fields)
	})
	if err != nil {
		return fmt.Errorf("save secret %s: %w", secret.Name, err)
	}
	secret.Version, secret.CreatedAt, secret.CreatedBy = next.Version, next.CreatedAt, next.CreatedBy
	return nil
}

// lockSecret reads the stored secret with the name of s and keeps others from changing it.
// It returns [routine.ErrNotFound].
func lockSecret(ctx context.Context, tx pgx.Tx, s *routine.Secret) (*routine.Secret, error) {
	of := secretKey(s.OrganizationID, s.ProjectID, s.Name)
	if _, err := tx.Exec(ctx, `SELECT 1 FROM secrets `+ofSecret+` FOR UPDATE`, of...); err != nil {
		return nil, err
	}
	return oneSecret(ctx, tx, of)
}

func oneSecret(ctx context.Context, q queryer, of []any) (*routine.Secret, error) {
	list, err := querySecrets(ctx, q, ofSecret, of...)
	if err == nil && len(list) == 0 {
		err = routine.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func querySecrets(ctx context.Context, q queryer, which string, args ...any) ([]*routine.Secret, error) {
	found, err := q.Query(ctx, selectSecrets+which+` ORDER BY s.name, s.project_id DESC, f.field`, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	list := []*routine.Secret{}
	for found.Next() {
		if list, err = rows.AppendSecret(list, found.Scan); err != nil {
			return nil, err
		}
	}
	return list, found.Err()
}

// sealFields returns the fields with which next replaces before.
func (s *Store) sealFields(ctx context.Context, tx pgx.Tx, next, before *routine.Secret) ([]rows.SealedField, error) {
	stored, err := collect(ctx, tx, rows.ScanSealedField, `
		SELECT field, is_totp, reference, last_step, sealed, k.id, k.organization_id, k.wrapped, k.state_key_id
		FROM secret_fields f LEFT JOIN data_keys k ON k.id = f.key_id
		WHERE f.organization_id = $1 AND f.project_id = $2 AND f.name = $3`, secretKey(next.OrganizationID, next.ProjectID, next.Name)...)
	if err != nil {
		return nil, err
	}
	var key *rows.DataKey
	if rows.NeedsDataKey(next) {
		if key, err = s.dataKey(ctx, tx, next.OrganizationID, next.UpdatedAt); err != nil {
			return nil, err
		}
	}
	return s.sealer.SealFields(next, before, stored, key)
}

// dataKey returns the data key of an organization, which it creates if there is none. Until
// the end of the transaction, the key is neither retired nor deleted.
func (s *Store) dataKey(ctx context.Context, tx pgx.Tx, organizationID string, at time.Time) (*rows.DataKey, error) {
	for {
		k, err := rows.ScanDataKey(tx.QueryRow(ctx, `
			SELECT id, organization_id, wrapped, state_key_id FROM data_keys WHERE organization_id = $1 AND retired_at IS NULL FOR SHARE`,
			value(organizationID)).Scan)
		if !errors.Is(err, pgx.ErrNoRows) {
			return k, err
		}
		if k, err = s.sealer.NewDataKey(organizationID, false); err != nil {
			return nil, err
		}
		if err := s.registerKey(ctx, tx, k.Wrapped); err != nil {
			return nil, err
		}
		// If another process makes one at the same time, that one is used.
		if _, err := tx.Exec(ctx, `INSERT INTO data_keys (id, organization_id, wrapped, state_key_id, created_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (organization_id) WHERE retired_at IS NULL DO NOTHING`,
			k.ID, k.OrganizationID, k.Wrapped.Text, k.Wrapped.KeyID, rows.Micros(at)); err != nil {
			return nil, err
		}
	}
}

// replaceSecret saves a secret and replaces its fields. It returns [routine.ErrChanged] if it
// is the first version, and another process has saved one meanwhile.
func replaceSecret(ctx context.Context, tx pgx.Tx, s *routine.Secret, fields []rows.SealedField) error {
	values, err := rows.SecretValues(s, textBytes)
	if err != nil {
		return err
	}
	set := strings.Join(rows.SecretColumns, `, `)
	done, err := tx.Exec(ctx, `INSERT INTO secrets (`+set+`) VALUES (`+placeholders(1, len(values))+`)
		ON CONFLICT (organization_id, project_id, name) DO UPDATE SET (`+set+`) = (excluded.`+strings.Join(rows.SecretColumns, `, excluded.`)+`)
		WHERE secrets.version = excluded.version - 1`, values...)
	if err != nil {
		return err
	}
	if done.RowsAffected() == 0 {
		return routine.ErrChanged
	}
	of := secretKey(s.OrganizationID, s.ProjectID, s.Name)
	if _, err := tx.Exec(ctx, `DELETE FROM secret_fields `+ofSecret, of...); err != nil {
		return err
	}
	for _, f := range fields {
		if _, err := tx.Exec(ctx, `
			INSERT INTO secret_fields (organization_id, project_id, name, field, is_totp, sealed, key_id, reference, last_step)
			VALUES (`+placeholders(1, 9)+`)`, append(of, f.Name, f.TOTP, f.Sealed, f.KeyID(), textBytes(f.Reference), f.LastStep)...); err != nil {
			return err
		}
	}
	return nil
}

// Secret reads a secret without values. It returns [routine.ErrNotFound].
func (s *Store) Secret(ctx context.Context, organizationID, projectID, name string) (found *routine.Secret, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		found, err = oneSecret(ctx, s.pool, secretKey(organizationID, projectID, name))
		return err
	})
	return found, rows.Wrap("read secret "+name, err)
}

// Secrets lists the secrets of a project and those of its whole organization.
func (s *Store) Secrets(ctx context.Context, organizationID, projectID string) (list []*routine.Secret, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		list, err = querySecrets(ctx, s.pool, `WHERE organization_id = $1 AND project_id IN ($2, '')`, value(organizationID), value(projectID))
		return err
	})
	return list, rows.Wrap("list secrets", err)
}

// SecretValue decrypts the value of a field. It returns [routine.ErrNotFound],
// [routine.ErrChanged], [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) SecretValue(ctx context.Context, of *routine.Secret, field string) (routine.Hidden, error) {
	var stored routine.Secret
	f, err := rows.ScanFieldOfSecret(s.queryRow(ctx, `
		SELECT `+rows.RuleColumns+`, f.field, f.is_totp, f.reference, f.last_step, f.sealed, k.id, k.organization_id, k.wrapped, k.state_key_id
		FROM secret_fields f JOIN secrets s USING (organization_id, project_id, name) JOIN data_keys k ON k.id = f.key_id
		WHERE f.organization_id = $1 AND f.project_id = $2 AND f.name = $3 AND f.field = $4`,
		append(secretKey(of.OrganizationID, of.ProjectID, of.Name), value(field))...).Scan, &stored)
	if errors.Is(err, pgx.ErrNoRows) {
		err = routine.ErrNotFound
	}
	if err == nil {
		err = rows.CheckVersion(of, &stored)
	}
	if err != nil {
		return "", fmt.Errorf("read field %s of secret %s: %w", field, of.Name, err)
	}
	return s.sealer.OpenField(of, &f)
}

// DeleteSecret deletes a secret with its fields. It returns [routine.ErrNotFound].
func (s *Store) DeleteSecret(ctx context.Context, organizationID, projectID, name string) error {
	n, err := s.exec(ctx, `DELETE FROM secrets `+ofSecret, secretKey(organizationID, projectID, name)...)
	if err == nil && n == 0 {
		err = routine.ErrNotFound
	}
	return rows.Wrap("delete secret "+name, err)
}

// CodeTime returns the time of the database.
func (s *Store) CodeTime(ctx context.Context, _ time.Time) (time.Time, error) {
	at, err := s.databaseClock(ctx)
	return at, rows.Wrap("read the time of the database", err)
}

// TakeCodeStep records that the one-time code of a time step was used. It returns
// [routine.ErrNotFound].
func (s *Store) TakeCodeStep(ctx context.Context, organizationID, projectID, name, field string, step int64) (bool, error) {
	of := append(secretKey(organizationID, projectID, name), value(field))
	n, err := s.exec(ctx, `UPDATE secret_fields SET last_step = $5 `+ofSecret+` AND field = $4 AND coalesce(last_step < $5 OR last_step > $5 + $6, true)`, append(of, step, routine.MaxStepsAhead)...)
	if err != nil || n > 0 {
		return err == nil, rows.Wrap("use one-time code of secret "+name, err)
	}
	var exists bool
	err = s.queryRow(ctx, `SELECT EXISTS (SELECT 1 FROM secret_fields `+ofSecret+` AND field = $4)`, of...).Scan(&exists)
	if err == nil && !exists {
		err = routine.ErrNotFound
	}
	return false, rows.Wrap("use one-time code of secret "+name, err)
}
