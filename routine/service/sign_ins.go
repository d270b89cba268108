package service

import (
	"context"
	"errors"
	"time"

	"rote/routine"
	"rote/routine/audit"
)

// SignIn starts a person's session in the web console with a service token. It returns a
// secret for the person's browser, which SignedIn accepts in every process that shares the
// store, and the token's principal. Only the hashes of both secrets are stored.
// CodeUnauthenticated as Authenticate; CodeStoreUnavailable.
func (s *Service) SignIn(ctx context.Context, tokenSecret string) (secret string, p routine.Principal, err error) {
	tokenHash := hashToken(tokenSecret)
	if p, err = s.authenticate(ctx, tokenHash); err != nil {
		return "", routine.Principal{}, err
	}
	secret = newSecret()
	now := s.now()
	in := &routine.SignIn{Hash: hashToken(secret), TokenHash: tokenHash, CreatedAt: now, LastUsedAt: now}
	if err := s.store.CreateSignIn(ctx, in); err != nil {
		return "", routine.Principal{}, storeError(ctx, "create sign-in", err)
	}
	s.audit.Changed(ctx, p, audit.SignedIn)
	return secret, p, nil
}

// SignedIn returns the principal of the token with which a sign-in began. The token is looked
// up each time, so a sign-in ends at once when its token is revoked or expires, or when the
// configuration has another admin token. It also ends after routine.SignInIdleTime without a
// call of SignedIn, which is exact to a minute, after routine.SignInTime, and with SignOut.
// CodeUnauthenticated if it has ended; CodeStoreUnavailable.
func (s *Service) SignedIn(ctx context.Context, secret string) (routine.Principal, error) {
	hash := hashToken(secret)
	in, err := s.store.SignInByHash(ctx, hash)
	if err != nil && !errors.Is(err, routine.ErrNotFound) {
		return routine.Principal{}, storeError(ctx, "read sign-in", err)
	}
	now := s.now()
	if err != nil || !in.Valid(now) {
		return routine.Principal{}, routine.Errorf(routine.CodeUnauthenticated, "you are signed out: sign in again")
	}
	p, err := s.authenticate(ctx, in.TokenHash)
	if routine.CodeOf(err) == routine.CodeUnauthenticated {
		err = routine.Errorf(routine.CodeUnauthenticated, "you are signed out, because your service token is expired or revoked: sign in with another one")
	}
	if err != nil {
		return routine.Principal{}, err
	}
	if now.Sub(in.LastUsedAt) >= lastUsePrecision {
		s.recordSignInUse(ctx, hash, now)
	}
	return p, nil
}

// recordSignInUse stores in the background when a sign-in was used. Close waits for that.
// Errors are only logged.
func (s *Service) recordSignInUse(ctx context.Context, hash [32]byte, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() {
		return
	}
	ctx = context.WithoutCancel(ctx)
	s.done.Go(func() {
		if err := s.store.UseSignIn(ctx, hash, now); err != nil && !errors.Is(err, routine.ErrNotFound) { // signed out meanwhile
			s.log.WarnContext(ctx, "the use of a sign-in was not recorded", "error", err)
		}
	})
}

// SignOut ends a sign-in. It is idempotent. CodeStoreUnavailable.
func (s *Service) SignOut(ctx context.Context, secret string) error {
	p, ended := s.SignedIn(ctx, secret)
	if err := s.store.EndSignIn(ctx, hashToken(secret)); err != nil {
		return storeError(ctx, "end sign-in", err)
	}
	if ended == nil {
		s.audit.Changed(ctx, p, audit.SignedOut)
	}
	return nil
}
