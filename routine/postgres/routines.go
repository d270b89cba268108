package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// CreateRoutine saves r and its first version. It returns [routine.ErrToolNameTaken] or
// [routine.ErrNameTaken].
func (s *Store) CreateRoutine(ctx context.Context, r *routine.Routine) error {
	err := s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := saveIdempotencyKey(ctx, tx, r.Key, r.ID); err != nil {
			return err
		}
		if r.UniqueName {
			if err := checkName(ctx, tx, r); err != nil {
				return err
			}
		}
		done, err := tx.Exec(ctx, `
			INSERT INTO routines (id, organization_id, project_id, created_by, tool_name, status, version,
				is_public, is_mcp_tool_designated, created_at, updated_at, words, name)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
			ON CONFLICT (organization_id, tool_name) DO NOTHING`,
			r.ID, r.OrganizationID, r.ProjectID, r.CreatedBy, r.ToolName, string(r.Status), r.Version,
			r.IsPublic, r.IsMCPToolDesignated, r.CreatedAt, r.UpdatedAt, []byte(r.SearchText()), []byte(r.Name))
		if err == nil && done.RowsAffected() == 0 {
			err = routine.ErrToolNameTaken
		}
		if err != nil {
			return err
		}
		return saveVersion(ctx, tx, r, r.CreatedAt, r.CreatedBy)
	})
	return rows.Wrap("create routine", err)
}

// saveIdempotencyKey saves that a call with a key created madeID. It returns
// [routine.ErrKeyTaken].
func saveIdempotencyKey(ctx context.Context, tx pgx.Tx, k *routine.IdempotencyKey, madeID string) error {
	if k == nil {
		return nil
	}
	args := pgx.NamedArgs{"id": madeID}
	addKey(args, k)
	var saved int
	err := tx.QueryRow(ctx, insertKey+` `+onKeyConflict, args).Scan(&saved)
	if errors.Is(err, pgx.ErrNoRows) {
		err = routine.ErrKeyTaken
	}
	return err
}

// checkName returns [routine.ErrNameTaken] if another routine of the organization, which
// is not archived, has r's name. Calls with the same name wait for each other.
func checkName(ctx context.Context, tx pgx.Tx, r *routine.Routine) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`,
		fmt.Sprintf("routine name %q %q", r.OrganizationID, r.Name)); err != nil {
		return err
	}
	var taken bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM routines WHERE organization_id = $1 AND name = $2 AND status <> 'archived')`,
		r.OrganizationID, []byte(r.Name)).Scan(&taken)
	if err == nil && taken {
		err = routine.ErrNameTaken
	}
	return err
}

// UpdateRoutine saves the version r.Version of a routine. One statement tests that it
// follows the stored version and changes it, so that exactly one of several concurrent
// calls succeeds, also across processes. It returns [routine.ErrStale] or
// [routine.ErrNotFound].
func (s *Store) UpdateRoutine(ctx context.Context, r *routine.Routine, by string) error {
	err := s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `
			UPDATE routines SET status = $1, version = $2, is_public = $3, is_mcp_tool_designated = $4, updated_at = $5, words = $6, name = $7
			WHERE id = $8 AND version = $9`,
			string(r.Status), r.Version, r.IsPublic, r.IsMCPToolDesignated, r.UpdatedAt, []byte(r.SearchText()), []byte(r.Name),
			value(r.ID), r.Version-1)
		if err != nil {
			return err
		}
		if done.RowsAffected() == 0 {
			return whyRoutineUnchanged(ctx, tx, r.ID)
		}
		return saveVersion(ctx, tx, r, r.UpdatedAt, by)
	})
	return rows.Wrap("update routine "+r.ID, err)
}

// whyRoutineUnchanged returns why no row was updated.
func whyRoutineUnchanged(ctx context.Context, tx pgx.Tx, id string) error {
	var exists bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM routines WHERE id = $1)`, value(id)).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		return routine.ErrNotFound
	}
	return routine.ErrStale
}

// saveVersion saves the current state of r as a version, with its tags.
func saveVersion(ctx context.Context, tx pgx.Tx, r *routine.Routine, at int64, by string) error {
	definition, err := rows.Encode(r.Definition)
	if err != nil {
		return fmt.Errorf("encode definition: %w", err)
	}
	tags := make([][]byte, 0, len(r.Tags))
	for _, tag := range r.Tags {
		tags = append(tags, []byte(tag))
	}
	batch := &pgx.Batch{}
	batch.Queue(`
		INSERT INTO routine_versions (routine_id, version, status, definition, created_at, created_by) VALUES ($1, $2, $3, $4, $5, $6)`,
		r.ID, r.Version, string(r.Status), definition, at, by)
	batch.Queue(`DELETE FROM routine_tags WHERE id = $1`, r.ID)
	batch.Queue(`
		INSERT INTO routine_tags (tag, id, organization_id, status, is_public, is_mcp_tool_designated, created_at)
		SELECT DISTINCT tag, id, organization_id, status, is_public, is_mcp_tool_designated, created_at
		FROM routines, unnest($2::bytea[]) AS tags (tag) WHERE id = $1`, r.ID, tags)
	return rows.Wrap("save version", tx.SendBatch(ctx, batch).Close())
}

// selectRoutine returns the query for routines. definition is the expression for the text
// to read, and partial says whether that is only its start.
func selectRoutine(definition, partial string) string {
	return `
	SELECT id, organization_id, project_id, routines.created_by, tool_name, routines.status, routines.version,
		routines.created_at, updated_at, ` + definition + `, ` + partial + `
	FROM routines JOIN routine_versions v ON v.routine_id = id AND v.version = routines.version `
}

// selectWholeRoutine selects the routine $1 with its definition.
var selectWholeRoutine = selectRoutine(`definition`, `false`) + `WHERE id = $1`

// Routine reads one routine. It returns [routine.ErrNotFound].
func (s *Store) Routine(ctx context.Context, id string) (*routine.Routine, error) {
	r, _, err := rows.ScanRoutine(s.queryRow(ctx, selectWholeRoutine, value(id)).Scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("routine %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read routine: %w", err)
	}
	return r, nil
}

// DefinitionSize returns the bytes of a stored definition; version 0 is the current one.
// It returns [routine.ErrNotFound].
func (s *Store) DefinitionSize(ctx context.Context, id string, version int) (size int, err error) {
	err = s.queryRow(ctx, `
		SELECT octet_length(definition) FROM routine_versions
		WHERE routine_id = $1 AND version = CASE $2::integer WHEN 0 THEN (SELECT version FROM routines WHERE id = $1) ELSE $2 END`,
		value(id), version).Scan(&size)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("routine %s: %w", id, routine.ErrNotFound)
	}
	if err != nil {
		return 0, fmt.Errorf("read size of definition: %w", err)
	}
	return size, nil
}

// Versions lists the versions of a routine without their definitions, newest first.
func (s *Store) Versions(ctx context.Context, id string, limit, offset int) (list []*routine.Version, total int, err error) {
	err = s.snapshot(ctx, func(ctx context.Context, q queryer) (err error) {
		list, err = collect(ctx, q, func(scan rows.Scan) (*routine.Version, error) {
			v := &routine.Version{}
			return v, scan(&v.Number, &v.Status, &v.CreatedAt, &v.CreatedBy)
		}, `
			SELECT version, status, created_at, created_by FROM routine_versions
			WHERE routine_id = $1 ORDER BY version DESC LIMIT $2 OFFSET $3`, value(id), limitOf(limit), offset)
		if err != nil {
			return err
		}
		return q.QueryRow(ctx, `SELECT count(*) FROM routine_versions WHERE routine_id = $1`, value(id)).Scan(&total)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list versions: %w", err)
	}
	return list, total, nil
}

// Version reads one version of a routine. It returns [routine.ErrNotFound].
func (s *Store) Version(ctx context.Context, id string, number int) (*routine.Version, error) {
	v, err := rows.ScanVersion(s.queryRow(ctx, `
		SELECT version, status, created_at, created_by, definition FROM routine_versions
		WHERE routine_id = $1 AND version = $2`, value(id), number).Scan, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("version %d of routine %s: %w", number, id, routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read version: %w", err)
	}
	return v, nil
}
