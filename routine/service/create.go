package service

import (
	"context"
	"errors"
	"rote/routine"

	"github.com/google/uuid"
)

// CreateRoutine checks text and saves it as an active routine of p. A call that is
// repeated under its idempotency key returns what the first one returned; the zero
// Idempotency has no key. The problems are warnings. CodeUnauthenticated, CodeForbidden,
// CodeInvalid, CodeTooLarge, CodeIdempotencyMismatch.
func (s *Service) CreateRoutine(ctx context.Context, p routine.Principal, text []byte, i Idempotency) (*routine.Routine, []routine.Problem, error) {
	if err := may(p, toCreate, nil); err != nil {
		return nil, nil, err
	}
	key, err := i.record(p, "create", s.now())
	if err != nil {
		return nil, nil, err
	}
	d, warnings, err := s.parse(ctx, p, text)
	if err != nil {
		return nil, warnings, err
	}
	r, err := s.createOnce(ctx, p, key, d)
	if err != nil {
		return nil, warnings, err
	}
	duplicate, err := s.warnOfNamesakes(ctx, p, r)
	if err != nil {
		s.log.WarnContext(ctx, "cannot look for routines of the same name", "routine_id", r.ID, "error", err)
	}
	return r, append(warnings, duplicate...), nil
}

// createOnce saves a routine made from d, unless a call with the key has already
// done so: then it gives that routine, as p may see it.
func (s *Service) createOnce(ctx context.Context, p routine.Principal, key *routine.IdempotencyKey, d *routine.Definition) (*routine.Routine, error) {
	if r, err := s.routineMade(ctx, p, key, d); r != nil || err != nil {
		return r, err
	}
	r := s.newRoutine(p, d)
	r.Key = key
	err := s.saveNew(ctx, r)
	if errors.Is(err, routine.ErrKeyTaken) { // just now, by another
		return s.routineMade(ctx, p, key, d)
	}
	if err != nil {
		return nil, storeError(ctx, "create routine", err)
	}
	return routineAnswer(r, p), nil
}

// newRoutine makes an active routine of p from d. It has no tool name yet.
func (s *Service) newRoutine(p routine.Principal, d *routine.Definition) *routine.Routine {
	now := s.now().Unix()
	return &routine.Routine{ID: "Routine_" + uuid.Must(uuid.NewV7()).String(), Definition: *d, CreatedBy: p.UserID, ProjectID: p.ProjectID,
		OrganizationID: p.OrganizationID, Status: routine.StatusActive, CreatedAt: now, UpdatedAt: now, Version: 1}
}

// saveNew gives r a tool name that is free in its organization and saves it. The
// error is the store's.
func (s *Service) saveNew(ctx context.Context, r *routine.Routine) (err error) {
	for attempt := range 3 {
		r.ToolName = toolName(r.Name, r.ID, attempt)
		if err = s.store.CreateRoutine(ctx, r); !errors.Is(err, routine.ErrToolNameTaken) {
			return err
		}
	}
	return err
}

// routineMade is the routine that a call with k's key has created from d, as it
// was then and as p may see it; nil: there is none.
func (s *Service) routineMade(ctx context.Context, p routine.Principal, k *routine.IdempotencyKey, d *routine.Definition) (*routine.Routine, error) {
	id, err := s.findByKey(ctx, k)
	if err != nil || id == "" {
		return nil, err
	}
	r, err := s.readRoutine(ctx, p, id)
	if routine.CodeOf(err) == routine.CodeBusy {
		return nil, err
	}
	if err != nil {
		return nil, storeError(ctx, "read routine", err)
	}
	r.Definition, r.Status, r.Version, r.UpdatedAt = *d, routine.StatusActive, 1, r.CreatedAt
	return routineAnswer(r, p), nil
}
