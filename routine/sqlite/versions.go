package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"rote/routine"
	"rote/routine/rows"
)

// Versions lists the versions of a routine without their definitions, newest
// first.
func (s *Store) Versions(ctx context.Context, id string, limit, offset int) ([]*routine.Version, int, error) {
	// One transaction, so that page and total are of the same moment.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, fmt.Errorf("list versions: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var total int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM routine_versions WHERE routine_id = ?`, id).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count versions: %w", err)
	}
	found, err := tx.QueryContext(ctx, `
		SELECT version, status, created_at, created_by FROM routine_versions
		WHERE routine_id = ? ORDER BY version DESC LIMIT ? OFFSET ?`, id, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("list versions: %w", err)
	}
	defer found.Close()
	list := []*routine.Version{}
	for found.Next() {
		v := &routine.Version{}
		if err := found.Scan(&v.Number, &v.Status, &v.CreatedAt, &v.CreatedBy); err != nil {
			return nil, 0, fmt.Errorf("list versions: %w", err)
		}
		list = append(list, v)
	}
	if err := found.Err(); err != nil {
		return nil, 0, fmt.Errorf("list versions: %w", err)
	}
	return list, total, nil
}

// Version reads one version of a routine. It returns [routine.ErrNotFound].
func (s *Store) Version(ctx context.Context, id string, number int) (*routine.Version, error) {
	v, err := rows.ScanVersion(s.read.QueryRowContext(ctx, `
		SELECT version, status, created_at, created_by, definition FROM routine_versions
		WHERE routine_id = ? AND version = ?`, id, number).Scan, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("version %d of routine %s: %w", number, id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read version: %w", err)
	}
	return v, nil
}
