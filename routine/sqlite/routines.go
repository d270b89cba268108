package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"rote/routine"
)

// CreateRoutine saves r and its first version. [routine.ErrToolNameTaken].
func (s *Store) CreateRoutine(ctx context.Context, r *routine.Routine) error {
	definition, err := encode(r.Definition)
	if err != nil {
		return fmt.Errorf("create routine: encode definition: %w", err)
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := takeKey(ctx, tx, r.Key, r.ID); err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO routines (id, organization_id, project_id, created_by, tool_name, status, version,
			is_public, is_mcp_tool_designated, created_at, updated_at, definition)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.OrganizationID, r.ProjectID, r.CreatedBy, r.ToolName, r.Status, r.Version,
		r.IsPublic, r.IsMCPToolDesignated, r.CreatedAt, r.UpdatedAt, definition)
	// The table's one UNIQUE constraint; a second id has a code of its own.
	if hasCode(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) {
		return fmt.Errorf("create routine %q: %w", r.ToolName, routine.ErrToolNameTaken)
	}
	if err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO routine_versions (routine_id, version, definition, created_at, created_by)
		VALUES (?, ?, ?, ?, ?)`,
		r.ID, r.Version, definition, r.CreatedAt, r.CreatedBy)
	if err != nil {
		return fmt.Errorf("create routine: save version: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	return nil
}

const selectRoutine = `
	SELECT id, organization_id, project_id, created_by, tool_name, status, version,
		routines.created_at, updated_at, definition
	FROM routines `

// Routine reads one routine. [routine.ErrNotFound].
func (s *Store) Routine(ctx context.Context, id string) (*routine.Routine, error) {
	r, err := scanRoutine(s.read.QueryRowContext(ctx, selectRoutine+`WHERE id = ?`, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("routine %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read routine: %w", err)
	}
	return r, nil
}

// Routines lists the matches of f, newest first. Within a second, the grain of
// a routine's times, the larger id comes first: ids are UUIDs of version 7,
// which grow with time.
func (s *Store) Routines(ctx context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	// One transaction, so that page and total are of the same moment.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, fmt.Errorf("list routines: %w", err)
	}
	defer func() { _ = tx.Rollback() }()

	matches, args := matchRoutines(f)
	var total int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM (`+matches+`)`, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count routines: %w", err)
	}
	query, args := pageOfRoutines(f)
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, 0, fmt.Errorf("list routines: %w", err)
	}
	defer rows.Close()
	list := []*routine.Routine{}
	for rows.Next() {
		r, err := scanRoutine(rows.Scan)
		if err != nil {
			return nil, 0, fmt.Errorf("list routines: %w", err)
		}
		list = append(list, r)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("list routines: %w", err)
	}
	return list, total, nil
}

// pageOfRoutines chooses the page by the indexes alone and then reads only the
// rows that are on it.
func pageOfRoutines(f routine.RoutineFilter) (query string, args []any) {
	matches, args := matchRoutines(f)
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	query = `WITH page AS (` + matches + ` ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?)` +
		selectRoutine + `JOIN page USING (id) ORDER BY page.created_at DESC, id DESC`
	return query, append(args, limit, f.Offset)
}

// matchRoutines gives the query for id and created_at of all matches. "Ours or
// public" is a union of two disjoint parts and no OR, because each part can
// then be read from its index in the order of the list. The conditions are
// written as in the partial indexes, or SQLite would not use them.
func matchRoutines(f routine.RoutineFilter) (query string, args []any) {
	const (
		sel       = `SELECT id, created_at FROM routines WHERE `
		published = `status = 'active' AND is_mcp_tool_designated = 1`
	)
	ours := sel + `organization_id = ? AND status <> 'archived'`
	public := sel + `is_public = 1 AND status <> 'archived'`
	if f.Published {
		ours = sel + `organization_id = ? AND ` + published
		public += ` AND ` + published
	}
	switch {
	case f.OrganizationID == "":
		return public, nil
	case !f.Public:
		return ours, []any{f.OrganizationID}
	}
	return ours + ` UNION ALL ` + public + ` AND organization_id <> ?`, []any{f.OrganizationID, f.OrganizationID}
}

func scanRoutine(scan func(...any) error) (*routine.Routine, error) {
	var (
		r          routine.Routine
		definition []byte
	)
	err := scan(&r.ID, &r.OrganizationID, &r.ProjectID, &r.CreatedBy, &r.ToolName, &r.Status, &r.Version,
		&r.CreatedAt, &r.UpdatedAt, &definition)
	if err != nil {
		return nil, err
	}
	if r.Definition, err = routine.DecodeDefinition(definition); err != nil {
		return nil, fmt.Errorf("decode definition of routine %s: %w", r.ID, err)
	}
	return &r, nil
}
