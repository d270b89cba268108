package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ProjectState reads a project's browser state, or returns nil if there is
// none. It returns [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) ProjectState(ctx context.Context, organizationID, projectID string) ([]byte, error) {
	var sealed []byte
	err := s.read.QueryRowContext(ctx, `SELECT sealed FROM project_states WHERE organization_id = ? AND project_id = ?`,
		organizationID, projectID).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read project state: %w", err)
	}
	state, err := s.sealer.open(sealed, stateContext(organizationID, projectID))
	if err != nil {
		return nil, fmt.Errorf("open project state: %w", err)
	}
	return state, nil
}

// SaveProjectState replaces a project's browser state.
func (s *Store) SaveProjectState(ctx context.Context, organizationID, projectID string, state []byte, at time.Time) error {
	var others bool
	if err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM project_states)`).Scan(&others); err != nil {
		return fmt.Errorf("save project state: %w", err)
	}
	sealed, err := s.sealer.seal(state, stateContext(organizationID, projectID), !others)
	if err != nil {
		return fmt.Errorf("seal project state: %w", err)
	}
	_, err = s.write.ExecContext(ctx, `
		INSERT INTO project_states (organization_id, project_id, sealed, saved_at) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET sealed = excluded.sealed, saved_at = excluded.saved_at`,
		organizationID, projectID, sealed, micros(at))
	if err != nil {
		return fmt.Errorf("save project state: %w", err)
	}
	return nil
}

// stateContext binds an encrypted state to its row.
func stateContext(organizationID, projectID string) string {
	return fmt.Sprintf("project state %d:%s %s", len(organizationID), organizationID, projectID)
}
