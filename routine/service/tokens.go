package service

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"rote/routine"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// adminPrincipal is who the token of the configuration acts as.
var adminPrincipal = routine.Principal{UserID: "admin", OrganizationID: "default", ProjectID: "default", Scopes: routine.DefaultScopes | routine.ScopeAdmin}

func hashToken(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }

// Authenticate finds the principal of a token's secret. CodeUnauthenticated
// when it is unknown, expired or revoked, from the very next call on.
//
// Tokens are looked up by their hash. How long that takes tells nothing: of a
// secret that comes close to a real one the hash is as far off as any.
func (s *Service) Authenticate(ctx context.Context, secret string) (routine.Principal, error) {
	hash := hashToken(secret)
	if s.hasAdmin && subtle.ConstantTimeCompare(hash[:], s.adminToken[:]) == 1 {
		return adminPrincipal, nil
	}
	t, err := s.readToken(ctx, hash)
	if err != nil && !errors.Is(err, routine.ErrNotFound) {
		return routine.Principal{}, storeError(ctx, "read token", err)
	}
	now := s.now()
	if err != nil || !t.Valid(now) {
		return routine.Principal{}, routine.Errorf(routine.CodeUnauthenticated, "the service token is invalid, expired or revoked")
	}
	s.noteUse(ctx, t, now)
	p := t.Principal
	p.TokenID = t.ID
	return p, nil
}

// lastUseGrain is how exactly the last use of a token is kept. Each use by
// itself would make every call a write.
const lastUseGrain = time.Minute

// noteUse records that a token was used. The call does not wait for it and does
// not fail by it; Close waits.
func (s *Service) noteUse(ctx context.Context, t *routine.Token, now time.Time) {
	if t.LastUsedAt != nil && now.Sub(*t.LastUsedAt) < lastUseGrain {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() || now.Sub(s.used[t.ID]) < lastUseGrain {
		return
	}
	s.used[t.ID] = now
	ctx = context.WithoutCancel(ctx)
	s.done.Go(func() {
		if err := s.store.UseToken(ctx, t.ID, now); err != nil {
			s.log.WarnContext(ctx, "the use of a token was not recorded", "token_id", t.ID, "error", err)
		}
	})
}

// CreateToken makes a token that acts as p, with p's scopes and allowed hosts,
// and returns its secret, which is not kept anywhere and cannot be shown again.
// validFor 0: it does not expire. CodeInvalid without a user, an organization
// or a scope, with a control character in one of them, or if validFor is
// negative.
func (s *Service) CreateToken(ctx context.Context, p routine.Principal, validFor time.Duration) (string, *routine.Token, error) {
	if p.UserID == "" || p.OrganizationID == "" || p.Scopes == 0 {
		return "", nil, routine.Errorf(routine.CodeInvalid, "a token needs a user, an organization and a scope")
	}
	if validFor < 0 {
		return "", nil, routine.Errorf(routine.CodeInvalid, "a token cannot expire before it is created: its time to live must be positive")
	}
	for _, name := range []string{p.UserID, p.OrganizationID, p.ProjectID} {
		if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return "", nil, routine.Errorf(routine.CodeInvalid, "a token's user, organization and project are UTF-8 without control characters, not %s",
				routine.Quote(routine.Truncate(name, 80)))
		}
	}
	random := make([]byte, 32)
	rand.Read(random) // never fails
	secret := "rote_" + base64.RawURLEncoding.EncodeToString(random)
	t := &routine.Token{ID: uuid.Must(uuid.NewV7()).String(), Hash: hashToken(secret), Principal: p, CreatedAt: s.now()}
	t.TokenID = ""
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
func (s *Service) Tokens(ctx context.Context) ([]*routine.Token, error) {
	ts, err := s.store.Tokens(ctx)
	if err != nil {
		return nil, storeError(ctx, "list tokens", err)
	}
	return ts, nil
}

// RevokeToken makes a token useless from the next call on. CodeNotFound.
func (s *Service) RevokeToken(ctx context.Context, id string) error {
	err := s.store.RevokeToken(ctx, id, s.now())
	if errors.Is(err, routine.ErrNotFound) {
		return routine.Errorf(routine.CodeNotFound, "there is no token %s: see rote token list", routine.Quote(routine.Truncate(id, 80)))
	}
	if err != nil {
		return storeError(ctx, "revoke token", err)
	}
	return nil
}
