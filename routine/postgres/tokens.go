package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// CreateToken saves t.
func (s *Store) CreateToken(ctx context.Context, t *routine.Token) error {
	hosts, err := rows.Encode(append([]string{}, t.AllowedHosts...))
	if err != nil {
		return fmt.Errorf("create token: encode hosts: %w", err)
	}
	_, err = s.exec(ctx, `
		INSERT INTO tokens (id, hash, user_id, organization_id, project_id, scopes, allowed_hosts,
			created_at, expires_at, revoked_at, last_used_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		t.ID, t.Hash[:], t.UserID, t.OrganizationID, t.ProjectID, t.Scopes.String(), hosts,
		rows.Micros(t.CreatedAt), rows.NullMicros(t.ExpiresAt), rows.NullMicros(t.RevokedAt), rows.NullMicros(t.LastUsedAt))
	return rows.Wrap("create token", err)
}

const selectToken = `
	SELECT id, hash, user_id, organization_id, project_id, scopes, allowed_hosts,
		created_at, expires_at, revoked_at, last_used_at
	FROM tokens `

// TokenByHash finds a token, valid or not. It returns [routine.ErrNotFound].
func (s *Store) TokenByHash(ctx context.Context, hash [32]byte) (*routine.Token, error) {
	return s.tokenWhere(ctx, `hash = $1`, hash[:])
}

// TokenByID finds a token, valid or not. It returns [routine.ErrNotFound].
func (s *Store) TokenByID(ctx context.Context, id string) (*routine.Token, error) {
	return s.tokenWhere(ctx, `id = $1`, value(id))
}

func (s *Store) tokenWhere(ctx context.Context, condition string, argument any) (*routine.Token, error) {
	t, err := rows.ScanToken(s.queryRow(ctx, selectToken+`WHERE `+condition, argument).Scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("token: %w", routine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	return t, nil
}

// Tokens lists all tokens, oldest first.
func (s *Store) Tokens(ctx context.Context) (tokens []*routine.Token, err error) {
	err = s.read(ctx, func(ctx context.Context) (err error) {
		tokens, err = collect(ctx, s.pool, rows.ScanToken, selectToken+`ORDER BY created_at, id`)
		return err
	})
	return tokens, rows.Wrap("list tokens", err)
}

// OrganizationTokens lists the tokens of an organization, newest first.
func (s *Store) OrganizationTokens(ctx context.Context, organizationID string, limit, offset int) (tokens []*routine.Token, total int, err error) {
	err = s.snapshot(ctx, func(ctx context.Context, q queryer) (err error) {
		if err := q.QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM tokens WHERE organization_id = $1 LIMIT $2) AS counted`,
			value(organizationID), routine.MaxTotal+1).Scan(&total); err != nil {
			return err
		}
		tokens, err = collect(ctx, q, rows.ScanToken, selectToken+`WHERE organization_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
			value(organizationID), limitOf(limit), offset)
		return err
	})
	return tokens, total, rows.Wrap("list tokens", err)
}

// RevokeToken revokes a token. The time of the first call is kept. It returns
// [routine.ErrNotFound].
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	n, err := s.exec(ctx, `UPDATE tokens SET revoked_at = coalesce(revoked_at, $1::bigint) WHERE id = $2`, rows.Micros(at), value(id))
	if err == nil && n == 0 {
		err = routine.ErrNotFound
	}
	return rows.Wrap("revoke token "+id, err)
}

// UseToken sets the time of a token's last use, unless one is stored that is later or
// less than a minute older: many processes that use a token write once a minute together.
// It returns [routine.ErrNotFound].
func (s *Store) UseToken(ctx context.Context, id string, at time.Time) error {
	n, err := s.execRelaxed(ctx, s.pool, `UPDATE tokens SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $3)`,
		rows.Micros(at), value(id), rows.Micros(at.Add(-time.Minute)))
	if err == nil && n == 0 {
		err = s.queryRow(ctx, `SELECT id FROM tokens WHERE id = $1`, value(id)).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			err = routine.ErrNotFound
		}
	}
	return rows.Wrap("use token "+id, err)
}
