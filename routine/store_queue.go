package routine

import (
	"context"
	"errors"
	"time"
)

// ErrTaken means that the execution is not queued: a process has it already.
var ErrTaken = errors.New("execution is taken")

// ErrExpired means that the execution has waited in the queue for longer than it may. It is
// still queued until ExpireExecutions ends it.
var ErrExpired = errors.New("execution has waited too long")

// QueueStore is the part of a [Store] that keeps queued executions: pending ones that were
// created with a queued call and that no process has. Each process may claim them.
type QueueStore interface {
	// ClaimExecution makes this process the one that runs a queued execution, sets it to
	// running, and returns it with its queued call, which is deleted. Of callers in all
	// processes one succeeds. The call is nil if it was lost. ErrNotFound; ErrFinal;
	// ErrTaken. With ErrSealed and ErrStateKey, which mean that the call cannot be read,
	// the execution is returned too, and was claimed. ErrExpired if it has waited for longer
	// than limit; see ExpireExecutions.
	ClaimExecution(ctx context.Context, id string, at time.Time, limit time.Duration) (e *Execution, call []byte, err error)
	// ReleaseExecution gives an execution that this Store has claimed back to the queue, with
	// its call: each process may claim it again at once. The caller must not have started it.
	// If its cancel was requested, the execution fails with CodeCancelled instead. A store that
	// has a clock of its own measures the wait for ExpireExecutions anew. ErrNotFound; ErrFinal;
	// ErrTaken if this Store does not have it, for example because an earlier call succeeded;
	// ErrStateKey.
	ReleaseExecution(ctx context.Context, id string, call []byte, at time.Time) error
	// QueuedExecutions returns the queued executions, of each organization at most the
	// given number, oldest first (ties by id).
	QueuedExecutions(ctx context.Context, perOrganization int) ([]QueuedExecution, error)
	// ExpireExecutions fails, with CodeTimeout, the queued executions that have waited for
	// longer than limit, and returns their number. A store that has a clock of its own
	// measures the wait with it, because the clocks of the processes may differ. Any other
	// store takes the time from the creation until at.
	ExpireExecutions(ctx context.Context, limit time.Duration, at time.Time) (int, error)
	// CountQueued returns the number of queued executions of each organization that has any.
	CountQueued(ctx context.Context) (map[string]int, error)
}

// QueuedExecution is a queued execution.
type QueuedExecution struct{ ID, OrganizationID string }
