package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

var selectSession = `SELECT ` + strings.Join(rows.SessionColumns, `, `) + ` FROM sessions `

// SaveSession creates or replaces a session. It returns [routine.ErrChanged] or
// [routine.ErrStateKey].
func (s *Store) SaveSession(ctx context.Context, session *routine.Session, state []byte, before int) error {
	next := *session
	next.Generation = before + 1
	values, err := rows.SessionValues(&next, textBytes)
	if err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	columns, n := strings.Join(rows.SessionColumns, `, `), len(values)
	query, args := `INSERT INTO sessions (`+columns+`) VALUES (`+placeholders(1, n)+`) ON CONFLICT (organization_id, project_id, name) DO NOTHING`, values
	if before > 0 {
		query = `UPDATE sessions SET (` + columns + `) = ROW (` + placeholders(1, n) + fmt.Sprintf(`)
			WHERE organization_id = $1 AND project_id = $2 AND name = $3 AND generation = $%d`, n+1)
		args = append(values, before)
	}
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, query, args...)
		if err == nil && done.RowsAffected() == 0 {
			err = routine.ErrChanged
		}
		if err != nil || state == nil {
			return err
		}
		var sealed []byte
		var keyID *string
		if len(state) > 0 {
			key, err := s.dataKey(ctx, tx, next.OrganizationID, time.Now())
			if err != nil {
				return err
			}
			if sealed, err = s.sealer.SealSession(&next, state, key); err != nil {
				return err
			}
			keyID = &key.ID
		}
		_, err = tx.Exec(ctx, `UPDATE sessions SET sealed = $4, key_id = $5 `+ofSecret, append(sessionKey(&next), sealed, keyID)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("save session %s: %w", session.Name, err)
	}
	session.Generation = next.Generation
	return nil
}

func sessionKey(s *routine.Session) []any { return secretKey(s.OrganizationID, s.ProjectID, s.Name) }

// Session reads a session. It returns [routine.ErrNotFound].
func (s *Store) Session(ctx context.Context, organizationID, projectID, name string) (*routine.Session, error) {
	found, err := rows.ScanSession(s.queryRow(ctx, selectSession+ofSecret, secretKey(organizationID, projectID, name)...).Scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = routine.ErrNotFound
	}
	return found, rows.Wrap("read session "+name, err)
}

// Sessions lists the sessions of a project.
func (s *Store) Sessions(ctx context.Context, organizationID, projectID string) (list []*routine.Session, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		list, err = collect(ctx, s.pool, func(scan rows.Scan) (*routine.Session, error) { return rows.ScanSession(scan) },
			selectSession+`WHERE organization_id = $1 AND project_id = $2 ORDER BY name`, value(organizationID), value(projectID))
		return err
	})
	return list, rows.Wrap("list sessions", err)
}

// selectSealedSession returns SessionColumns and then those of a sealedSession.
var selectSealedSession = `SELECT s.` + strings.Join(rows.SessionColumns, `, s.`) + `,
	s.sealed, coalesce(k.id, ''), s.organization_id, k.wrapped, k.state_key_id
	FROM sessions s LEFT JOIN data_keys k ON k.id = s.key_id `

// sealedSession is a session with its encrypted state and its data key.
type sealedSession struct {
	*routine.Session
	text []byte
	key  rows.DataKey
}

func scanSealedSession(scan rows.Scan) (s *sealedSession, err error) {
	s = &sealedSession{}
	s.Session, err = rows.ScanSession(scan, &s.text, &s.key.ID, &s.key.OrganizationID, &s.key.Wrapped.Text, &s.key.Wrapped.KeyID)
	return s, err
}

// SessionState reads a session and decrypts its state. It returns [routine.ErrNotFound],
// [routine.ErrSealed] or [routine.ErrStateKey].
func (s *Store) SessionState(ctx context.Context, organizationID, projectID, name string) (*routine.Session, []byte, error) {
	found, err := scanSealedSession(s.queryRow(ctx, selectSealedSession+`WHERE s.organization_id = $1 AND s.project_id = $2 AND s.name = $3`,
		secretKey(organizationID, projectID, name)...).Scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = routine.ErrNotFound
	}
	if err != nil || found.text == nil {
		return found.Session, nil, rows.Wrap("read session "+name, err)
	}
	state, err := s.sealer.OpenSession(found.Session, found.text, &found.key)
	return found.Session, state, err
}

// DeleteSession deletes a session. It returns [routine.ErrNotFound].
func (s *Store) DeleteSession(ctx context.Context, organizationID, projectID, name string) error {
	n, err := s.exec(ctx, `DELETE FROM sessions `+ofSecret, secretKey(organizationID, projectID, name)...)
	if err == nil && n == 0 {
		err = routine.ErrNotFound
	}
	return rows.Wrap("delete session "+name, err)
}

// LeaseSession gives an execution the exclusive use of a session. It returns
// [routine.ErrNotFound].
func (s *Store) LeaseSession(ctx context.Context, l routine.SessionLease) (leased bool, err error) {
	const isOpen = `EXISTS (SELECT 1 FROM executions WHERE status IN ('pending', 'running') AND id = `
	of := secretKey(l.OrganizationID, l.ProjectID, l.Name)
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		// Others that lease it wait, so that the next statement sees the execution that has it.
		done, err := tx.Exec(ctx, `SELECT 1 FROM sessions `+ofSecret+` FOR UPDATE`, of...)
		if err == nil && done.RowsAffected() == 0 {
			err = routine.ErrNotFound
		}
		if err != nil {
			return err
		}
		done, err = tx.Exec(ctx, `
			INSERT INTO session_leases (organization_id, project_id, name, purpose, execution_id) SELECT $1, $2, $3, $4, $5 WHERE `+isOpen+`$5)
			ON CONFLICT (organization_id, project_id, name, purpose) DO UPDATE SET execution_id = excluded.execution_id
			WHERE session_leases.execution_id = excluded.execution_id OR NOT `+isOpen+`session_leases.execution_id)`,
			append(of, string(l.Purpose), value(l.ExecutionID))...)
		leased = done.RowsAffected() > 0
		return err
	})
	return leased && err == nil, rows.Wrap("lease session "+l.Name, err)
}

// SessionLessee returns the open execution that has a session for a purpose.
func (s *Store) SessionLessee(ctx context.Context, organizationID, projectID, name string, purpose routine.LeasePurpose) (executionID string, err error) {
	err = s.queryRow(ctx, `
		SELECT e.id FROM session_leases l JOIN executions e ON e.id = l.execution_id
		WHERE l.organization_id = $1 AND l.project_id = $2 AND l.name = $3 AND l.purpose = $4 AND e.status IN ('pending', 'running')`,
		append(secretKey(organizationID, projectID, name), string(purpose))...).Scan(&executionID)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return executionID, rows.Wrap("read lease of session "+name, err)
}

// resealSessions encrypts the states of some sessions of an organization with its data key, and
// returns their number.
func (s *Store) resealSessions(ctx context.Context, organizationID string, at time.Time) (n int, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		key, err := s.dataKey(ctx, tx, organizationID, at)
		if err != nil {
			return err
		}
		list, err := collect(ctx, tx, scanSealedSession, selectSealedSession+`WHERE s.organization_id = $1 AND s.key_id <> $2 LIMIT $3 FOR UPDATE OF s`,
			organizationID, key.ID, sealBatch)
		if err != nil {
			return err
		}
		for _, r := range list {
			text, err := s.sealer.ResealSession(r.Session, r.text, &r.key, key)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `UPDATE sessions SET sealed = $4, key_id = $5 `+ofSecret, append(sessionKey(r.Session), text, key.ID)...); err != nil {
				return err
			}
		}
		n = len(list)
		return nil
	})
	return n, err
}
