package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"rote/routine"
)

// PutFile saves a file of an open execution. It returns [routine.ErrNotFound]
// or [routine.ErrFinal].
func (s *Store) PutFile(ctx context.Context, executionID string, f *routine.File) error {
	data, err := s.stage(f.Data)
	if err != nil {
		return fmt.Errorf("put file: %w", err)
	}
	defer data.discard()
	return s.changeExecution(ctx, "put file of execution", executionID, func(tx writer) error {
		if err := data.moveIntoPlace(); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO execution_files (execution_id, name, content_type, size, data, hash) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET content_type = excluded.content_type, size = excluded.size, data = excluded.data, hash = excluded.hash`,
			executionID, f.Name, f.ContentType, len(f.Data), data.inline, data.hash())
		return err
	}, `
		UPDATE executions SET size = size + ?2 - coalesce((SELECT size FROM execution_files WHERE execution_id = ?1 AND name = ?3), 0)
		WHERE id = ?1 AND status IN ('pending', 'running')`, len(f.Data), f.Name)
}

// File reads one file of an execution. It returns [routine.ErrNotFound].
func (s *Store) File(ctx context.Context, executionID, name string) (*routine.File, error) {
	f := routine.File{FileInfo: routine.FileInfo{Name: name}}
	var hash []byte
	err := s.read.QueryRowContext(ctx,
		`SELECT content_type, size, data, hash FROM execution_files WHERE execution_id = ? AND name = ?`, executionID, name).
		Scan(&f.ContentType, &f.Size, &f.Data, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("file %s of execution %s: %w", name, executionID, routine.ErrNotFound)
	}
	if err == nil && hash != nil {
		f.Data, err = s.readBlob(hash)
	}
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	return &f, nil
}

// fileInfos describes the files of an execution, sorted by name, or returns nil
// if there are none.
func (s *Store) fileInfos(ctx context.Context, executionID string) ([]routine.FileInfo, error) {
	rows, err := s.read.QueryContext(ctx,
		`SELECT name, content_type, size FROM execution_files WHERE execution_id = ? ORDER BY name`, executionID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var infos []routine.FileInfo
	for rows.Next() {
		var i routine.FileInfo
		if err := rows.Scan(&i.Name, &i.ContentType, &i.Size); err != nil {
			return nil, err
		}
		infos = append(infos, i)
	}
	return infos, rows.Err()
}

// stagedData is data to be stored: small data in the row itself, large data in
// a blob.
type stagedData struct {
	inline []byte
	blob   *blob // nil: inline
}

func (s *Store) stage(data []byte) (stagedData, error) {
	if len(data) <= inlineLimit {
		return stagedData{inline: append([]byte{}, data...)}, nil // never NULL
	}
	b, err := s.stageBlob(data)
	return stagedData{blob: b}, err
}

// hash is nil for inline data.
func (h stagedData) hash() []byte {
	if h.blob == nil {
		return nil
	}
	return h.blob.hash[:]
}

// moveIntoPlace must be called inside the write transaction that adds the row.
func (h stagedData) moveIntoPlace() error {
	if h.blob == nil {
		return nil
	}
	return h.blob.moveIntoPlace()
}

// discard removes the temporary file, if it was not moved. One that cannot be
// removed now is removed by [Store.Prune].
func (h stagedData) discard() {
	if h.blob != nil {
		_ = h.blob.discard()
	}
}
