package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"rote/routine"
	"rote/routine/rows"
)

// CreateRoutine saves r and its first version. It returns
// [routine.ErrToolNameTaken] or [routine.ErrNameTaken].
func (s *Store) CreateRoutine(ctx context.Context, r *routine.Routine) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := saveIdempotencyKey(ctx, tx, r.Key, r.ID); err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	if r.UniqueName {
		if err := checkName(ctx, tx, r); err != nil {
			return fmt.Errorf("create routine: %w", err)
		}
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO routines (id, organization_id, project_id, created_by, tool_name, status, version,
			is_public, is_mcp_tool_designated, created_at, updated_at, words, name)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.OrganizationID, r.ProjectID, r.CreatedBy, r.ToolName, r.Status, r.Version,
		r.IsPublic, r.IsMCPToolDesignated, r.CreatedAt, r.UpdatedAt, r.SearchText(), r.Name)
	// The only UNIQUE constraint is on tool_name; a duplicate id has another code.
	if hasCode(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) {
		return fmt.Errorf("create routine %q: %w", r.ToolName, routine.ErrToolNameTaken)
	}
	if err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	if err := commitVersion(ctx, tx, r, r.CreatedAt, r.CreatedBy); err != nil {
		return fmt.Errorf("create routine: %w", err)
	}
	return nil
}

// checkName returns [routine.ErrNameTaken] if another routine of the
// organization, which is not archived, has r's name. Write transactions are
// serialized, so no other process can take the name before tx ends.
func checkName(ctx context.Context, tx *sql.Tx, r *routine.Routine) error {
	var taken bool
	err := tx.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM routines WHERE organization_id = ? AND name = ? AND status <> 'archived')`,
		r.OrganizationID, r.Name).Scan(&taken)
	if err == nil && taken {
		err = routine.ErrNameTaken
	}
	return err
}

// UpdateRoutine saves the version r.Version of a routine. One statement tests
// that it follows the stored version and changes it, so that exactly one of
// several concurrent calls succeeds, also across processes. It returns
// [routine.ErrStale] or [routine.ErrNotFound].
func (s *Store) UpdateRoutine(ctx context.Context, r *routine.Routine, by string) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("update routine: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	done, err := tx.ExecContext(ctx, `
		UPDATE routines SET status = ?, version = ?, is_public = ?, is_mcp_tool_designated = ?, updated_at = ?, words = ?, name = ?
		WHERE id = ? AND version = ?`,
		r.Status, r.Version, r.IsPublic, r.IsMCPToolDesignated, r.UpdatedAt, r.SearchText(), r.Name,
		r.ID, r.Version-1)
	if err != nil {
		return fmt.Errorf("update routine: %w", err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return fmt.Errorf("update routine: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("update routine %s: %w", r.ID, whyRoutineUnchanged(ctx, tx, r.ID))
	}
	if err := commitVersion(ctx, tx, r, r.UpdatedAt, by); err != nil {
		return fmt.Errorf("update routine: %w", err)
	}
	return nil
}

// whyRoutineUnchanged returns why no row was updated. It runs in the same
// transaction.
func whyRoutineUnchanged(ctx context.Context, tx *sql.Tx, id string) error {
	var there bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM routines WHERE id = ?)`, id).Scan(&there); err != nil {
		return err
	}
	if !there {
		return routine.ErrNotFound
	}
	return routine.ErrStale
}

// commitVersion saves the current state of r as a version and commits the
// transaction.
func commitVersion(ctx context.Context, tx *sql.Tx, r *routine.Routine, at int64, by string) error {
	definition, err := rows.Encode(r.Definition)
	if err != nil {
		return fmt.Errorf("encode definition: %w", err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO routine_versions (routine_id, version, status, definition, created_at, created_by)
		VALUES (?, ?, ?, ?, ?, ?)`,
		r.ID, r.Version, r.Status, definition, at, by)
	if err != nil {
		return fmt.Errorf("save version: %w", err)
	}
	if err := saveTags(ctx, tx, r.ID, &r.Definition); err != nil {
		return err
	}
	return tx.Commit()
}

// selectRoutine returns the query for routines. definition is the expression
// for the text to read, and partial says whether that is only its start.
func selectRoutine(definition, partial string) string {
	return `
	SELECT id, organization_id, project_id, routines.created_by, tool_name, routines.status, routines.version,
		routines.created_at, updated_at, ` + definition + `, ` + partial + `
	FROM routines JOIN routine_versions v ON v.routine_id = id AND v.version = routines.version `
}

// Routine reads one routine. It returns [routine.ErrNotFound].
func (s *Store) Routine(ctx context.Context, id string) (*routine.Routine, error) {
	r, _, err := rows.ScanRoutine(s.read.QueryRowContext(ctx, selectRoutine(`definition`, `0`)+`WHERE id = ?`, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("routine %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read routine: %w", err)
	}
	return r, nil
}

// DefinitionSize returns the bytes of a stored definition; version 0 is the
// current one. It returns [routine.ErrNotFound].
func (s *Store) DefinitionSize(ctx context.Context, id string, version int) (size int, err error) {
	err = s.read.QueryRowContext(ctx, `
		SELECT octet_length(definition) FROM routine_versions
		WHERE routine_id = ? AND version = CASE ? WHEN 0 THEN (SELECT version FROM routines WHERE id = routine_id) ELSE ? END`, id, version, version).Scan(&size)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("routine %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return 0, fmt.Errorf("read size of definition: %w", err)
	}
	return size, nil
}
