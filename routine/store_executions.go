package routine

import (
	"context"
	"time"
)

// ExecutionStore is the part of a [Store] that keeps executions.
type ExecutionStore interface {
	// CreateExecution saves e, which may have ended already, with its idempotency key
	// and its callback but without its files. If it returns ErrKeyTaken, nothing is
	// saved.
	CreateExecution(ctx context.Context, e *Execution) error
	// StartExecution sets a pending execution to running. ErrNotFound; ErrFinal if it
	// has ended.
	StartExecution(ctx context.Context, id string, at time.Time) error
	// SaveOperations replaces the saved records of an open execution. ErrNotFound;
	// ErrFinal.
	SaveOperations(ctx context.Context, id string, records []OperationRecord) error
	// FinishExecution ends an open execution with e's status, result, error and times.
	// It succeeds exactly once and then returns ErrFinal. ErrNotFound.
	FinishExecution(ctx context.Context, e *Execution) error
	// Execution returns one execution with the descriptions of its files. ErrNotFound.
	Execution(ctx context.Context, id string) (*Execution, error)
	// Executions returns the executions that f selects, newest first (ties by id), and
	// the total number of matches. The executions have no results, operations,
	// evidence and files, and no parameters of more than MaxListedParameters bytes.
	Executions(ctx context.Context, f ExecutionFilter) ([]*Execution, int, error)

	// RequestCancel asks the process that runs an open execution to cancel it. It is
	// idempotent. ErrNotFound; ErrFinal.
	RequestCancel(ctx context.Context, id string, at time.Time) error
	// CancelRequests returns the ids of this Store's own open executions for which
	// RequestCancel was called.
	CancelRequests(ctx context.Context) ([]string, error)
	// RecoverExecutions fails, with CodeInterrupted, all executions that a process
	// left open when it died, and returns their number. It leaves executions of living
	// processes open, including its own.
	RecoverExecutions(ctx context.Context, at time.Time) (int, error)

	// Prune deletes executions that have ended and that retention no longer keeps at
	// now, with their files, and returns their number. It keeps an execution while its
	// idempotency key is valid, and until its webhook is delivered or given up.
	Prune(ctx context.Context, r Retention, now time.Time) (int, error)

	// PutFile saves a file of an open execution and replaces one of the same name.
	// ErrNotFound; ErrFinal.
	PutFile(ctx context.Context, executionID string, f *File) error
	// File returns one file of an execution. ErrNotFound.
	File(ctx context.Context, executionID, name string) (*File, error)
}

// Retention says which executions are kept. The zero value keeps all.
type Retention struct {
	// Age is how long an execution is kept after its creation; 0: for ever.
	Age time.Duration
	// Size bounds the bytes of all results, parameters, evidence and files. The oldest
	// executions are deleted first. 0: no bound.
	Size int64
}

// ExecutionFilter selects executions of one organization.
type ExecutionFilter struct {
	OrganizationID string
	// RoutineID and Status narrow the selection if they are not empty.
	RoutineID string
	Status    ExecutionStatus
	// Limit is the maximum number to return; zero or less: all. Offset is how many to
	// skip.
	Limit, Offset int
}
