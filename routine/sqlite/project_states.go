package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// ProjectState reads a project's browser state, or returns nil if there is
// none. It returns [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) ProjectState(ctx context.Context, organizationID, projectID string) ([]byte, error) {
	var sealed rows.Sealed
	err := s.read.QueryRowContext(ctx, `SELECT sealed, key_id FROM project_states WHERE organization_id = ? AND project_id = ?`,
		organizationID, projectID).Scan(&sealed.Text, &sealed.KeyID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read project state: %w", err)
	}
	return s.sealer.OpenState(sealed, organizationID, projectID)
}

// SaveProjectState replaces a project's browser state.
func (s *Store) SaveProjectState(ctx context.Context, organizationID string, state *routine.BrowserState, at time.Time) error {
	sealed, err := s.sealState(ctx, organizationID, state)
	if err != nil {
		return err
	}
	return saveState(ctx, s.write, organizationID, state.ProjectID, sealed, at)
}

// sealState encrypts a browser state, if there is one.
func (s *Store) sealState(ctx context.Context, organizationID string, state *routine.BrowserState) (sealed rows.Sealed, err error) {
	if state == nil {
		return sealed, nil
	}
	others, err := s.hasSealed(ctx)
	if err != nil {
		return sealed, fmt.Errorf("look for encrypted values: %w", err)
	}
	if sealed, err = s.sealer.SealState(state.Data, organizationID, state.ProjectID, !others); err != nil {
		return sealed, err
	}
	return sealed, s.registerKey(ctx, s.write, sealed)
}

// saveState replaces a project's browser state by the output of sealState.
func saveState(ctx context.Context, w writer, organizationID, projectID string, sealed rows.Sealed, at time.Time) error {
	_, err := w.ExecContext(ctx, `
		INSERT INTO project_states (organization_id, project_id, sealed, key_id, saved_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET sealed = excluded.sealed, key_id = excluded.key_id, saved_at = excluded.saved_at`,
		organizationID, projectID, sealed.Text, sealed.KeyID, rows.Micros(at))
	return rows.Wrap("save project state", err)
}
