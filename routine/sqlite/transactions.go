package sqlite

import (
	"context"
	"database/sql"
)

// inTx calls change in a write transaction and commits it if change returns no
// error. The transaction holds the write lock of the database from its start.
func (s *Store) inTx(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// queryStrings returns the results of a query with one text column.
func (s *Store) queryStrings(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}
