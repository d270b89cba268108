package routine

import (
	"context"
	"errors"
	"time"
)

// Errors of a Store on which its callers depend. A Store returns any other error
// wrapped in a description of what it was doing.
var (
	// ErrNotFound means that there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrToolNameTaken means that another routine of the organization has the tool name.
	ErrToolNameTaken = errors.New("tool name is taken")
	// ErrFinal means that the execution has ended and cannot be changed.
	ErrFinal = errors.New("execution is final")
)

// Store keeps routines, tokens and executions. A change is durable when its method
// returns nil. Methods may be called by many goroutines, and several processes may
// share one database. A Store copies the values passed to it, and its callers own the
// values returned. The test suite in routinetest defines this contract as code.
// Comments name the errors above that a method can return.
type Store interface {
	ExecutionStore
	QueueStore
	RoutineStore
	WebhookStore
	JobStore
	StateStore
	ScheduleStore
	SecretStore
	SessionStore
	SignInStore

	// FindByKey returns the id of what k's user created with k's key less than
	// IdempotencyTime before k.CreatedAt, and the fingerprint of that call.
	// ErrNotFound.
	FindByKey(ctx context.Context, k *IdempotencyKey) (id string, fingerprint [32]byte, err error)

	// CreateToken saves t. The secret itself is never stored.
	CreateToken(ctx context.Context, t *Token) error
	// TokenByHash returns a token, even if it is revoked or expired. ErrNotFound.
	TokenByHash(ctx context.Context, hash [32]byte) (*Token, error)
	// TokenByID returns a token, even if it is revoked or expired. ErrNotFound.
	TokenByID(ctx context.Context, id string) (*Token, error)
	// Tokens lists all tokens, oldest first.
	Tokens(ctx context.Context) ([]*Token, error)
	// OrganizationTokens returns the tokens of an organization, newest first, at most limit
	// (zero or less: all) after offset, and their number, at most MaxTotal+1.
	OrganizationTokens(ctx context.Context, organizationID string, limit, offset int) (tokens []*Token, total int, err error)
	// RevokeToken is idempotent: the time of the first revocation is kept.
	// ErrNotFound.
	RevokeToken(ctx context.Context, id string, at time.Time) error
	// UseToken records when a token was used, unless a later use is recorded already.
	// ErrNotFound.
	UseToken(ctx context.Context, id string, at time.Time) error

	// Changes counts the changes by all processes that were saved before the call. It
	// is much cheaper than reading a row.
	Changes(ctx context.Context) (Changes, error)
	// Signals calls heard for each request to cancel one of this Store's own executions,
	// and when routines or tokens have changed, soon after it happened in any process.
	// A call begins with all requests that are open. A signal may come twice, and a
	// change may be signalled that nobody made. Signals keep their order.
	// Signals returns nil when ctx ends, and an error if the store does not answer: the
	// caller then calls it again. It calls heard from one goroutine; heard must not
	// block.
	Signals(ctx context.Context, heard func(Signal)) error
	// Size returns the bytes that the store takes on disk; 0 if it is only in memory.
	Size() (int64, error)
	// Ping returns nil if the store answers.
	Ping(ctx context.Context) error
}

// MaxTotal is the largest total of a list that is counted exactly. For a list with more
// matches a Store returns MaxTotal+1: to count them all, it would read all of them.
const MaxTotal = 10_000

// Total is how many matches a list has, as callers receive it.
type Total struct {
	// Total is at most MaxTotal, or what the caller wanted to have counted.
	Total int `json:"total"`
	// TotalExact is false if there are more matches than Total, and otherwise nil.
	TotalExact *bool `json:"total_exact,omitempty"`
}

// NewTotal returns the total that callers receive for the total of a [Store].
func NewTotal(total int) Total { return NewTotalUpTo(total, MaxTotal) }

// NewTotalUpTo is NewTotal for a list of which at most the given number is counted.
func NewTotalUpTo(total, counted int) Total {
	if total <= counted {
		return Total{Total: total}
	}
	return Total{Total: counted, TotalExact: new(false)}
}

// Token lets its bearer act as a principal.
type Token struct {
	ID string
	// Hash is the SHA-256 of the secret.
	Hash [32]byte
	// Principal has no TokenID, which is the token's ID.
	Principal
	CreatedAt time.Time
	// ExpiresAt is nil if the token does not expire.
	ExpiresAt *time.Time
	RevokedAt *time.Time
	// LastUsedAt is exact to a minute; nil if the token was never used.
	LastUsedAt *time.Time
}

// Valid reports whether the token can be used at a time.
func (t *Token) Valid(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt))
}

// Signal is something that processes that share a [Store] must learn soon.
type Signal struct {
	// Cancel is the id of an open execution for which RequestCancel was called; empty
	// in a signal of another kind.
	Cancel string
	// Changed reports whether the counts of Changes may have grown.
	Changed bool
}

// Changes counts the changes to a [Store]. Equal counts mean equal content, and counts
// never decrease.
type Changes struct {
	// Routines counts new routines and versions, Tokens revocations.
	Routines, Tokens int64
}
