package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"rote/routine"
	"slices"
	"strings"
	"time"
)

// MaxIdempotencyKey bounds a key, in bytes.
const MaxIdempotencyKey = 255

// Once makes sure that a call does its work at most once, however often it is
// made: whoever repeats it under the same key is told what came of the first.
// The zero value does not.
type Once struct {
	// Key is the caller's choice. It belongs to the caller's organization, user,
	// project and reach: the same key of another one is another key.
	Key string
	// Body is the request; another one under the same key is refused.
	Body []byte
}

// record is the record of a call; doing tells what is asked for beside the
// body. Nil without a key. CodeInvalid for what cannot be a key.
func (o Once) record(p routine.Principal, doing string, now time.Time) (*routine.IdempotencyKey, error) {
	if o.Key == "" {
		return nil, nil
	}
	if len(o.Key) > MaxIdempotencyKey || !printable(o.Key) {
		return nil, routine.Errorf(routine.CodeInvalid, "an idempotency key has at most %d printable ASCII characters", MaxIdempotencyKey)
	}
	h := sha256.New()
	h.Write([]byte(doing + "\n"))
	h.Write(o.Body)
	return &routine.IdempotencyKey{OrganizationID: p.OrganizationID, UserID: p.UserID, ProjectID: p.ProjectID, Reach: reachOf(p), Key: o.Key,
		Fingerprint: [sha256.Size]byte(h.Sum(nil)), CreatedAt: now}, nil
}

// reachOf returns the hosts that p's runs are limited to, in lower case, sorted and
// separated by blanks; empty: they are not limited.
func reachOf(p routine.Principal) string {
	var hosts []string
	for _, host := range p.AllowedHosts {
		hosts = append(hosts, strings.ToLower(host))
	}
	slices.Sort(hosts)
	return strings.Join(slices.Compact(hosts), " ")
}

func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// findByKey returns the id of what a call with k's key made; empty: none was made,
// or k is nil. CodeIdempotencyMismatch when that call was another one.
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

// findExecutionByKey returns the execution that a call with k's key has started;
// nil: there is none. The execution of a call that was made with another token is given to
// p only if p may read executions: CodeForbidden.
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
