package routine

import (
	"context"
	"errors"
	"time"
)

// Errors of a Store that its callers decide by. A Store wraps any other fault
// in what it was doing and returns it as it is.
var (
	// ErrNotFound: no such row.
	ErrNotFound = errors.New("not found")
	// ErrToolNameTaken: another routine of the organization has the name.
	ErrToolNameTaken = errors.New("tool name is taken")
	// ErrFinal: the execution has ended already and is not changed again.
	ErrFinal = errors.New("execution is final")
)

// Store keeps routines, tokens and executions. Every method that returns nil
// after a change has made it durable. Methods may be called by many goroutines,
// and several processes may share what a Store keeps. Values passed in are
// copied, values returned are the caller's own. The suite in routinetest is
// this contract as code.
type Store interface {
	ExecutionStore
	RoutineStore
	WebhookStore
	StateStore

	// Made tells what was made with k's key by k's user less than
	// IdempotencyTime before k, and the fingerprint of that call. ErrNotFound.
	Made(ctx context.Context, k *IdempotencyKey) (id string, fingerprint [32]byte, err error)

	// CreateToken saves t. The secret itself is never stored.
	CreateToken(ctx context.Context, t *Token) error
	// TokenByHash finds a token, revoked or expired ones too. ErrNotFound.
	TokenByHash(ctx context.Context, hash [32]byte) (*Token, error)
	// Tokens lists all tokens, oldest first.
	Tokens(ctx context.Context) ([]*Token, error)
	// RevokeToken is idempotent; the first revocation's time stays. ErrNotFound.
	RevokeToken(ctx context.Context, id string, at time.Time) error
	// UseToken records that a token was used. A time before the one that is
	// kept changes nothing. ErrNotFound.
	UseToken(ctx context.Context, id string, at time.Time) error

	// Changes counts what has changed, by whatever process: a change that was
	// saved before the call is counted. It is much cheaper than to read a row.
	Changes(ctx context.Context) (Changes, error)
	// Size is how many bytes the rows take on disk; 0: they are on none.
	Size() (int64, error)
	// Ping tells whether the store answers.
	Ping(ctx context.Context) error
}

// Token lets its bearer act as a principal.
type Token struct {
	ID string
	// Hash is the SHA-256 of the secret.
	Hash [32]byte
	// Principal is without TokenID, which is ID.
	Principal
	CreatedAt time.Time
	// ExpiresAt is nil for a token that does not expire.
	ExpiresAt *time.Time
	RevokedAt *time.Time
	// LastUsedAt is exact to a minute; nil: it never was.
	LastUsedAt *time.Time
}

// Valid tells whether the token can be used at a time.
func (t *Token) Valid(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt))
}

// Changes counts the changes to what a [Store] keeps. Equal counts mean equal
// content; the counts only grow.
type Changes struct {
	// Routines counts new routines and versions, Tokens revocations.
	Routines, Tokens int64
}
