package service

import (
	"context"
	"errors"
	"time"

	"rote/routine"
	"rote/routine/tracing"
)

// tracedStore makes spans of what calls and runs ask of a store. What maintenance does has no
// caller who waits for it, and no span.
type tracedStore struct{ routine.Store }

// traceStore returns the store with spans, or the store itself if there are no traces.
func traceStore(s routine.Store, t *tracing.Tracer) routine.Store {
	if t == nil {
		return s
	}
	return tracedStore{s}
}

// storeSpan starts the span of one call of the store.
func storeSpan(ctx context.Context, method string) (_ context.Context, ended func(error)) {
	ctx, span := tracing.Start(ctx, tracing.Internal, "store "+method)
	if span == nil {
		return ctx, func(error) {}
	}
	span.Set("db.operation.name", method)
	return ctx, func(err error) {
		if err == nil || errors.Is(err, routine.ErrNotFound) {
			span.End("")
			return
		}
		span.End("store_error")
	}
}

func (s tracedStore) CreateExecution(ctx context.Context, e *routine.Execution) (err error) {
	ctx, ended := storeSpan(ctx, "CreateExecution")
	defer func() { ended(err) }()
	return s.Store.CreateExecution(ctx, e)
}

func (s tracedStore) StartExecution(ctx context.Context, id string, at time.Time) (err error) {
	ctx, ended := storeSpan(ctx, "StartExecution")
	defer func() { ended(err) }()
	return s.Store.StartExecution(ctx, id, at)
}

func (s tracedStore) FinishExecution(ctx context.Context, e *routine.Execution) (err error) {
	ctx, ended := storeSpan(ctx, "FinishExecution")
	defer func() { ended(err) }()
	return s.Store.FinishExecution(ctx, e)
}

func (s tracedStore) Execution(ctx context.Context, id string) (_ *routine.Execution, err error) {
	ctx, ended := storeSpan(ctx, "Execution")
	defer func() { ended(err) }()
	return s.Store.Execution(ctx, id)
}

func (s tracedStore) Executions(ctx context.Context, f routine.ExecutionFilter) (_ []*routine.Execution, _ int, err error) {
	ctx, ended := storeSpan(ctx, "Executions")
	defer func() { ended(err) }()
	return s.Store.Executions(ctx, f)
}

func (s tracedStore) PutFile(ctx context.Context, executionID string, f *routine.File) (err error) {
	ctx, ended := storeSpan(ctx, "PutFile")
	defer func() { ended(err) }()
	return s.Store.PutFile(ctx, executionID, f)
}

func (s tracedStore) File(ctx context.Context, executionID, name string) (_ *routine.File, err error) {
	ctx, ended := storeSpan(ctx, "File")
	defer func() { ended(err) }()
	return s.Store.File(ctx, executionID, name)
}

func (s tracedStore) Routine(ctx context.Context, id string) (_ *routine.Routine, err error) {
	ctx, ended := storeSpan(ctx, "Routine")
	defer func() { ended(err) }()
	return s.Store.Routine(ctx, id)
}

func (s tracedStore) Routines(ctx context.Context, f routine.RoutineFilter) (_ []*routine.Routine, _ int, err error) {
	ctx, ended := storeSpan(ctx, "Routines")
	defer func() { ended(err) }()
	return s.Store.Routines(ctx, f)
}

func (s tracedStore) Version(ctx context.Context, id string, number int) (_ *routine.Version, err error) {
	ctx, ended := storeSpan(ctx, "Version")
	defer func() { ended(err) }()
	return s.Store.Version(ctx, id, number)
}

func (s tracedStore) CreateRoutine(ctx context.Context, r *routine.Routine) (err error) {
	ctx, ended := storeSpan(ctx, "CreateRoutine")
	defer func() { ended(err) }()
	return s.Store.CreateRoutine(ctx, r)
}

func (s tracedStore) UpdateRoutine(ctx context.Context, r *routine.Routine, by string) (err error) {
	ctx, ended := storeSpan(ctx, "UpdateRoutine")
	defer func() { ended(err) }()
	return s.Store.UpdateRoutine(ctx, r, by)
}

func (s tracedStore) TokenByHash(ctx context.Context, hash [32]byte) (_ *routine.Token, err error) {
	ctx, ended := storeSpan(ctx, "TokenByHash")
	defer func() { ended(err) }()
	return s.Store.TokenByHash(ctx, hash)
}

func (s tracedStore) FindByKey(ctx context.Context, k *routine.IdempotencyKey) (_ string, _ [32]byte, err error) {
	ctx, ended := storeSpan(ctx, "FindByKey")
	defer func() { ended(err) }()
	return s.Store.FindByKey(ctx, k)
}

func (s tracedStore) Secret(ctx context.Context, organizationID, projectID, name string) (_ *routine.Secret, err error) {
	ctx, ended := storeSpan(ctx, "Secret")
	defer func() { ended(err) }()
	return s.Store.Secret(ctx, organizationID, projectID, name)
}

func (s tracedStore) SecretValue(ctx context.Context, of *routine.Secret, field string) (_ routine.Hidden, err error) {
	ctx, ended := storeSpan(ctx, "SecretValue")
	defer func() { ended(err) }()
	return s.Store.SecretValue(ctx, of, field)
}

func (s tracedStore) RecordSecretUses(ctx context.Context, uses []routine.SecretUse) (err error) {
	ctx, ended := storeSpan(ctx, "RecordSecretUses")
	defer func() { ended(err) }()
	return s.Store.RecordSecretUses(ctx, uses)
}

func (s tracedStore) SessionState(ctx context.Context, organizationID, projectID, name string) (_ *routine.Session, _ []byte, err error) {
	ctx, ended := storeSpan(ctx, "SessionState")
	defer func() { ended(err) }()
	return s.Store.SessionState(ctx, organizationID, projectID, name)
}

func (s tracedStore) SaveSession(ctx context.Context, session *routine.Session, state []byte, before int) (err error) {
	ctx, ended := storeSpan(ctx, "SaveSession")
	defer func() { ended(err) }()
	return s.Store.SaveSession(ctx, session, state, before)
}

func (s tracedStore) LeaseSession(ctx context.Context, l routine.SessionLease) (_ bool, err error) {
	ctx, ended := storeSpan(ctx, "LeaseSession")
	defer func() { ended(err) }()
	return s.Store.LeaseSession(ctx, l)
}

func (s tracedStore) ProjectState(ctx context.Context, organizationID, projectID string) (_ []byte, err error) {
	ctx, ended := storeSpan(ctx, "ProjectState")
	defer func() { ended(err) }()
	return s.Store.ProjectState(ctx, organizationID, projectID)
}
