package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rote/routine"
)

// CreateToken saves t.
func (s *Store) CreateToken(ctx context.Context, t *routine.Token) error {
	_, err := s.write.ExecContext(ctx, `
		INSERT INTO tokens (id, hash, user_id, organization_id, project_id, created_at, expires_at, revoked_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		t.ID, t.Hash[:], t.UserID, t.OrganizationID, t.ProjectID,
		micros(t.CreatedAt), nullMicros(t.ExpiresAt), nullMicros(t.RevokedAt))
	if err != nil {
		return fmt.Errorf("create token: %w", err)
	}
	return nil
}

const selectToken = `
	SELECT id, hash, user_id, organization_id, project_id, created_at, expires_at, revoked_at FROM tokens `

// TokenByHash finds a token, valid or not. [routine.ErrNotFound].
func (s *Store) TokenByHash(ctx context.Context, hash [32]byte) (*routine.Token, error) {
	t, err := scanToken(s.read.QueryRowContext(ctx, selectToken+`WHERE hash = ?`, hash[:]).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("token: %w", routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	return t, nil
}

// Tokens lists all tokens, oldest first.
func (s *Store) Tokens(ctx context.Context) ([]*routine.Token, error) {
	rows, err := s.read.QueryContext(ctx, selectToken+`ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	defer rows.Close()
	tokens := []*routine.Token{}
	for rows.Next() {
		t, err := scanToken(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("list tokens: %w", err)
		}
		tokens = append(tokens, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return tokens, nil
}

// RevokeToken ends a token at a time, once. [routine.ErrNotFound].
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	done, err := s.write.ExecContext(ctx,
		`UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?`, micros(at), id)
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("token %s: %w", id, routine.ErrNotFound)
	}
	return nil
}

func scanToken(scan func(...any) error) (*routine.Token, error) {
	var (
		t                routine.Token
		hash             []byte
		created          int64
		expires, revoked *int64
	)
	err := scan(&t.ID, &hash, &t.UserID, &t.OrganizationID, &t.ProjectID, &created, &expires, &revoked)
	if err != nil {
		return nil, err
	}
	copy(t.Hash[:], hash)
	t.CreatedAt = fromMicros(created)
	t.ExpiresAt, t.RevokedAt = fromNullMicros(expires), fromNullMicros(revoked)
	return &t, nil
}
