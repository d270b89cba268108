package routine

import (
	"context"
	"time"
)

// SignInIdleTime is how long a sign-in lasts without being used, SignInTime how long it lasts
// at most.
const (
	SignInIdleTime = 12 * time.Hour
	SignInTime     = 7 * 24 * time.Hour
)

// SignIn is a person's session in the web console, which began with a service token. (A
// [Session] is a login to a website.)
type SignIn struct {
	// Hash is the SHA-256 of the secret that the person's browser has.
	Hash [32]byte
	// TokenHash is the SHA-256 of the secret of the service token.
	TokenHash [32]byte
	CreatedAt time.Time
	// LastUsedAt is exact to a minute. It is CreatedAt if the sign-in was never used.
	LastUsedAt time.Time
}

// Valid reports whether the sign-in has not ended at a time, if its token is valid then.
func (s *SignIn) Valid(now time.Time) bool {
	return now.Before(s.CreatedAt.Add(SignInTime)) && now.Before(s.LastUsedAt.Add(SignInIdleTime))
}

// SignInStore is the part of a [Store] that keeps the sign-ins of the web console. Prune
// deletes those that are not valid any longer.
type SignInStore interface {
	// CreateSignIn saves s. The secrets themselves are never stored.
	CreateSignIn(ctx context.Context, s *SignIn) error
	// SignInByHash returns a sign-in, even if it is not valid any longer. ErrNotFound.
	SignInByHash(ctx context.Context, hash [32]byte) (*SignIn, error)
	// UseSignIn records when a sign-in was used, unless a later use is recorded already.
	// ErrNotFound.
	UseSignIn(ctx context.Context, hash [32]byte, at time.Time) error
	// EndSignIn deletes a sign-in. It is idempotent.
	EndSignIn(ctx context.Context, hash [32]byte) error
}
