package routine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"time"

	"github.com/google/uuid"
)

// adminPrincipal is who the token of the configuration acts as.
var adminPrincipal = Principal{UserID: "admin", OrganizationID: "default", ProjectID: "default"}

func hashToken(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }

// Authenticate finds the principal of a token's secret. CodeUnauthenticated
// when it is unknown, expired or revoked.
func (s *Service) Authenticate(ctx context.Context, secret string) (Principal, error) {
	hash := hashToken(secret)
	if s.hasAdmin && subtle.ConstantTimeCompare(hash[:], s.adminToken[:]) == 1 {
		return adminPrincipal, nil
	}
	t, err := s.store.TokenByHash(ctx, hash)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Principal{}, storeError(ctx, "read token", err)
	}
	if err != nil || !t.Valid(s.now()) {
		return Principal{}, Errorf(CodeUnauthenticated, "the service token is invalid, expired or revoked")
	}
	return t.Principal, nil
}

// CreateToken makes a token for p and returns its secret, which is not kept
// anywhere and cannot be shown again. validFor 0: it does not expire.
func (s *Service) CreateToken(ctx context.Context, p Principal, validFor time.Duration) (string, *Token, error) {
	random := make([]byte, 32)
	rand.Read(random) // never fails
	secret := "rote_" + base64.RawURLEncoding.EncodeToString(random)
	t := &Token{ID: uuid.Must(uuid.NewV7()).String(), Hash: hashToken(secret), Principal: p, CreatedAt: s.now()}
	if validFor > 0 {
		at := t.CreatedAt.Add(validFor)
		t.ExpiresAt = &at
	}
	if err := s.store.CreateToken(ctx, t); err != nil {
		return "", nil, storeError(ctx, "create token", err)
	}
	return secret, t, nil
}

// Tokens lists all tokens, oldest first.
func (s *Service) Tokens(ctx context.Context) ([]*Token, error) {
	ts, err := s.store.Tokens(ctx)
	if err != nil {
		return nil, storeError(ctx, "list tokens", err)
	}
	return ts, nil
}

// RevokeToken makes a token useless from the next call on. CodeNotFound.
func (s *Service) RevokeToken(ctx context.Context, id string) error {
	err := s.store.RevokeToken(ctx, id, s.now())
	if errors.Is(err, ErrNotFound) {
		return Errorf(CodeNotFound, "there is no token %s: see rote token list", quoted(clip(id, 80)))
	}
	if err != nil {
		return storeError(ctx, "revoke token", err)
	}
	return nil
}
