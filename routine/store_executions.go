package routine

import (
	"context"
	"time"
)

// ExecutionStore is the part of a [Store] that keeps executions.
type ExecutionStore interface {
	// CreateExecution saves e, which may be running or have ended already, with its
	// idempotency key, its callback and its queued call but without its files, and makes its
	// claim. If it returns ErrKeyTaken or ErrNotDue, nothing is saved. It takes one commit,
	// and so does each other method that changes one execution.
	CreateExecution(ctx context.Context, e *Execution) error
	// StartExecution sets a pending execution to running. It is called for executions
	// that had to wait; others are created as running. ErrNotFound; ErrFinal if it has
	// ended.
	StartExecution(ctx context.Context, id string, at time.Time) error
	// SaveProgress replaces the saved records of executions, by their ids, with one
	// statement for all of them. It skips executions that have ended or do not exist.
	// After a crash of the machine the last call may be lost.
	SaveProgress(ctx context.Context, records map[string][]OperationRecord) error
	// FinishExecution ends an open execution with e's status, result, error and times,
	// saves e's SecretUses, and replaces the browser state of the project with e's State, if
	// it is not nil: all of this or nothing. If two runs end at once, the state of the last one stays. It
	// succeeds exactly once and then returns ErrFinal. ErrNotFound; ErrStateKey, which
	// can be returned only if there is a State.
	FinishExecution(ctx context.Context, e *Execution) error
	// Execution returns one execution with the descriptions of its files. ErrNotFound.
	Execution(ctx context.Context, id string) (*Execution, error)
	// Executions returns the executions that f selects, newest first (ties by id), and
	// the total number of matches, whatever the page, at most f.MaxCounted()+1. The executions have no results, operations,
	// evidence and files, and no parameters of more than MaxListedParameters bytes.
	Executions(ctx context.Context, f ExecutionFilter) ([]*Execution, int, error)
	// RecentRuns returns the newest executions of some routines in an organization, at most n of
	// each, newest first (ties by id), by the id of the routine. It takes one statement. The
	// executions have only what identifies them, RoutineVersion, Status, ErrorCode, CreatedAt and
	// DurationSeconds.
	RecentRuns(ctx context.Context, organizationID string, routineIDs []string, n int) (map[string][]*Execution, error)

	// RequestCancel asks the process that runs an open execution to cancel it. A queued
	// execution, which no process has, has failed with CodeCancelled when it returns. It
	// is idempotent. ErrNotFound; ErrFinal.
	RequestCancel(ctx context.Context, id string, at time.Time) error
	// RecoverExecutions fails, with CodeInterrupted, all executions that a process
	// left open when it died, and returns their number. It leaves executions of living
	// processes open, including its own, and those that are queued.
	RecoverExecutions(ctx context.Context, at time.Time) (int, error)

	// Prune deletes executions that have ended and that retention no longer keeps at
	// now, with their files, and returns their number. It keeps an execution while its
	// idempotency key is valid, and until its webhook is delivered or given up. It also
	// deletes one-time codes that have expired, and sign-ins that are not valid any longer.
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
	// SecretUses is how long uses of secrets are kept; at least as long as executions, and 90
	// days.
	SecretUses time.Duration
}

// ExecutionFilter selects the executions of one organization that match all of its fields.
type ExecutionFilter struct {
	OrganizationID string
	// RoutineID, ScheduleID, Status, Via, Code and CreatedBy narrow the selection if they are
	// not empty. Code is that of the error with which the execution failed.
	RoutineID, ScheduleID string
	Status                ExecutionStatus
	Via                   Via
	Code                  Code
	CreatedBy             string
	// Version is the version of the routine that was run; 0: any. It is of use only with a
	// RoutineID.
	Version int
	// Since and Until bound the time of creation: not before Since, and before Until. Zero: no
	// bound. Times are compared to the microsecond.
	Since, Until time.Time
	// Before is the place in the list behind which the page begins; nil: at its beginning. A
	// page by Before costs the same wherever it is, and no execution is left out or repeated
	// when new ones are created meanwhile. It does not change the total.
	Before *ExecutionCursor
	// CountUpTo bounds the total: more matches are not counted. 0, or more than MaxTotal:
	// MaxTotal.
	CountUpTo int
	// Limit is the maximum number to return; zero or less: all. Offset is how many to
	// skip, behind Before.
	Limit, Offset int
}

// MaxCounted returns the largest total of the filter's list that is counted exactly.
func (f *ExecutionFilter) MaxCounted() int {
	if f.CountUpTo <= 0 {
		return MaxTotal
	}
	return min(f.CountUpTo, MaxTotal)
}
