package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// secretUseTypes are the types of rows.SecretUseColumns.
var secretUseTypes = []string{"text", "bigint", "text", "text", "text", "text", "text", "text", "bytea", "bytea", "text", "text", "integer", "integer",
	"text", "text", "text"}

// insertSecretUses returns a statement that saves uses of secrets, with a FROM clause that may be
// continued. Its arguments are those of secretUseArrays, of which the first has a number.
func insertSecretUses(first int) string {
	var arrays []string
	for i, name := range secretUseTypes {
		arrays = append(arrays, fmt.Sprintf(`$%d::%s[]`, first+i, name))
	}
	columns := strings.Join(rows.SecretUseColumns, `, `)
	return `INSERT INTO secret_uses (` + columns + `) SELECT u.* FROM unnest(` + strings.Join(arrays, `, `) + `) AS u (` + columns + `)`
}

// secretUseArrays returns for each of rows.SecretUseColumns an array of the values of all
// uses.
func secretUseArrays(uses []routine.SecretUse) ([]any, error) {
	texts := make([][]string, len(secretUseTypes))
	var at []int64
	var hosts, reasons [][]byte
	var versions, operations []int32
	for _, u := range uses {
		id, err := rows.NewSecretUseID()
		if err != nil {
			return nil, err
		}
		for i, text := range []string{0: id, 2: u.OrganizationID, 3: u.ProjectID, 4: u.What, 5: u.Name, 6: u.Field, 7: u.Outcome,
			10: u.ExecutionID, 11: u.RoutineID, 14: u.UserID, 15: u.TokenID, 16: string(u.Via)} {
			texts[i] = append(texts[i], text)
		}
		at = append(at, rows.Micros(u.At))
		hosts, reasons = append(hosts, []byte(u.Host)), append(reasons, []byte(u.Reason))
		versions, operations = append(versions, int32(u.RoutineVersion)), append(operations, int32(u.Operation))
	}
	arrays := make([]any, len(texts))
	for i, list := range texts {
		arrays[i] = list
	}
	arrays[1], arrays[8], arrays[9], arrays[12], arrays[13] = at, hosts, reasons, versions, operations
	return arrays, nil
}

// RecordSecretUses saves uses of secrets.
func (s *Store) RecordSecretUses(ctx context.Context, uses []routine.SecretUse) error {
	if len(uses) == 0 {
		return nil
	}
	arrays, err := secretUseArrays(uses)
	if err == nil {
		_, err = s.exec(ctx, insertSecretUses(1), arrays...)
	}
	return rows.Wrap("save uses of secrets", err)
}

// SecretUses lists the uses of a secret, newest first.
func (s *Store) SecretUses(ctx context.Context, organizationID, projectID, name string, limit, offset int) (uses []routine.SecretUse, total int, err error) {
	of := secretKey(organizationID, projectID, name)
	err = s.snapshot(ctx, func(ctx context.Context, q queryer) (err error) {
		if err := q.QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM secret_uses `+ofSecret+` LIMIT $4) AS counted`,
			append(of, routine.MaxTotal+1)...).Scan(&total); err != nil {
			return err
		}
		uses, err = collect(ctx, q, rows.ScanSecretUse, `SELECT `+strings.Join(rows.SecretUseColumns, `, `)+` FROM secret_uses `+ofSecret+`
			ORDER BY at DESC, id DESC LIMIT $4 OFFSET $5`, append(of, limitOf(limit), offset)...)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list uses of secret %s: %w", name, err)
	}
	return uses, total, nil
}

// PruneSecretUses deletes the uses before a time, in batches.
func (s *Store) PruneSecretUses(ctx context.Context, before time.Time) (total int, err error) {
	for {
		n, err := s.exec(ctx, `DELETE FROM secret_uses WHERE id IN (SELECT id FROM secret_uses WHERE at < $1 LIMIT $2)`, rows.Micros(before), pruneBatch)
		total += int(n)
		if err != nil || n < pruneBatch {
			return total, rows.Wrap("prune uses of secrets", err)
		}
	}
}
