package sqlite

import (
	"context"
	"database/sql"
)

// writer is the pool with the write connection, or a transaction of it.
type writer interface {
	queryer
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// inTxIf calls change in a write transaction if several is set. Otherwise
// change must execute one statement, which is a transaction by itself: BEGIN and
// COMMIT would only make it slower.
func (s *Store) inTxIf(ctx context.Context, several bool, change func(writer) error) error {
	if !several {
		return change(preparedWriter{s})
	}
	return s.inTx(ctx, func(tx *sql.Tx) error { return change(tx) })
}

// preparedWriter executes statements on the write connection. It prepares each
// query once, because parsing takes a fifth of the time of a short statement.
type preparedWriter struct{ store *Store }

func (w preparedWriter) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := w.store.prepare(ctx, query) //nolint:sqlclosecheck // closed with the connection
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

func (w preparedWriter) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return w.store.write.QueryRowContext(ctx, query, args...)
}

// prepare returns the prepared statement of a query, of which there are few. It
// is closed together with the connection.
func (s *Store) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if statement, ok := s.prepared.Load(query); ok {
		return statement.(*sql.Stmt), nil
	}
	statement, err := s.write.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if other, ok := s.prepared.LoadOrStore(query, statement); ok {
		return other.(*sql.Stmt), statement.Close() //nolint:sqlclosecheck // in use is the other one
	}
	return statement, nil
}

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
	return collectStrings(s.read.QueryContext(ctx, query, args...))
}

// collectStrings returns the results of a query with one text column. Its arguments are
// those that the query returned.
func collectStrings(rows *sql.Rows, err error) ([]string, error) {
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
