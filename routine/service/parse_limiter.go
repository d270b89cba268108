package service

import (
	"context"
	"sync/atomic"
	"time"

	"rote/routine"

	"golang.org/x/sync/semaphore"
)

const (
	// MaxAnonymousBody limits the body of a request without a token, in bytes.
	MaxAnonymousBody = 256 << 10

	// maxAdmitted limits the definitions that are parsed or decoded at the same time for
	// callers with a token, in bytes of their texts: a hostile definition takes up to 100
	// times its length in memory. Small definitions and lists have their own limit, so that
	// they do not wait for large ones.
	maxAdmitted      = routine.MaxDefinitionBytes
	maxAdmittedSmall = 1 << 20
	// maxWaiting limits the texts that wait to be admitted, in bytes.
	maxWaiting = 64 << 20
	// maxAnonymousWaiting is how many calls without a token may wait.
	maxAnonymousWaiting = 64
	// maxParseWait is how long a call waits to be admitted.
	maxParseWait = 10 * time.Second

	// smallDefinition is the size in bytes up to which a definition is small. A stored
	// definition that is small is read without admission.
	smallDefinition = 64 << 10
	// maxListedDefinition is the size in bytes up to which a definition is listed with its
	// parameters and operations.
	maxListedDefinition = 32 << 10
	// listedDefinition is the size in bytes with which a definition in a list is counted:
	// few listed definitions are larger.
	listedDefinition = 8 << 10
)

// parseLimiter limits how many large definitions are worked on at the same time, so that many
// calls at once cannot use up the memory. Calls without a token are admitted one at a time
// and cannot delay the others.
type parseLimiter struct {
	small, large, anonymous gate
}

func newParseLimiter() *parseLimiter {
	return &parseLimiter{
		small:     gate{semaphore: semaphore.NewWeighted(maxAdmittedSmall), capacity: maxAdmittedSmall, maxWaiting: maxWaiting},
		large:     gate{semaphore: semaphore.NewWeighted(maxAdmitted), capacity: maxAdmitted, maxWaiting: maxWaiting},
		anonymous: gate{semaphore: semaphore.NewWeighted(1), capacity: 1, maxWaiting: maxAnonymousWaiting},
	}
}

// admit waits until p may parse or decode a text of size bytes. The caller calls done
// afterwards. CodeBusy when too many calls wait or the wait takes too long; the cause of ctx
// when it ends.
func (l *parseLimiter) admit(ctx context.Context, p routine.Principal, size int) (done func(), err error) {
	switch {
	case p.Anonymous():
		return l.anonymous.enter(ctx, 1)
	case size <= smallDefinition:
		return l.small.enter(ctx, int64(size))
	}
	return l.large.enter(ctx, int64(size))
}

// admitList is admit for a list of at most limit routines.
func (l *parseLimiter) admitList(ctx context.Context, p routine.Principal, limit int) (done func(), err error) {
	if p.Anonymous() {
		return l.anonymous.enter(ctx, 1)
	}
	return l.small.enter(ctx, int64(limit)*listedDefinition)
}

// gate is a weighted semaphore with a limit on the weight that waits.
type gate struct {
	semaphore  *semaphore.Weighted
	capacity   int64
	waiting    atomic.Int64
	maxWaiting int64
}

// enter waits until there is room for weight, or for all of the capacity if weight is larger.
func (g *gate) enter(ctx context.Context, weight int64) (leave func(), err error) {
	weight = min(max(weight, 1), g.capacity)
	leave = func() { g.semaphore.Release(weight) }
	if g.semaphore.TryAcquire(weight) {
		return leave, nil
	}
	defer g.waiting.Add(-weight)
	if g.waiting.Add(weight) > g.maxWaiting {
		return nil, errParseLimit
	}
	waiting, cancel := context.WithTimeoutCause(ctx, maxParseWait, errParseLimit)
	defer cancel()
	if g.semaphore.Acquire(waiting, weight) != nil {
		return nil, routine.CauseOf(waiting)
	}
	return leave, nil
}

// errParseLimit is the error of a call that was not admitted in time.
var errParseLimit = &routine.Error{Code: routine.CodeBusy, RetryAfter: time.Second,
	Message: "the service is working on as many large routines as it can: try again"}
