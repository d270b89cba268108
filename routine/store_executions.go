package routine

import (
	"context"
	"time"
)

// ExecutionStore is the part of a [Store] that keeps the ledger.
type ExecutionStore interface {
	// CreateExecution saves e as it is, open or not, without its files, with its
	// idempotency key and its callback. ErrKeyTaken: nothing is saved.
	CreateExecution(ctx context.Context, e *Execution) error
	// StartExecution turns a pending execution into a running one. ErrNotFound;
	// ErrFinal when it has ended.
	StartExecution(ctx context.Context, id string, at time.Time) error
	// SaveOperations keeps the records so far of an open execution, in place of
	// those saved before. ErrNotFound; ErrFinal.
	SaveOperations(ctx context.Context, id string, records []OperationRecord) error
	// FinishExecution ends an open execution with e's status, result, error and
	// times. It succeeds exactly once; then ErrFinal. ErrNotFound.
	FinishExecution(ctx context.Context, e *Execution) error
	// Execution reads one execution with the description of its files.
	// ErrNotFound.
	Execution(ctx context.Context, id string) (*Execution, error)
	// Executions lists the matches of f, newest first (ties by id), without
	// results, operations, evidence and files, and without parameters of more
	// than MaxListedParameters bytes, and the number of all matches.
	Executions(ctx context.Context, f ExecutionFilter) ([]*Execution, int, error)

	// RequestCancel marks an open execution for the process that runs it.
	// Idempotent. ErrNotFound; ErrFinal.
	RequestCancel(ctx context.Context, id string, at time.Time) error
	// CancelRequests are the ids of this Store's own open executions that are
	// marked.
	CancelRequests(ctx context.Context) ([]string, error)
	// RecoverExecutions ends, as failed with CodeInterrupted, every execution
	// that was left open by a process that no longer lives, and says how many.
	// Executions of living processes, its own included, stay open.
	RecoverExecutions(ctx context.Context, at time.Time) (int, error)

	// Prune deletes executions that have ended and that retention does not keep
	// at now, with their files, and says how many. One that a living idempotency
	// key stands for stays until the key is dead, and one that a webhook is to
	// tell of until that is delivered or given up.
	Prune(ctx context.Context, r Retention, now time.Time) (int, error)

	// PutFile saves a file of an open execution, in place of one of the same
	// name. ErrNotFound; ErrFinal.
	PutFile(ctx context.Context, executionID string, f *File) error
	// File reads one file of an execution. ErrNotFound.
	File(ctx context.Context, executionID, name string) (*File, error)
}

// Retention is which executions are kept. The zero value keeps all.
type Retention struct {
	// Age is how long an execution is kept after it was created; 0: for ever.
	Age time.Duration
	// Size bounds the bytes of all results, parameters, evidence and files; the
	// oldest executions go first. 0: no bound.
	Size int64
}

// ExecutionFilter chooses executions of one organization.
type ExecutionFilter struct {
	OrganizationID string
	// RoutineID and Status choose further; empty: any.
	RoutineID string
	Status    ExecutionStatus
	// Limit is how many to return; zero or less means all. Offset is how many
	// to skip.
	Limit, Offset int
}
