package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// maxIdempotencyKey is the longest key in bytes.
const maxIdempotencyKey = 255

// Idempotency makes a call idempotent: a call that is repeated with the same key returns
// what came of the first call, and does not do the work again. The zero value has no key
// and does nothing.
type Idempotency struct {
	// Key is chosen by the caller. Keys of other organizations, users or projects, and of
	// tokens with other allowed hosts, are different keys.
	Key string
	// Body is the body of the request. A call with the same key and another body is refused.
	Body []byte
}

// record returns the record of the call, in which doing tells apart calls of different
// kinds with the same body. It is nil without a key. CodeInvalid for an invalid key.
func (i Idempotency) record(p routine.Principal, doing string, now time.Time) (*routine.IdempotencyKey, error) {
	if i.Key == "" {
		return nil, nil
	}
	if len(i.Key) > maxIdempotencyKey || !printable(i.Key) {
		return nil, routine.Errorf(routine.CodeInvalid, "an idempotency key has at most %d printable ASCII characters", maxIdempotencyKey)
	}
	h := sha256.New()
	h.Write([]byte(doing + "\n"))
	h.Write(i.Body)
	return &routine.IdempotencyKey{OrganizationID: p.OrganizationID, UserID: p.UserID, ProjectID: p.ProjectID, Reach: reachOf(p), Key: i.Key,
		Fingerprint: [sha256.Size]byte(h.Sum(nil)), CreatedAt: now}, nil
}

// reachOf returns the hosts that p's runs are limited to, in lower case, sorted and separated
// by spaces. It is empty if the runs are not limited.
func reachOf(p routine.Principal) string {
	var hosts []string
	for _, host := range p.AllowedHosts {
		hosts = append(hosts, strings.ToLower(host))
	}
	slices.Sort(hosts)
	return strings.Join(slices.Compact(hosts), " ")
}

// printable reports whether text has only printable ASCII characters.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// errKeyExpired is returned if a key was taken when a row was saved and is gone when it
// is read: its time ended in between.
var errKeyExpired = &routine.Error{Code: routine.CodeConflict, Message: "the idempotency key has just expired: send the request again",
	RetryAfter: time.Second}

// findByKey returns the id of the routine or execution that an earlier call with k's key
// created. It is empty if there was no such call or k is nil. CodeIdempotencyMismatch when
// the earlier call was a different one.
func (s *Service) findByKey(ctx context.Context, k *routine.IdempotencyKey) (string, error) {
	if k == nil {
		return "", nil
	}
	id, fingerprint, err := s.store.FindByKey(ctx, k)
	if errors.Is(err, routine.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", storeError(ctx, "read idempotency key", err)
	}
	if fingerprint != k.Fingerprint {
		return "", routine.Errorf(routine.CodeIdempotencyMismatch, "this idempotency key was used for another request: use a new key for a new request")
	}
	return id, nil
}

// findExecutionByKey returns the execution that an earlier call with k's key started, or nil
// if there was no such call. If the earlier call was made with another token, p needs the
// right to read executions: CodeForbidden.
func (s *Service) findExecutionByKey(ctx context.Context, p routine.Principal, k *routine.IdempotencyKey) (*routine.Execution, error) {
	id, err := s.findByKey(ctx, k)
	if err != nil || id == "" {
		return nil, err
	}
	e, err := s.store.Execution(ctx, id)
	if err != nil {
		return nil, storeError(ctx, "read execution", err)
	}
	if e.TokenID != p.TokenID {
		if err := may(p, toReadExecutions, executionObject(e)); err != nil {
			return nil, routine.Errorf(routine.CodeForbidden, "this idempotency key was used with another token: its answer needs the scope %s; "+
				"use a new key for a new run", routine.ScopeExecutionsRead)
		}
	}
	return s.withActiveState(e), nil
}
