package rows

import (
	"fmt"

	"rote/routine"
)

// Scan reads the columns of one row into variables. It is the Scan method of a driver's
// row.
type Scan = func(into ...any) error

// ScanExecution reads the columns of an execution that lists have too, and then more
// columns. They are: id, routine_id, routine_name, routine_version, status, error,
// error_code, created_at, started_at, completed_at, duration_seconds, parameters (NULL if
// they are too long), whether they were left out, created_by, token_id, via,
// operations_done, operations_total, organization_id, schedule_id. The name and the error may be
// texts or bytes.
func ScanExecution(scan Scan, more ...any) (*routine.Execution, error) {
	var (
		e                       routine.Execution
		name, fault, parameters []byte
		created                 int64
		started, completed      *int64
	)
	err := scan(append([]any{&e.ID, &e.RoutineID, &name, &e.RoutineVersion, &e.Status, &fault, &e.ErrorCode,
		&created, &started, &completed, &e.DurationSeconds, &parameters, &e.ParametersOmitted, &e.CreatedBy, &e.TokenID, &e.Via,
		&e.OperationsDone, &e.OperationsTotal, &e.OrganizationID, &e.ScheduleID}, more...)...)
	if err != nil {
		return nil, err
	}
	e.RoutineName, e.Parameters = string(name), parameters
	if fault != nil {
		e.Error = new(string(fault))
	}
	e.CreatedAt = fromMicros(created)
	e.StartedAt, e.CompletedAt = fromNullMicros(started), fromNullMicros(completed)
	return &e, nil
}

// RecentRunColumns are the columns that ScanRecentRun reads.
const RecentRunColumns = `executions.id, executions.routine_id, routine_version, status, error_code, executions.created_at, duration_seconds`

// ScanRecentRun reads the RecentRunColumns of an execution of an organization.
func ScanRecentRun(scan Scan, organizationID string) (*routine.Execution, error) {
	e := &routine.Execution{OrganizationID: organizationID}
	var created int64
	err := scan(&e.ID, &e.RoutineID, &e.RoutineVersion, &e.Status, &e.ErrorCode, &created, &e.DurationSeconds)
	e.CreatedAt = fromMicros(created)
	return e, err
}

// ExecutionDetails are the columns of an execution that lists do not have, as JSON. Each
// may be NULL.
type ExecutionDetails struct{ Result, Operations, Evidence []byte }

// Decode adds the details to e.
func (d ExecutionDetails) Decode(e *routine.Execution) error {
	if err := decode("result", e.ID, d.Result, &e.Result); err != nil {
		return err
	}
	if err := decode("operations", e.ID, d.Operations, &e.Operations); err != nil {
		return err
	}
	return decode("evidence", e.ID, d.Evidence, &e.Evidence)
}

// WhyUnchanged returns why a statement that expects another status did not change an
// execution. ErrFinal if it has ended.
func WhyUnchanged(status routine.ExecutionStatus) error {
	if status == routine.ExecutionCompleted || status == routine.ExecutionFailed {
		return routine.ErrFinal
	}
	return fmt.Errorf("it is %s", status)
}

// CheckQueuedCall returns an error if an execution that is not pending has a queued call.
func CheckQueuedCall(e *routine.Execution) error {
	if e.QueuedCall != nil && e.Status != routine.ExecutionPending {
		return fmt.Errorf("an execution that is %s cannot be queued", e.Status)
	}
	return nil
}
