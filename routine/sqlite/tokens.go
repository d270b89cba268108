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

// CreateToken saves t.
func (s *Store) CreateToken(ctx context.Context, t *routine.Token) error {
	hosts, err := rows.Encode(append([]string{}, t.AllowedHosts...))
	if err != nil {
		return fmt.Errorf("create token: encode hosts: %w", err)
	}
	_, err = s.write.ExecContext(ctx, `
		INSERT INTO tokens (id, hash, user_id, organization_id, project_id, scopes, allowed_hosts,
			created_at, expires_at, revoked_at, last_used_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.ID, t.Hash[:], t.UserID, t.OrganizationID, t.ProjectID, t.Scopes.String(), hosts,
		rows.Micros(t.CreatedAt), rows.NullMicros(t.ExpiresAt), rows.NullMicros(t.RevokedAt), rows.NullMicros(t.LastUsedAt))
	if err != nil {
		return fmt.Errorf("create token: %w", err)
	}
	return nil
}

const selectToken = `
	SELECT id, hash, user_id, organization_id, project_id, scopes, allowed_hosts,
		created_at, expires_at, revoked_at, last_used_at
	FROM tokens `

// TokenByHash finds a token, valid or not. It returns [routine.ErrNotFound].
func (s *Store) TokenByHash(ctx context.Context, hash [32]byte) (*routine.Token, error) {
	return s.tokenWhere(ctx, `hash = ?`, hash[:])
}

// TokenByID finds a token, valid or not. It returns [routine.ErrNotFound].
func (s *Store) TokenByID(ctx context.Context, id string) (*routine.Token, error) {
	return s.tokenWhere(ctx, `id = ?`, id)
}

func (s *Store) tokenWhere(ctx context.Context, condition string, argument any) (*routine.Token, error) {
	t, err := rows.ScanToken(s.read.QueryRowContext(ctx, selectToken+`WHERE `+condition, argument).Scan)
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
	return s.listTokens(ctx, `ORDER BY created_at, id`)
}

// OrganizationTokens lists the tokens of an organization, newest first.
func (s *Store) OrganizationTokens(ctx context.Context, organizationID string, limit, offset int) (tokens []*routine.Token, total int, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM tokens WHERE organization_id = ? LIMIT ?)`,
		organizationID, routine.MaxTotal+1).Scan(&total); err != nil {
		return nil, 0, rows.Wrap("count tokens", err)
	}
	if limit <= 0 {
		limit = -1
	}
	tokens, err = s.listTokens(ctx, organizationTokens, organizationID, limit, offset)
	return tokens, total, err
}

const organizationTokens = `WHERE organization_id = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`

func (s *Store) listTokens(ctx context.Context, which string, args ...any) ([]*routine.Token, error) {
	found, err := s.read.QueryContext(ctx, selectToken+which, args...)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	defer found.Close()
	tokens := []*routine.Token{}
	for found.Next() {
		t, err := rows.ScanToken(found.Scan)
		if err != nil {
			return nil, fmt.Errorf("list tokens: %w", err)
		}
		tokens = append(tokens, t)
	}
	return tokens, rows.Wrap("list tokens", found.Err())
}

// RevokeToken revokes a token. The time of the first call is kept. It returns
// [routine.ErrNotFound].
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	return s.changeToken(ctx, "revoke token", id, `revoked_at = coalesce(revoked_at, ?1)`, at)
}

// UseToken sets the time of a token's last use, unless a later one is stored.
// It returns [routine.ErrNotFound].
func (s *Store) UseToken(ctx context.Context, id string, at time.Time) error {
	return s.changeToken(ctx, "use token", id, `last_used_at = max(coalesce(last_used_at, ?1), ?1)`, at)
}

func (s *Store) changeToken(ctx context.Context, doing, id, set string, at time.Time) error {
	done, err := s.write.ExecContext(ctx, `UPDATE tokens SET `+set+` WHERE id = ?2`, rows.Micros(at), id)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if n == 0 {
		return fmt.Errorf("%s %s: %w", doing, id, routine.ErrNotFound)
	}
	return nil
}
