package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

var selectSession = `SELECT ` + strings.Join(rows.SessionColumns, `, `) + ` FROM sessions `

// SaveSession creates or replaces a session. It returns [routine.ErrChanged] or
// [routine.ErrStateKey].
func (s *Store) SaveSession(ctx context.Context, session *routine.Session, state []byte, before int) error {
	others, err := s.hasSealed(ctx)
	if err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	next := *session
	next.Generation = before + 1
	values, err := rows.SessionValues(&next, plainText)
	if err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	columns := strings.Join(rows.SessionColumns, `, `)
	query, args := `INSERT INTO sessions (`+columns+`) VALUES (`+placeholders(len(values))+`) ON CONFLICT DO NOTHING`, values
	if before > 0 {
		query = `UPDATE sessions SET (` + columns + `) = (` + placeholders(len(values)) + `) ` + ofSecret + ` AND generation = ?`
		args = append(values, next.OrganizationID, next.ProjectID, next.Name, before)
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, query, args...)
		if err := changedOne(done, err, routine.ErrChanged); err != nil || state == nil {
			return err
		}
		var sealed []byte
		var keyID *string
		if len(state) > 0 {
			key, err := s.dataKey(ctx, tx, next.OrganizationID, time.Now(), !others)
			if err != nil {
				return err
			}
			if sealed, err = s.sealer.SealSession(&next, state, key); err != nil {
				return err
			}
			keyID = &key.ID
		}
		_, err = tx.ExecContext(ctx, `UPDATE sessions SET sealed = ?, key_id = ? `+ofSecret, sealed, keyID, next.OrganizationID, next.ProjectID, next.Name)
		return err
	})
	if err != nil {
		return fmt.Errorf("save session %s: %w", session.Name, err)
	}
	session.Generation = next.Generation
	return nil
}

// Session reads a session. It returns [routine.ErrNotFound].
func (s *Store) Session(ctx context.Context, organizationID, projectID, name string) (*routine.Session, error) {
	found, err := rows.ScanSession(s.read.QueryRowContext(ctx, selectSession+ofSecret, organizationID, projectID, name).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = routine.ErrNotFound
	}
	return found, rows.Wrap("read session "+name, err)
}

// Sessions lists the sessions of a project.
func (s *Store) Sessions(ctx context.Context, organizationID, projectID string) ([]*routine.Session, error) {
	found, err := s.read.QueryContext(ctx, selectSession+`WHERE organization_id = ? AND project_id = ? ORDER BY name`, organizationID, projectID)
	if err != nil {
		return nil, rows.Wrap("list sessions", err)
	}
	defer found.Close()
	list := []*routine.Session{}
	for found.Next() {
		session, err := rows.ScanSession(found.Scan)
		if err != nil {
			return nil, rows.Wrap("list sessions", err)
		}
		list = append(list, session)
	}
	return list, rows.Wrap("list sessions", found.Err())
}

// SessionState reads a session and decrypts its state. It returns [routine.ErrNotFound],
// [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) SessionState(ctx context.Context, organizationID, projectID, name string) (*routine.Session, []byte, error) {
	var sealed sealedSession
	session, err := rows.ScanSession(s.read.QueryRowContext(ctx, selectSealedSession+`WHERE s.organization_id = ? AND s.project_id = ? AND s.name = ?`,
		organizationID, projectID, name).Scan, sealed.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		err = routine.ErrNotFound
	}
	if err != nil || sealed.text == nil {
		return session, nil, rows.Wrap("read session "+name, err)
	}
	state, err := s.sealer.OpenSession(session, sealed.text, &sealed.key)
	return session, state, err
}

// selectSealedSession returns SessionColumns and then those of a sealedSession.
var selectSealedSession = `SELECT s.` + strings.Join(rows.SessionColumns, `, s.`) + `,
	s.sealed, coalesce(k.id, ''), s.organization_id, k.wrapped, k.state_key_id
	FROM sessions s LEFT JOIN data_keys k ON k.id = s.key_id `

// sealedSession is the encrypted state of a session and its data key.
type sealedSession struct {
	text []byte
	key  rows.DataKey
}

func (s *sealedSession) columns() []any {
	return []any{&s.text, &s.key.ID, &s.key.OrganizationID, &s.key.Wrapped.Text, &s.key.Wrapped.KeyID}
}

// DeleteSession deletes a session. It returns [routine.ErrNotFound].
func (s *Store) DeleteSession(ctx context.Context, organizationID, projectID, name string) error {
	done, err := s.write.ExecContext(ctx, `DELETE FROM sessions `+ofSecret, organizationID, projectID, name)
	return rows.Wrap("delete session "+name, changedOne(done, err, routine.ErrNotFound))
}

// LeaseSession gives an execution the exclusive use of a session. It returns
// [routine.ErrNotFound].
func (s *Store) LeaseSession(ctx context.Context, l routine.SessionLease) (leased bool, err error) {
	const isOpen = `EXISTS (SELECT 1 FROM executions WHERE status IN ('pending', 'running') AND id = `
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		var exists bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions `+ofSecret+`)`, l.OrganizationID, l.ProjectID, l.Name).Scan(&exists)
		if err == nil && !exists {
			err = routine.ErrNotFound
		}
		if err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `
			INSERT INTO session_leases (organization_id, project_id, name, purpose, execution_id) SELECT ?1, ?2, ?3, ?4, ?5 WHERE `+isOpen+`?5)
			ON CONFLICT DO UPDATE SET execution_id = excluded.execution_id
			WHERE execution_id = excluded.execution_id OR NOT `+isOpen+`session_leases.execution_id)`,
			l.OrganizationID, l.ProjectID, l.Name, string(l.Purpose), l.ExecutionID)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		leased = n > 0
		return err
	})
	return leased, rows.Wrap("lease session "+l.Name, err)
}

// SessionLessee returns the open execution that has a session for a purpose.
func (s *Store) SessionLessee(ctx context.Context, organizationID, projectID, name string, purpose routine.LeasePurpose) (executionID string, err error) {
	err = s.read.QueryRowContext(ctx, `
		SELECT e.id FROM session_leases l JOIN executions e ON e.id = l.execution_id
		WHERE l.organization_id = ? AND l.project_id = ? AND l.name = ? AND l.purpose = ? AND e.status IN ('pending', 'running')`,
		organizationID, projectID, name, string(purpose)).Scan(&executionID)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return executionID, rows.Wrap("read lease of session "+name, err)
}

// resealSessions encrypts the states of some sessions of an organization with its data key, and
// returns their number.
func (s *Store) resealSessions(ctx context.Context, organizationID string, at time.Time) (n int, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		key, err := s.dataKey(ctx, tx, organizationID, at, false)
		if err != nil {
			return err
		}
		names, err := sessionsToReseal(ctx, tx, key)
		if err != nil {
			return err
		}
		for _, of := range names {
			var sealed sealedSession
			session, err := rows.ScanSession(tx.QueryRowContext(ctx, selectSealedSession+`WHERE s.organization_id = ? AND s.project_id = ? AND s.name = ?`,
				of...).Scan, sealed.columns()...)
			if err != nil {
				return err
			}
			text, err := s.sealer.ResealSession(session, sealed.text, &sealed.key, key)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE sessions SET sealed = ?, key_id = ? `+ofSecret, append([]any{text, key.ID}, of...)...); err != nil {
				return err
			}
		}
		n = len(names)
		return nil
	})
	return n, err
}

// sessionsToReseal returns the organization, project and name of some sessions of the
// organization of a data key that another one encrypts.
func sessionsToReseal(ctx context.Context, tx *sql.Tx, key *rows.DataKey) (names [][]any, err error) {
	found, err := tx.QueryContext(ctx, `SELECT project_id, name FROM sessions WHERE organization_id = ? AND key_id <> ? LIMIT ?`,
		key.OrganizationID, key.ID, sealBatch)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var project, name string
		if err := found.Scan(&project, &name); err != nil {
			return nil, err
		}
		names = append(names, []any{key.OrganizationID, project, name})
	}
	return names, found.Err()
}
