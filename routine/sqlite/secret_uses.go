package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// RecordSecretUses saves uses of secrets.
func (s *Store) RecordSecretUses(ctx context.Context, uses []routine.SecretUse) error {
	if len(uses) == 0 {
		return nil
	}
	err := s.inTx(ctx, func(tx *sql.Tx) error { return saveSecretUses(ctx, tx, uses) })
	return rows.Wrap("save uses of secrets", err)
}

var insertSecretUse = `INSERT INTO secret_uses (` + strings.Join(rows.SecretUseColumns, `, `) + `) VALUES (` + placeholders(len(rows.SecretUseColumns)) + `)`

func saveSecretUses(ctx context.Context, tx writer, uses []routine.SecretUse) error {
	for _, u := range uses {
		id, err := rows.NewSecretUseID()
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, insertSecretUse, id, rows.Micros(u.At), u.OrganizationID, u.ProjectID, u.What, u.Name, u.Field, u.Outcome,
			u.Host, u.Reason, u.ExecutionID, u.RoutineID, u.RoutineVersion, u.Operation, u.UserID, u.TokenID, string(u.Via)); err != nil {
			return err
		}
	}
	return nil
}

// SecretUses lists the uses of a secret, newest first.
func (s *Store) SecretUses(ctx context.Context, organizationID, projectID, name string, limit, offset int) (uses []routine.SecretUse, total int, err error) {
	of := []any{organizationID, projectID, name}
	if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM secret_uses `+ofSecret+` LIMIT ?)`,
		append(of, routine.MaxTotal+1)...).Scan(&total); err != nil {
		return nil, 0, rows.Wrap("count uses of secret "+name, err)
	}
	if limit <= 0 {
		limit = -1
	}
	found, err := s.read.QueryContext(ctx, `SELECT `+strings.Join(rows.SecretUseColumns, `, `)+` FROM secret_uses `+ofSecret+`
		ORDER BY at DESC, id DESC LIMIT ? OFFSET ?`, append(of, limit, offset)...)
	if err != nil {
		return nil, 0, rows.Wrap("list uses of secret "+name, err)
	}
	defer found.Close()
	uses = []routine.SecretUse{}
	for found.Next() {
		u, err := rows.ScanSecretUse(found.Scan)
		if err != nil {
			return nil, 0, rows.Wrap("list uses of secret "+name, err)
		}
		uses = append(uses, u)
	}
	return uses, total, rows.Wrap("list uses of secret "+name, found.Err())
}

// PruneSecretUses deletes the uses before a time, in batches so that other writers wait only
// for milliseconds.
func (s *Store) PruneSecretUses(ctx context.Context, before time.Time) (total int, err error) {
	for {
		done, err := s.write.ExecContext(ctx, `DELETE FROM secret_uses WHERE id IN (SELECT id FROM secret_uses WHERE at < ? LIMIT ?)`,
			rows.Micros(before), pruneBatch)
		if err != nil {
			return total, rows.Wrap("prune uses of secrets", err)
		}
		n, err := done.RowsAffected()
		total += int(n)
		if err != nil || n < pruneBatch {
			return total, rows.Wrap("prune uses of secrets", err)
		}
	}
}
