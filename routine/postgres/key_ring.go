package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rote/routine"
	"rote/routine/rows"
)

// sealBatch is how many rows one transaction encrypts again, so that others wait only for
// milliseconds.
const sealBatch = 100

// foreignKeyViolation is the code of the error of a statement that would delete a row to which
// others refer.
const foreignKeyViolation = "23503"

// withKeyRemedy adds [routine.ErrStateKey] to the error of a statement that would save a row
// with a state key that was removed after this process had used it.
func withKeyRemedy(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == foreignKeyViolation && strings.HasSuffix(e.ConstraintName, "key_id_fkey") {
		return fmt.Errorf("%w: the key of this process was removed by rote key prune: give it the key file of today: %w", routine.ErrStateKey, err)
	}
	return err
}

// useKey lets rows refer to the state key of sealed, once for each process. It must be called
// before they are saved. It returns [routine.ErrStateKey] if the key may not encrypt anything
// in this database.
func (s *Store) useKey(ctx context.Context, sealed rows.Sealed) error {
	if sealed.KeyID == nil {
		return nil
	}
	if _, used := s.usedKeys.Load(*sealed.KeyID); used {
		return nil
	}
	err := s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.registerKey(ctx, tx, sealed) })
	if err == nil {
		s.usedKeys.Store(*sealed.KeyID, true)
	}
	return err
}

// registerKey is useKey in a transaction.
func (s *Store) registerKey(ctx context.Context, tx pgx.Tx, sealed rows.Sealed) error {
	var removed bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM removed_keys WHERE id = $1)`, sealed.KeyID).Scan(&removed)
	if err != nil {
		return err
	}
	known, err := collect(ctx, tx, scanString, `SELECT id FROM key_ring ORDER BY created_at DESC`)
	if err != nil || slices.Contains(known, *sealed.KeyID) {
		return err
	}
	ring, err := s.sealer.Keys(false)
	if err != nil {
		return fmt.Errorf("%w: %w", routine.ErrStateKey, err)
	}
	if err = rows.CheckNewKey(ring, known, removed); err == nil && len(known) == 0 {
		err = s.checkUnnamedKeys(ctx, tx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO key_ring (id, created_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`, sealed.KeyID, rows.Micros(time.Now()))
	return err
}

// checkUnnamedKeys returns an error if rows of an earlier version, which do not name their
// key, cannot be decrypted. It looks at one of each kind.
func (s *Store) checkUnnamedKeys(ctx context.Context, tx pgx.Tx) error {
	for _, kind := range rows.SealedKinds {
		list, err := sealedRows(ctx, tx, kind, kind.KeyID+` IS NULL`, 1)
		if err != nil {
			return err
		}
		for _, r := range list {
			if err := s.sealer.Check(kind, r.Sealed, r.a, r.b); err != nil {
				return fmt.Errorf("%w: the %s are encrypted with another key: name its file with --state-key: %w", routine.ErrStateKey, kind.Name, err)
			}
		}
	}
	return nil
}

// sealedRow is a row that is encrypted with a state key; a and b identify it.
type sealedRow struct {
	rows.Sealed
	a, b string
}

// sealedRows returns at most limit encrypted rows of a kind for which a condition on args
// holds.
func sealedRows(ctx context.Context, q queryer, kind rows.SealedKind, condition string, limit int, args ...any) ([]sealedRow, error) {
	return collect(ctx, q, func(scan rows.Scan) (r sealedRow, err error) {
		err = scan(&r.a, &r.b, &r.Text, &r.KeyID)
		return r, err
	}, fmt.Sprintf(`SELECT %s, %s, %s, %s FROM %s WHERE %s IS NOT NULL AND %s LIMIT %d FOR UPDATE`,
		kind.ID[0], kind.ID[1], kind.Text, kind.KeyID, kind.Table, kind.Text, condition, limit), args...)
}

// StateKeys returns the state keys with which something may be encrypted, and how many rows
// are.
func (s *Store) StateKeys(ctx context.Context) (uses []rows.KeyUse, err error) {
	query := `SELECT id, 0::bigint AS n FROM key_ring`
	for _, kind := range rows.SealedKinds {
		query += ` UNION ALL SELECT coalesce(` + kind.KeyID + `, ''), count(*) FROM ` + kind.Table + ` WHERE ` + kind.Text + ` IS NOT NULL GROUP BY 1`
	}
	err = s.read(ctx, func(ctx context.Context) (err error) {
		uses, err = collect(ctx, s.pool, func(scan rows.Scan) (u rows.KeyUse, err error) { return u, scan(&u.ID, &u.Rows) },
			`SELECT id, sum(n)::bigint FROM (`+query+`) AS uses GROUP BY id ORDER BY id`)
		return err
	})
	return uses, rows.Wrap("list state keys", err)
}

// Reseal encrypts everything that is encrypted with another state key with the first one, in
// batches, and returns the number of rows. It can be interrupted and called again.
func (s *Store) Reseal(ctx context.Context) (total int, err error) {
	for _, kind := range rows.SealedKinds {
		for n := sealBatch; n == sealBatch; total += n {
			if n, err = s.resealBatch(ctx, kind); err != nil {
				return total, fmt.Errorf("encrypt %s again: %w", kind.Name, err)
			}
		}
	}
	ring, err := s.sealer.Keys(false)
	if err == nil { // so that servers of earlier versions refuse the old key
		_, err = s.exec(ctx, `UPDATE state_key SET key_id = $1`, keyID(ring[0]))
	}
	return total, rows.Wrap("save id of state key", err)
}

func (s *Store) resealBatch(ctx context.Context, kind rows.SealedKind) (n int, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		ring, err := s.sealer.Keys(false)
		if err != nil {
			return fmt.Errorf("%w: %w", routine.ErrStateKey, err)
		}
		list, err := sealedRows(ctx, tx, kind, kind.KeyID+` IS DISTINCT FROM $1`, sealBatch, rows.KeyID(ring[0]))
		if err != nil {
			return err
		}
		for i := range list {
			r := &list[i]
			sealed, err := s.sealer.Reseal(kind, r.Sealed, r.a, r.b)
			if err == nil {
				err = s.registerKey(ctx, tx, sealed)
			}
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `UPDATE `+kind.Table+` SET `+kind.Text+` = $1, `+kind.KeyID+` = $2 WHERE `+kind.ID[0]+` = $3 AND `+kind.ID[1]+` = $4`,
				sealed.Text, sealed.KeyID, r.a, r.b); err != nil {
				return err
			}
		}
		n = len(list)
		return nil
	})
	return n, err
}

// RemoveKey makes the database refuse a state key with which nothing is encrypted any more. It
// returns [rows.ErrKeyInUse] or [rows.ErrKeyNotUsed].
func (s *Store) RemoveKey(ctx context.Context, id string) error {
	err := s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		for _, kind := range rows.SealedKinds { // rows that do not name their key
			if list, err := sealedRows(ctx, tx, kind, kind.KeyID+` IS NULL`, 1); err != nil || len(list) > 0 {
				return errors.Join(err, rows.ErrKeyInUse)
			}
		}
		var known bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM key_ring WHERE id = $1 UNION ALL SELECT 1 FROM removed_keys WHERE id = $1)`, id).Scan(&known); err != nil {
			return err
		}
		if !known {
			return rows.ErrKeyNotUsed
		}
		if _, err := tx.Exec(ctx, `DELETE FROM key_ring WHERE id = $1`, id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO removed_keys (id, removed_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`, id, rows.Micros(time.Now()))
		return err
	})
	if sqlState(err) == foreignKeyViolation {
		err = rows.ErrKeyInUse
	}
	return rows.Wrap("remove state key "+id, err)
}

// DataKeyOrganizations returns the organizations that have a data key.
func (s *Store) DataKeyOrganizations(ctx context.Context) (ids []string, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		ids, err = collect(ctx, s.pool, scanString, `SELECT DISTINCT organization_id FROM data_keys ORDER BY organization_id`)
		return err
	})
	return ids, rows.Wrap("list data keys", err)
}

// RotateDataKey makes a new data key for an organization, encrypts all its secrets and
// sessions with it in batches, deletes the old key, and returns the number of values. If an earlier call was
// interrupted, it completes that one instead.
func (s *Store) RotateDataKey(ctx context.Context, organizationID string, at time.Time) (total int, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var interrupted bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM data_keys WHERE organization_id = $1 AND retired_at IS NOT NULL)`,
			value(organizationID)).Scan(&interrupted); err != nil || interrupted {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE data_keys SET retired_at = $1 WHERE organization_id = $2`, rows.Micros(at), value(organizationID)); err != nil {
			return err
		}
		_, err := s.dataKey(ctx, tx, organizationID, at)
		return err
	})
	for n := sealBatch; err == nil && n == sealBatch; total += n {
		n, err = s.resealSecrets(ctx, organizationID, at)
	}
	for n := sealBatch; err == nil && n == sealBatch; total += n {
		n, err = s.resealSessions(ctx, organizationID, at)
	}
	if err == nil {
		_, err = s.exec(ctx, `DELETE FROM data_keys WHERE organization_id = $1 AND retired_at IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM secret_fields WHERE key_id = data_keys.id)
			AND NOT EXISTS (SELECT 1 FROM sessions WHERE key_id = data_keys.id)`, value(organizationID))
	}
	return total, rows.Wrap("rotate data key", err)
}

// resealSecrets encrypts some values of an organization with its data key, and returns their
// number.
func (s *Store) resealSecrets(ctx context.Context, organizationID string, at time.Time) (n int, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		key, err := s.dataKey(ctx, tx, organizationID, at)
		if err != nil {
			return err
		}
		list, err := fieldsToReseal(ctx, tx, key)
		if err != nil {
			return err
		}
		for i := range list {
			of, f := &list[i].of, &list[i].field
			sealed, err := s.sealer.ResealField(of, f, key)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `UPDATE secret_fields SET sealed = $5, key_id = $6 `+ofSecret+` AND field = $4`,
				append(secretKey(of.OrganizationID, of.ProjectID, of.Name), f.Name, sealed, key.ID)...); err != nil {
				return err
			}
		}
		n = len(list)
		return nil
	})
	return n, err
}

// fieldOf is a field of a secret.
type fieldOf struct {
	of    routine.Secret
	field rows.SealedField
}

// fieldsToReseal returns some fields of the organization of a data key that another one
// encrypts, and keeps others from changing them.
func fieldsToReseal(ctx context.Context, tx pgx.Tx, key *rows.DataKey) ([]fieldOf, error) {
	return collect(ctx, tx, func(scan rows.Scan) (r fieldOf, err error) {
		r.of.OrganizationID = key.OrganizationID
		r.field, err = rows.ScanFieldOfSecret(func(into ...any) error { return scan(append([]any{&r.of.ProjectID, &r.of.Name}, into...)...) }, &r.of)
		return r, err
	}, `
		SELECT f.project_id, f.name, `+rows.RuleColumns+`, f.field, f.is_totp, f.reference, f.last_step, f.sealed,
			k.id, k.organization_id, k.wrapped, k.state_key_id
		FROM secret_fields f JOIN secrets s USING (organization_id, project_id, name) JOIN data_keys k ON k.id = f.key_id
		WHERE f.organization_id = $1 AND f.key_id <> $2 LIMIT $3 FOR UPDATE OF f, s`, key.OrganizationID, key.ID, sealBatch)
}
