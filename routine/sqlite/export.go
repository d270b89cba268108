package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"rote/routine/rows"
)

// ErrInUse means that executions are still open in the database.
var ErrInUse = errors.New("executions are still running in it: stop the processes that use it first")

// Export calls use with a function that reads the content of the database at one moment.
// No process may have an open execution: it returns [ErrInUse]. Queued executions belong to
// the content.
func (s *Store) Export(ctx context.Context, use func(rows.Reader) error) error {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var open bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM executions WHERE status IN ('pending', 'running') AND owner <> '')`).Scan(&open); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if open {
		return ErrInUse
	}
	return use(func(t rows.Table) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			if err := s.exportTable(ctx, tx, t, yield); err != nil {
				yield(nil, fmt.Errorf("export %s: %w", t.Name, err))
			}
		}
	})
}

// blobColumns has, for each table with contents that may be in files, the column of the
// content and that of the hash.
var blobColumns = map[string][2]string{"executions": {"result", "result_hash"}, "execution_files": {"data", "hash"}}

func (s *Store) exportTable(ctx context.Context, tx *sql.Tx, t rows.Table, yield func([]any, error) bool) error {
	columns, content := slices.Clone(t.Columns), -1
	if blob, ok := blobColumns[t.Name]; ok {
		content = slices.Index(columns, blob[0])
		columns = append(columns, blob[1])
	}
	found, err := tx.QueryContext(ctx, `SELECT `+strings.Join(columns, `, `)+` FROM `+t.Name)
	if err != nil {
		return err
	}
	defer found.Close()
	values, pointers := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	for found.Next() {
		if err := found.Scan(pointers...); err != nil {
			return err
		}
		if content >= 0 && values[len(t.Columns)] != nil {
			hash, _ := values[len(t.Columns)].([]byte)
			if values[content], err = s.readBlob(hash); err != nil {
				return err
			}
		}
		for i, value := range values {
			if b, ok := value.([]byte); ok && b == nil {
				values[i] = []byte{} // empty, and not NULL
			}
		}
		if !yield(values[:len(t.Columns)], nil) {
			return nil
		}
	}
	return found.Err()
}
