package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rote/routine"
)

// CreateToken saves t.
func (s *Store) CreateToken(ctx context.Context, t *routine.Token) error {
	hosts, err := encode(append([]string{}, t.AllowedHosts...))
	if err != nil {
		return fmt.Errorf("create token: encode hosts: %w", err)
	}
	_, err = s.write.ExecContext(ctx, `
		INSERT INTO tokens (id, hash, user_id, organization_id, project_id, scopes, allowed_hosts,
			created_at, expires_at, revoked_at, last_used_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.ID, t.Hash[:], t.UserID, t.OrganizationID, t.ProjectID, t.Scopes.String(), hosts,
		micros(t.CreatedAt), nullMicros(t.ExpiresAt), nullMicros(t.RevokedAt), nullMicros(t.LastUsedAt))
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
	done, err := s.write.ExecContext(ctx, `UPDATE tokens SET `+set+` WHERE id = ?2`, micros(at), id)
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

func scanToken(scan func(...any) error) (*routine.Token, error) {
	var (
		t                      routine.Token
		hash, hosts            []byte
		scopes                 string
		created                int64
		expires, revoked, used *int64
	)
	err := scan(&t.ID, &hash, &t.UserID, &t.OrganizationID, &t.ProjectID, &scopes, &hosts, &created, &expires, &revoked, &used)
	if err != nil {
		return nil, err
	}
	if t.Scopes, err = routine.ParseScopes(strings.Fields(scopes)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(hosts, &t.AllowedHosts); err != nil {
		return nil, fmt.Errorf("decode allowed hosts of token %s: %w", t.ID, err)
	}
	copy(t.Hash[:], hash)
	t.CreatedAt = fromMicros(created)
	t.ExpiresAt, t.RevokedAt, t.LastUsedAt = fromNullMicros(expires), fromNullMicros(revoked), fromNullMicros(used)
	return &t, nil
}
