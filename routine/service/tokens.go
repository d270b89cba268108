package service

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/audit"

	"github.com/google/uuid"
)

// adminPrincipal is the principal of the admin token of the configuration.
var adminPrincipal = routine.Principal{UserID: "admin", OrganizationID: "default", ProjectID: "default", Scopes: routine.DefaultScopes | routine.ScopeAdmin}

// errInvalidToken is the answer to a call with a token that is unknown or not valid.
var errInvalidToken = routine.Errorf(routine.CodeUnauthenticated, "the service token is invalid, expired or revoked")

func hashToken(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }

// newSecret returns a text of 32 random bytes.
func newSecret() string {
	random := make([]byte, 32)
	rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// Authenticate returns the principal of a token's secret. CodeUnauthenticated when the
// token is unknown, expired or revoked; a revocation counts from the next call on.
//
// Tokens are looked up by the hash of the secret. The time that this takes reveals nothing:
// the hash of a similar secret is not similar.
func (s *Service) Authenticate(ctx context.Context, secret string) (routine.Principal, error) {
	return s.authenticate(ctx, hashToken(secret))
}

// authenticate is Authenticate for the token with a hash.
func (s *Service) authenticate(ctx context.Context, hash [32]byte) (routine.Principal, error) {
	if s.hasAdmin && subtle.ConstantTimeCompare(hash[:], s.adminToken[:]) == 1 {
		return adminPrincipal, nil
	}
	t, err := s.readToken(ctx, hash)
	if err != nil && !errors.Is(err, routine.ErrNotFound) {
		return routine.Principal{}, storeError(ctx, "read token", err)
	}
	now := s.now()
	if err != nil || !t.Valid(now) {
		return routine.Principal{}, errInvalidToken
	}
	s.recordUse(ctx, t, now)
	p := t.Principal
	p.TokenID = t.ID
	return p, nil
}

// validToken returns the token with an id, or nil if there is none or it is not valid at a
// time. CodeStoreUnavailable.
func (s *Service) validToken(ctx context.Context, id string, now time.Time) (*routine.Token, error) {
	t, err := s.store.TokenByID(ctx, id)
	switch {
	case errors.Is(err, routine.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, storeError(ctx, "read token", err)
	case !t.Valid(now):
		return nil, nil
	}
	return t, nil
}

// lastUsePrecision is the precision of a token's last use. To record each use would make
// every call a write.
const lastUsePrecision = time.Minute

// recordUse stores in the background when a token was used. Close waits for that. Errors
// are only logged.
func (s *Service) recordUse(ctx context.Context, t *routine.Token, now time.Time) {
	if t.LastUsedAt != nil && now.Sub(*t.LastUsedAt) < lastUsePrecision {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() || now.Sub(s.used[t.ID]) < lastUsePrecision {
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

// CreateToken creates a token that acts as p, with p's scopes and allowed hosts. It returns
// the token and its secret, which is not stored and cannot be shown again. If validFor is
// 0, the token does not expire. CodeInvalid if p has no user, organization or scope, if one
// of its names has control characters, or if validFor is negative.
func (s *Service) CreateToken(ctx context.Context, p routine.Principal, validFor time.Duration) (string, *routine.Token, error) {
	return s.createToken(ctx, routine.Principal{OrganizationID: p.OrganizationID, ProjectID: p.ProjectID}, p, validFor)
}

// createToken is CreateToken for a token that creator makes; without a user, it is made on the
// command line.
func (s *Service) createToken(ctx context.Context, creator, p routine.Principal, validFor time.Duration) (string, *routine.Token, error) {
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
	secret := "rote_" + newSecret()
	t := &routine.Token{ID: uuid.Must(uuid.NewV7()).String(), Hash: hashToken(secret), Principal: p, CreatedAt: s.now()}
	t.TokenID = ""
	if validFor > 0 {
		at := t.CreatedAt.Add(validFor)
		t.ExpiresAt = &at
	}
	if err := s.store.CreateToken(ctx, t); err != nil {
		return "", nil, storeError(ctx, "create token", err)
	}
	s.audit.Changed(ctx, creator, audit.TokenCreated, slog.String("token", t.ID), slog.String("for_user", p.UserID), slog.String("scopes", p.Scopes.String()))
	return secret, t, nil
}

// Tokens lists all tokens, oldest first. It is for the command line, as CreateToken and
// RevokeToken: they check no access. OrganizationTokens does.
func (s *Service) Tokens(ctx context.Context) ([]*routine.Token, error) {
	ts, err := s.store.Tokens(ctx)
	if err != nil {
		return nil, storeError(ctx, "list tokens", err)
	}
	return ts, nil
}

// RevokeToken makes a token invalid from the next call on. CodeNotFound.
func (s *Service) RevokeToken(ctx context.Context, id string) error {
	return s.revokeToken(ctx, routine.Principal{}, id)
}

// revokeToken is RevokeToken for p.
func (s *Service) revokeToken(ctx context.Context, p routine.Principal, id string) error {
	err := s.store.RevokeToken(ctx, id, s.now())
	if errors.Is(err, routine.ErrNotFound) {
		return routine.Errorf(routine.CodeNotFound, "there is no token %s: see rote token list", routine.Quote(routine.Truncate(id, 80)))
	}
	if err != nil {
		return storeError(ctx, "revoke token", err)
	}
	s.audit.Changed(ctx, p, audit.TokenRevoked, slog.String("token", id))
	return nil
}
