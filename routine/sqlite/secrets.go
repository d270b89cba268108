package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// selectSecrets returns the columns that rows.AppendSecret reads.
var selectSecrets = `SELECT s.` + strings.Join(rows.SecretColumns, `, s.`) + `, f.field, f.is_totp, f.reference
	FROM secrets s LEFT JOIN secret_fields f USING (organization_id, project_id, name) `

// ofSecret selects the rows of one secret. Its arguments are those of secretKey.
const ofSecret = `WHERE organization_id = ? AND project_id = ? AND name = ?`

func secretKey(s *routine.Secret) []any { return []any{s.OrganizationID, s.ProjectID, s.Name} }

func plainText(text string) any { return text }

// SaveSecret creates or replaces a secret. It returns [routine.ErrChanged],
// [routine.ErrNotFound], [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) SaveSecret(ctx context.Context, secret *routine.Secret, before int) error {
	sealed, err := s.hasSealed(ctx)
	if err != nil {
		return fmt.Errorf("save secret: %w", err)
	}
	next := *secret
	next.Version = before + 1
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		stored, err := secretIn(ctx, tx, &next)
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
		fields, err := s.sealFields(ctx, tx, &next, stored, !sealed)
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

// secretIn reads the stored secret with the name of s. It returns [routine.ErrNotFound].
func secretIn(ctx context.Context, tx manyQueryer, s *routine.Secret) (*routine.Secret, error) {
	list, err := querySecrets(ctx, tx, ofSecret, secretKey(s)...)
	if err == nil && len(list) == 0 {
		err = routine.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// manyQueryer is a pool or a transaction.
type manyQueryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func querySecrets(ctx context.Context, q manyQueryer, which string, args ...any) ([]*routine.Secret, error) {
	found, err := q.QueryContext(ctx, selectSecrets+which+` ORDER BY s.name, s.project_id DESC, f.field`, args...)
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
func (s *Store) sealFields(ctx context.Context, tx *sql.Tx, next, before *routine.Secret, first bool) ([]rows.SealedField, error) {
	stored, err := sealedFields(ctx, tx, next)
	if err != nil {
		return nil, err
	}
	var key *rows.DataKey
	if rows.NeedsDataKey(next) {
		if key, err = s.dataKey(ctx, tx, next.OrganizationID, next.UpdatedAt, first); err != nil {
			return nil, err
		}
	}
	return s.sealer.SealFields(next, before, stored, key)
}

// sealedFields reads the stored fields of a secret.
func sealedFields(ctx context.Context, tx *sql.Tx, of *routine.Secret) (fields []rows.SealedField, err error) {
	found, err := tx.QueryContext(ctx, `SELECT field, is_totp, reference, last_step, sealed, k.id, k.organization_id, k.wrapped, k.state_key_id
		FROM secret_fields f LEFT JOIN data_keys k ON k.id = f.key_id
		WHERE f.organization_id = ? AND f.project_id = ? AND f.name = ?`, secretKey(of)...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		f, err := rows.ScanSealedField(found.Scan)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, found.Err()
}

// dataKey returns the data key of an organization, which it creates if there is none.
func (s *Store) dataKey(ctx context.Context, tx *sql.Tx, organizationID string, at time.Time, first bool) (*rows.DataKey, error) {
	k, err := rows.ScanDataKey(tx.QueryRowContext(ctx, `
		SELECT id, organization_id, wrapped, state_key_id FROM data_keys WHERE organization_id = ? AND retired_at IS NULL`, organizationID).Scan)
	if !errors.Is(err, sql.ErrNoRows) {
		return k, err
	}
	if k, err = s.sealer.NewDataKey(organizationID, first); err != nil {
		return nil, err
	}
	if err := s.registerKey(ctx, tx, k.Wrapped); err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO data_keys (id, organization_id, wrapped, state_key_id, created_at) VALUES (?, ?, ?, ?, ?)`,
		k.ID, k.OrganizationID, k.Wrapped.Text, k.Wrapped.KeyID, rows.Micros(at))
	return k, err
}

// replaceSecret saves a secret and replaces its fields.
func replaceSecret(ctx context.Context, tx *sql.Tx, s *routine.Secret, fields []rows.SealedField) error {
	values, err := rows.SecretValues(s, plainText)
	if err != nil {
		return err
	}
	set := strings.Join(rows.SecretColumns, `, `)
	if _, err := tx.ExecContext(ctx, `INSERT INTO secrets (`+set+`) VALUES (`+placeholders(len(values))+`)
		ON CONFLICT DO UPDATE SET (`+set+`) = (excluded.`+strings.Join(rows.SecretColumns, `, excluded.`)+`)`, values...); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM secret_fields `+ofSecret, secretKey(s)...); err != nil {
		return err
	}
	for _, f := range fields {
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO secret_fields (organization_id, project_id, name, field, is_totp, sealed, key_id, reference, last_step)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(secretKey(s), f.Name, f.TOTP, f.Sealed, f.KeyID(), f.Reference, f.LastStep)...); err != nil {
			return err
		}
	}
	return nil
}

// Secret reads a secret without values. It returns [routine.ErrNotFound].
func (s *Store) Secret(ctx context.Context, organizationID, projectID, name string) (*routine.Secret, error) {
	found, err := secretIn(ctx, s.read, &routine.Secret{OrganizationID: organizationID, ProjectID: projectID, Name: name})
	return found, rows.Wrap("read secret "+name, err)
}

// Secrets lists the secrets of a project and those of its whole organization.
func (s *Store) Secrets(ctx context.Context, organizationID, projectID string) ([]*routine.Secret, error) {
	list, err := querySecrets(ctx, s.read, `WHERE organization_id = ? AND project_id IN (?, '')`, organizationID, projectID)
	return list, rows.Wrap("list secrets", err)
}

// SecretValue decrypts the value of a field. It returns [routine.ErrNotFound],
// [routine.ErrChanged], [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) SecretValue(ctx context.Context, of *routine.Secret, field string) (routine.Hidden, error) {
	var stored routine.Secret
	f, err := rows.ScanFieldOfSecret(s.read.QueryRowContext(ctx, `
		SELECT `+rows.RuleColumns+`, f.field, f.is_totp, f.reference, f.last_step, f.sealed, k.id, k.organization_id, k.wrapped, k.state_key_id
		FROM secret_fields f JOIN secrets s USING (organization_id, project_id, name) JOIN data_keys k ON k.id = f.key_id
		WHERE f.organization_id = ? AND f.project_id = ? AND f.name = ? AND f.field = ?`, append(secretKey(of), field)...).Scan, &stored)
	if errors.Is(err, sql.ErrNoRows) {
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
	done, err := s.write.ExecContext(ctx, `DELETE FROM secrets `+ofSecret, organizationID, projectID, name)
	return rows.Wrap("delete secret "+name, changedOne(done, err, routine.ErrNotFound))
}

// CodeTime returns now: all processes have the clock of one machine.
func (s *Store) CodeTime(_ context.Context, now time.Time) (time.Time, error) { return now, nil }

// TakeCodeStep records that the one-time code of a time step was used. It returns
// [routine.ErrNotFound].
func (s *Store) TakeCodeStep(ctx context.Context, organizationID, projectID, name, field string, step int64) (taken bool, err error) {
	of := []any{organizationID, projectID, name, field}
	done, err := s.write.ExecContext(ctx, `UPDATE secret_fields SET last_step = ?5
		WHERE organization_id = ?1 AND project_id = ?2 AND name = ?3 AND field = ?4 AND coalesce(last_step < ?5 OR last_step > ?5 + ?6, true)`, append(of, step, routine.MaxStepsAhead)...)
	if err = changedOne(done, err, errStepTaken); !errors.Is(err, errStepTaken) {
		return err == nil, rows.Wrap("use one-time code of secret "+name, err)
	}
	var exists bool
	err = s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM secret_fields `+ofSecret+` AND field = ?)`, of...).Scan(&exists)
	if err == nil && !exists {
		err = routine.ErrNotFound
	}
	return false, rows.Wrap("use one-time code of secret "+name, err)
}

var errStepTaken = errors.New("the time step was used")
