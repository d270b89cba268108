package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// PutFile saves a file of an open execution. It returns [routine.ErrNotFound] or
// [routine.ErrFinal].
func (s *Store) PutFile(ctx context.Context, executionID string, f *routine.File) error {
	return s.changeExecution(ctx, "put file of execution", executionID, `
		WITH open AS (
			UPDATE executions SET size = size + $4 - coalesce((SELECT size FROM execution_files WHERE execution_id = $1 AND name = $2), 0)
			WHERE id = $1 AND `+stillOpen+` RETURNING id)
		INSERT INTO execution_files (execution_id, name, content_type, size, data) SELECT id, $2, $3, $4, $5 FROM open
		ON CONFLICT (execution_id, name) DO UPDATE SET content_type = excluded.content_type, size = excluded.size, data = excluded.data`,
		[]byte(f.Name), []byte(f.ContentType), int64(len(f.Data)), append([]byte{}, f.Data...))
}

// File reads one file of an execution. It returns [routine.ErrNotFound].
func (s *Store) File(ctx context.Context, executionID, name string) (*routine.File, error) {
	f := routine.File{FileInfo: routine.FileInfo{Name: name}}
	var contentType []byte
	err := s.queryRow(ctx, `SELECT content_type, size, data FROM execution_files WHERE execution_id = $1 AND name = $2`,
		value(executionID), []byte(name)).Scan(&contentType, &f.Size, &f.Data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("file %s of execution %s: %w", name, executionID, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	f.ContentType = string(contentType)
	return &f, nil
}

func scanFileInfo(scan rows.Scan) (i routine.FileInfo, err error) {
	var name, contentType []byte
	err = scan(&name, &contentType, &i.Size)
	i.Name, i.ContentType = string(name), string(contentType)
	return i, err
}
