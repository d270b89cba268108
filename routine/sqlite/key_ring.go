package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"rote/routine"
	"rote/routine/rows"
)

// sealBatch is how many rows one transaction encrypts again, so that others wait only for
// milliseconds.
const sealBatch = 100

// registerKey lets rows refer to the state key of sealed. It must be called before they are
// saved. It returns [routine.ErrStateKey] if the key may not encrypt anything in this database.
func (s *Store) registerKey(ctx context.Context, w writer, sealed rows.Sealed) error {
	if sealed.KeyID == nil {
		return nil
	}
	var known, removed bool
	err := w.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM key_ring WHERE id = ?1), EXISTS (SELECT 1 FROM removed_keys WHERE id = ?1)`,
		sealed.KeyID).Scan(&known, &removed)
	if err != nil || known {
		return err
	}
	ring, err := s.sealer.Keys(false)
	if err != nil {
		return fmt.Errorf("%w: %w", routine.ErrStateKey, err)
	}
	ids, err := s.queryStrings(ctx, `SELECT id FROM key_ring ORDER BY created_at DESC`)
	if err == nil {
		err = rows.CheckNewKey(ring, ids, removed)
	}
	if err == nil && len(ids) == 0 {
		err = s.checkUnnamedKeys(ctx)
	}
	if err != nil {
		return err
	}
	_, err = w.ExecContext(ctx, `INSERT INTO key_ring (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING`, sealed.KeyID, rows.Micros(time.Now()))
	return err
}

// checkUnnamedKeys returns an error if rows of an earlier version, which do not name their
// key, cannot be decrypted. It looks at one of each kind.
func (s *Store) checkUnnamedKeys(ctx context.Context) error {
	for _, kind := range rows.SealedKinds {
		list, err := sealedRows(ctx, s.read, kind, kind.KeyID+` IS NULL`, 1)
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
func sealedRows(ctx context.Context, q manyQueryer, kind rows.SealedKind, condition string, limit int, args ...any) (list []sealedRow, err error) {
	found, err := q.QueryContext(ctx, `SELECT `+kind.ID[0]+`, `+kind.ID[1]+`, `+kind.Text+`, `+kind.KeyID+` FROM `+kind.Table+`
		WHERE `+kind.Text+` IS NOT NULL AND `+condition+` LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var r sealedRow
		if err := found.Scan(&r.a, &r.b, &r.Text, &r.KeyID); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, found.Err()
}

// StateKeys returns the state keys with which something may be encrypted, and how many rows
// are.
func (s *Store) StateKeys(ctx context.Context) (uses []rows.KeyUse, err error) {
	query := `SELECT id, 0 FROM key_ring`
	for _, kind := range rows.SealedKinds {
		query += ` UNION ALL SELECT coalesce(` + kind.KeyID + `, ''), count(*) FROM ` + kind.Table + ` WHERE ` + kind.Text + ` IS NOT NULL GROUP BY 1`
	}
	found, err := s.read.QueryContext(ctx, `SELECT id, sum(n) FROM (SELECT '' AS id, 0 AS n WHERE false UNION ALL `+query+`) GROUP BY id ORDER BY id`)
	if err != nil {
		return nil, rows.Wrap("list state keys", err)
	}
	defer found.Close()
	for found.Next() {
		var u rows.KeyUse
		if err := found.Scan(&u.ID, &u.Rows); err != nil {
			return nil, rows.Wrap("list state keys", err)
		}
		uses = append(uses, u)
	}
	return uses, rows.Wrap("list state keys", found.Err())
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
	return total, nil
}

func (s *Store) resealBatch(ctx context.Context, kind rows.SealedKind) (n int, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		ring, err := s.sealer.Keys(false)
		if err != nil {
			return fmt.Errorf("%w: %w", routine.ErrStateKey, err)
		}
		list, err := sealedRows(ctx, tx, kind, kind.KeyID+` IS NOT ?`, sealBatch, rows.KeyID(ring[0]))
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
			if _, err := tx.ExecContext(ctx, `UPDATE `+kind.Table+` SET `+kind.Text+` = ?, `+kind.KeyID+` = ? WHERE `+kind.ID[0]+` = ? AND `+kind.ID[1]+` = ?`,
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
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		for _, kind := range rows.SealedKinds { // rows that do not name their key
			if list, err := sealedRows(ctx, tx, kind, kind.KeyID+` IS NULL`, 1); err != nil || len(list) > 0 {
				return errors.Join(err, rows.ErrKeyInUse)
			}
		}
		var known bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM key_ring WHERE id = ?1 UNION ALL SELECT 1 FROM removed_keys WHERE id = ?1)`, id).Scan(&known); err != nil {
			return err
		}
		if !known {
			return rows.ErrKeyNotUsed
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM key_ring WHERE id = ?`, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO removed_keys (id, removed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`, id, rows.Micros(time.Now()))
		return err
	})
	if hasCode(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY) {
		err = rows.ErrKeyInUse
	}
	return rows.Wrap("remove state key "+id, err)
}

// DataKeyOrganizations returns the organizations that have a data key.
func (s *Store) DataKeyOrganizations(ctx context.Context) ([]string, error) {
	ids, err := s.queryStrings(ctx, `SELECT DISTINCT organization_id FROM data_keys ORDER BY organization_id`)
	return ids, rows.Wrap("list data keys", err)
}

// RotateDataKey makes a new data key for an organization, encrypts all its secrets and
// sessions with it in batches, deletes the old key, and returns the number of values. If an earlier call was
// interrupted, it completes that one instead.
func (s *Store) RotateDataKey(ctx context.Context, organizationID string, at time.Time) (total int, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		var interrupted bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM data_keys WHERE organization_id = ? AND retired_at IS NOT NULL)`,
			organizationID).Scan(&interrupted); err != nil || interrupted {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE data_keys SET retired_at = ? WHERE organization_id = ?`, rows.Micros(at), organizationID); err != nil {
			return err
		}
		_, err := s.dataKey(ctx, tx, organizationID, at, false)
		return err
	})
	for n := sealBatch; err == nil && n == sealBatch; total += n {
		n, err = s.resealSecrets(ctx, organizationID, at)
	}
	for n := sealBatch; err == nil && n == sealBatch; total += n {
		n, err = s.resealSessions(ctx, organizationID, at)
	}
	if err == nil {
		_, err = s.write.ExecContext(ctx, `DELETE FROM data_keys WHERE organization_id = ?1 AND retired_at IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM secret_fields WHERE key_id = data_keys.id)
			AND NOT EXISTS (SELECT 1 FROM sessions WHERE key_id = data_keys.id)`, organizationID)
	}
	return total, rows.Wrap("rotate data key", err)
}

// resealSecrets encrypts some values of an organization with its data key, and returns their
// number.
func (s *Store) resealSecrets(ctx context.Context, organizationID string, at time.Time) (n int, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		key, err := s.dataKey(ctx, tx, organizationID, at, false)
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
			if _, err := tx.ExecContext(ctx, `UPDATE secret_fields SET sealed = ?, key_id = ?
				WHERE organization_id = ? AND project_id = ? AND name = ? AND field = ?`, append([]any{sealed, key.ID}, append(secretKey(of), f.Name)...)...); err != nil {
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
// encrypts.
func fieldsToReseal(ctx context.Context, tx *sql.Tx, key *rows.DataKey) (list []fieldOf, err error) {
	found, err := tx.QueryContext(ctx, `
		SELECT f.project_id, f.name, `+rows.RuleColumns+`, f.field, f.is_totp, f.reference, f.last_step, f.sealed,
			k.id, k.organization_id, k.wrapped, k.state_key_id
		FROM secret_fields f JOIN secrets s USING (organization_id, project_id, name) JOIN data_keys k ON k.id = f.key_id
		WHERE f.organization_id = ? AND f.key_id <> ? LIMIT ?`, key.OrganizationID, key.ID, sealBatch)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		r := fieldOf{of: routine.Secret{OrganizationID: key.OrganizationID}}
		if r.field, err = rows.ScanFieldOfSecret(func(into ...any) error {
			return found.Scan(append([]any{&r.of.ProjectID, &r.of.Name}, into...)...)
		}, &r.of); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, found.Err()
}
