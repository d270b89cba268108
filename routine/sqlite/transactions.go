package sqlite

import (
	"context"
	"database/sql"
)

// inTx does a change in one write transaction, which begins at once as the only
// one of all processes, and commits it unless there is an error.
func (s *Store) inTx(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// texts reads a query of one text column.
func (s *Store) texts(ctx context.Context, query string, args ...any) ([]string, error) {
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
