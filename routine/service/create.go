package service

import (
	"context"
	"errors"
	"log/slog"

	"rote/routine"
	"rote/routine/audit"

	"github.com/google/uuid"
)

// CreateRoutine checks text and saves it as an active routine of p. A call that repeats an
// idempotency key returns the routine that the first call created. The problems are
// warnings. CodeUnauthenticated, CodeForbidden, CodeInvalid, CodeTooLarge, CodeBusy,
// CodeIdempotencyMismatch.
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
	r, err := s.saveNewOnce(ctx, p, key, d)
	if err != nil {
		return nil, warnings, err
	}
	return r, s.addNamesakes(ctx, p, r, warnings), nil
}

// addNamesakes adds a warning if other routines have the name of a new one.
func (s *Service) addNamesakes(ctx context.Context, p routine.Principal, r *routine.Routine, warnings []routine.Problem) []routine.Problem {
	duplicate, err := s.warnOfNamesakes(ctx, p, r)
	if err != nil {
		s.log.WarnContext(ctx, "cannot look for routines of the same name", "routine_id", r.ID, "error", err)
	}
	return append(warnings, duplicate...)
}

// CreateDraft checks text and saves it as a draft of p, which can be run but is not published.
// The problems are warnings. The codes of CreateRoutine.
func (s *Service) CreateDraft(ctx context.Context, p routine.Principal, text []byte) (*routine.Routine, []routine.Problem, error) {
	if err := may(p, toCreate, nil); err != nil {
		return nil, nil, err
	}
	d, warnings, err := s.parse(ctx, p, text)
	if err != nil {
		return nil, warnings, err
	}
	r := s.newRoutine(p, d)
	r.Status = routine.StatusDraft
	if err := s.saveNew(ctx, p, r); err != nil {
		return nil, warnings, storeError(ctx, "create draft", err)
	}
	return routineAnswer(r, p), s.addNamesakes(ctx, p, r, warnings), nil
}

// saveNewOnce saves a new routine with the definition d. If an earlier call with the key has
// done so, it returns the routine of that call, as p may see it.
func (s *Service) saveNewOnce(ctx context.Context, p routine.Principal, key *routine.IdempotencyKey, d *routine.Definition) (*routine.Routine, error) {
	if r, err := s.findRoutineByKey(ctx, p, key, d); r != nil || err != nil {
		return r, err
	}
	r := s.newRoutine(p, d)
	r.Key = key
	err := s.saveNew(ctx, p, r)
	if errors.Is(err, routine.ErrKeyTaken) { // by a call that came at the same time
		r, err := s.findRoutineByKey(ctx, p, key, d)
		if r == nil && err == nil {
			err = errKeyExpired
		}
		return r, err
	}
	if err != nil {
		return nil, storeError(ctx, "create routine", err)
	}
	return routineAnswer(r, p), nil
}

// newRoutine returns an active routine of p with the definition d. It has no tool name yet.
func (s *Service) newRoutine(p routine.Principal, d *routine.Definition) *routine.Routine {
	now := s.now().Unix()
	return &routine.Routine{ID: "Routine_" + uuid.Must(uuid.NewV7()).String(), Definition: *d, CreatedBy: p.UserID, ProjectID: p.ProjectID,
		OrganizationID: p.OrganizationID, Status: routine.StatusActive, CreatedAt: now, UpdatedAt: now, Version: 1}
}

// saveNew sets a tool name for r that is free in its organization, and saves r for p. The error
// is the store's.
func (s *Service) saveNew(ctx context.Context, p routine.Principal, r *routine.Routine) (err error) {
	for attempt := range 3 {
		r.ToolName = toolName(r.Name, r.ID, attempt)
		if err = s.store.CreateRoutine(ctx, r); !errors.Is(err, routine.ErrToolNameTaken) {
			break
		}
	}
	if err == nil {
		s.audit.Changed(ctx, p, audit.RoutineCreated, routineAttrs(r)...)
	}
	return err
}

// routineAttrs say in the audit log which version of a routine was saved.
func routineAttrs(r *routine.Routine) []slog.Attr {
	return []slog.Attr{slog.String("routine_id", r.ID), slog.String("name", r.Name), slog.Int("version", r.Version), slog.String("status", string(r.Status)),
		slog.Bool("published", r.IsMCPToolDesignated)}
}

// findRoutineByKey returns the routine that an earlier call with k's key created from d, as it
// was then and as p may see it. It is nil if there was no such call.
func (s *Service) findRoutineByKey(ctx context.Context, p routine.Principal, k *routine.IdempotencyKey, d *routine.Definition) (*routine.Routine, error) {
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
