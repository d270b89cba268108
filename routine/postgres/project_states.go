package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// errNoKey is the error of a Store without a key.
var errNoKey = errors.New("there is none: make one with rote key new, and give it to every process with --state-key FILE or in ROTE_STATE_KEY")

func noKey(bool) (rows.Ring, error) { return nil, errNoKey }

// ProjectState reads a project's browser state, or returns nil if there is none. It
// returns [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) ProjectState(ctx context.Context, organizationID, projectID string) ([]byte, error) {
	var sealed rows.Sealed
	err := s.queryRow(ctx, `SELECT sealed, key_id FROM project_states WHERE organization_id = $1 AND project_id = $2`,
		value(organizationID), value(projectID)).Scan(&sealed.Text, &sealed.KeyID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read project state: %w", err)
	}
	return s.sealer.OpenState(sealed, organizationID, projectID)
}

// SaveProjectState replaces a project's browser state.
func (s *Store) SaveProjectState(ctx context.Context, organizationID string, state *routine.BrowserState, at time.Time) error {
	sealed, err := s.sealer.SealState(state.Data, organizationID, state.ProjectID, false)
	if err == nil {
		err = s.useKey(ctx, sealed)
	}
	if err == nil {
		_, err = s.exec(ctx, insertState+`VALUES ($1, $2, $3, $4, $5)`+replaceState, organizationID, state.ProjectID, sealed.Text, sealed.KeyID, rows.Micros(at))
	}
	return rows.Wrap("save project state", err)
}

// insertState and replaceState are the beginning and the end of a statement that replaces a
// project's browser state by the row between them.
const (
	insertState  = `INSERT INTO project_states (organization_id, project_id, sealed, key_id, saved_at) `
	replaceState = ` ON CONFLICT (organization_id, project_id) DO UPDATE
		SET sealed = excluded.sealed, key_id = excluded.key_id, saved_at = excluded.saved_at`
)

// checkKey refuses a key that is not the one of the processes that have used the database
// before. The first process with a key decides.
func (s *Store) checkKey(ctx context.Context) error {
	if s.config.Key == nil {
		return nil
	}
	return s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.checkKeyIn(ctx, tx) })
}

// checkKeyIn is checkKey in a transaction. Servers of earlier versions have a single key, of
// which they compare the id in state_key.
func (s *Store) checkKeyIn(ctx context.Context, tx pgx.Tx) error {
	ring, err := s.config.Key(false)
	if err != nil {
		return fmt.Errorf("state key: %w", err)
	}
	known := ""
	if _, err = tx.Exec(ctx, `INSERT INTO state_key (key_id, created_at) VALUES ($1, $2) ON CONFLICT (one) DO NOTHING`,
		keyID(ring[0]), rows.Micros(time.Now())); err == nil {
		err = tx.QueryRow(ctx, `SELECT key_id FROM state_key`).Scan(&known)
	}
	if err != nil {
		return err
	}
	var named bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM key_ring)`).Scan(&named); err != nil {
		return err
	}
	if !named && !slices.ContainsFunc(ring, func(key []byte) bool { return keyID(key) == known }) {
		return fmt.Errorf("this process has the state key %s, but the browser states in %s are encrypted with the key %s: "+
			"give every process the same with --state-key FILE or in ROTE_STATE_KEY", keyID(ring[0]), s.name, known)
	}
	return s.registerKey(ctx, tx, rows.Sealed{KeyID: new(rows.KeyID(ring[0]))})
}

// keyID returns the name of a key in the table state_key.
func keyID(key []byte) string {
	hash := sha256.Sum256(append([]byte("rote state key "), key...))
	return hex.EncodeToString(hash[:6])
}
