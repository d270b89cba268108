package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"rote/routine/rows"
)

// Import fills an empty database with the content of another store, in one transaction.
// It reads everything back and compares it before the transaction is committed. It returns
// how many rows each table has, in the order of rows.Tables. After an error the database is
// still empty, unless the error is ErrUncertain.
//
// c.Key is the key with which the other store has encrypted its states.
func Import(ctx context.Context, c Config, read rows.Reader) (counts []int, err error) {
	key := c.Key
	c.Key = nil // an import that fails must not decide about the key
	s, err := Open(ctx, c)
	if err != nil {
		return nil, err
	}
	if key != nil {
		key = rows.KeepLast(key)
		s.config.Key, s.sealer.Keys = key, key
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	config, err := s.directConfig() // without a statement timeout
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	verified := false
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, t := range rows.Tables {
			n, err := importTable(ctx, tx, t, read(t))
			if err != nil {
				return fmt.Errorf("%s: table %s: %w", s.name, t.Name, err)
			}
			counts = append(counts, n)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM ledger_sizes`); err != nil {
			return err
		}
		err := s.checkImportedKey(ctx, tx)
		verified = err == nil
		return err
	})
	if err != nil && verified && sqlState(err) == "" {
		err = fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	return counts, err
}

// ErrUncertain means that the connection was lost while an import was committed.
var ErrUncertain = errors.New("the database did not confirm the copy: copy again, and if the database is then not empty, the first copy is complete")

// checkImportedKey returns an error if what is encrypted in the imported rows cannot be read
// with the key.
func (s *Store) checkImportedKey(ctx context.Context, tx pgx.Tx) error {
	encrypted := false
	for _, kind := range rows.SealedKinds {
		list, err := sealedRows(ctx, tx, kind, `true`, 1)
		if err != nil {
			return err
		}
		for _, r := range list {
			if err := s.sealer.Check(kind, r.Sealed, r.a, r.b); err != nil {
				return fmt.Errorf("%s cannot be read with this state key; name theirs with --state-key: %w", kind.Name, err)
			}
			encrypted = true
		}
	}
	if !encrypted {
		return nil
	}
	return s.checkKeyIn(ctx, tx)
}

func importTable(ctx context.Context, tx pgx.Tx, t rows.Table, source iter.Seq2[[]any, error]) (int, error) {
	if _, err := tx.Exec(ctx, `LOCK TABLE `+t.Name+` IN EXCLUSIVE MODE`); err != nil {
		return 0, err
	}
	var used bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM `+t.Name+`)`).Scan(&used); err != nil {
		return 0, err
	}
	if used {
		return 0, errors.New("it is not empty: name a new database")
	}
	converters, err := convertersOf(ctx, tx, t)
	if err != nil {
		return 0, err
	}
	next, stop := iter.Pull2(source)
	defer stop()
	var sent rows.Checksum
	_, err = tx.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Columns, pgx.CopyFromFunc(func() ([]any, error) {
		values, err, more := next()
		if err != nil || !more {
			return nil, err
		}
		row := make([]any, len(values))
		for i, convert := range converters {
			if row[i], err = convert(values[i]); err != nil {
				return nil, fmt.Errorf("column %s: %w", t.Columns[i], err)
			}
		}
		return row, sent.Add(row)
	}))
	if err != nil {
		return 0, err
	}
	kept, err := checksumOf(ctx, tx, t)
	if err == nil && kept != sent {
		err = fmt.Errorf("the %d rows that the database has are not the %d that were sent to it", kept.Rows, sent.Rows)
	}
	return kept.Rows, err
}

// checksumOf reads a whole table.
func checksumOf(ctx context.Context, tx pgx.Tx, t rows.Table) (kept rows.Checksum, err error) {
	found, err := tx.Query(ctx, `SELECT `+strings.Join(t.Columns, `, `)+` FROM `+t.Name)
	if err != nil {
		return kept, err
	}
	defer found.Close()
	for found.Next() {
		values, err := found.Values()
		if err != nil {
			return kept, err
		}
		for i, value := range values {
			if n, ok := value.(int32); ok {
				values[i] = int64(n)
			}
		}
		if err := kept.Add(values); err != nil {
			return kept, err
		}
	}
	return kept, found.Err()
}

// convertersOf returns for each column a function that converts a value of a
// [rows.Reader] to the type of the column.
func convertersOf(ctx context.Context, tx pgx.Tx, t rows.Table) ([]func(any) (any, error), error) {
	described, err := tx.Prepare(ctx, "", `SELECT `+strings.Join(t.Columns, `, `)+` FROM `+t.Name)
	if err != nil {
		return nil, err
	}
	var all []func(any) (any, error)
	for _, field := range described.Fields {
		all = append(all, converter(field.DataTypeOID))
	}
	if i := slices.Index(t.Columns, "reach"); t.Name == "idempotency_keys" && i >= 0 {
		all[i] = hashText
	}
	return all, nil
}

func converter(oid uint32) func(any) (any, error) {
	switch oid {
	case pgtype.BoolOID:
		return func(value any) (any, error) {
			n, ok := value.(int64)
			if !ok {
				return nil, fmt.Errorf("%T is no boolean", value)
			}
			return n != 0, nil
		}
	case pgtype.ByteaOID:
		return func(value any) (any, error) {
			if text, ok := value.(string); ok {
				return []byte(text), nil
			}
			return value, nil
		}
	case pgtype.TextOID:
		return func(value any) (any, error) {
			if b, ok := value.([]byte); ok {
				return string(b), nil
			}
			return value, nil
		}
	}
	return func(value any) (any, error) { return value, nil }
}

// hashText converts the list of hosts of an idempotency key; see reachHash.
func hashText(value any) (any, error) {
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("%T is no text", value)
	}
	hash := sha256.Sum256([]byte(text))
	return hash[:], nil
}
