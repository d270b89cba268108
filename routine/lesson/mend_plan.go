package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"rote/routine"
	"rote/routine/lesson/judge"
	"rote/routine/operation"
)

// mendPlan is what a lesson that mends a routine begins with.
type mendPlan struct {
	routine *routine.Routine
	// version is the version that is mended, definition what it has.
	version    int
	definition *routine.Definition
	// execution is the failed run; nil without one.
	execution *routine.Execution
	values    map[string]json.RawMessage
	// failed is the index of the operation that failed; -1 if none did. until is how many
	// operations to do.
	failed, until int
	// confirmed reports whether the caller said how many to do, and so that operations that
	// act on the site may be done again.
	confirmed bool
}

// planMend reads the routine and the execution of a request. CodeInvalid, CodeNotFound,
// CodeConflict, CodeForbidden.
func (s *Lessons) planMend(ctx context.Context, p routine.Principal, q StartRequest) (*mendPlan, error) {
	plan := &mendPlan{failed: -1}
	var err error
	key, stored := q.Routine, json.RawMessage(nil)
	if q.Execution != "" {
		if plan.execution, err = s.service.Execution(ctx, p, q.Execution); err != nil {
			return nil, err
		}
		if err := mendable(plan.execution); err != nil {
			return nil, err
		}
		plan.version, stored = plan.execution.RoutineVersion, plan.execution.Parameters
		if key == "" {
			key = plan.execution.RoutineID
		}
	}
	if plan.routine, plan.definition, err = s.service.RoutineToMend(ctx, p, key, plan.version); err != nil {
		return nil, err
	}
	if plan.version == 0 {
		plan.version = plan.routine.Version
	}
	total := len(plan.definition.Operations)
	plan.until = total
	if plan.execution != nil {
		if plan.execution.RoutineID != plan.routine.ID {
			return nil, routine.Errorf(routine.CodeInvalid, "execution %s is of another routine, %s", plan.execution.ID, plan.execution.RoutineID)
		}
		plan.failed = min(failedOperation(plan.execution), total-1)
		if plan.failed < 0 && q.Until == nil {
			return nil, routine.Errorf(routine.CodeInvalid, "no operation of execution %s failed: say until to add operations after one", plan.execution.ID)
		}
		if plan.failed >= 0 {
			plan.until = plan.failed
		}
	}
	if q.Until != nil {
		plan.until, plan.confirmed = *q.Until, true
		if plan.until < 0 || plan.until > total {
			return nil, routine.Errorf(routine.CodeInvalid, "until must be from 0 to %d, the number of operations of the routine", total)
		}
	}
	if plan.values, err = mendValues(plan.definition, stored, q.Values); err != nil {
		return nil, err
	}
	return plan, nil
}

// mendable returns an error if an execution cannot be the beginning of a lesson.
func mendable(e *routine.Execution) error {
	switch {
	case e.Open():
		return routine.Errorf(routine.CodeConflict, "execution %s is still %s: wait for its end", e.ID, e.Status)
	case e.RoutineID == "":
		return routine.Errorf(routine.CodeInvalid, "execution %s ran a definition that was not saved: start a lesson with url", e.ID)
	}
	return nil
}

// failedOperation returns the index of the operation with which an execution failed, or of
// the first request that was answered with an error status, which ends no run; -1 if there
// is none.
func failedOperation(e *routine.Execution) int {
	records := e.Operations
	if e.Result != nil {
		records = e.Result.OperationsMetadata
	}
	for _, r := range records {
		if r.Error != nil {
			return r.Index
		}
	}
	for _, r := range records {
		if answeredWithError(r) {
			return r.Index
		}
	}
	if e.Status == routine.ExecutionFailed { // before or between operations, as when its time was over
		return len(records)
	}
	return -1
}

// answeredWithError reports whether an operation was done, but the server answered with an error
// status.
func answeredWithError(r routine.OperationRecord) bool {
	return (r.Type == "navigate" || r.Type == "fetch") && judge.StatusOf(r) >= 400
}

// operationPrefix is what the error of a run has before the message of the operation.
var operationPrefix = regexp.MustCompile(`^operation \d+ of \d+ \(\w+\): `)

// failure describes the failure of the plan's execution.
func (m *mendPlan) failure() *Failure {
	if m.execution == nil || m.failed < 0 {
		return nil
	}
	e := m.execution
	f := &Failure{Operation: m.failed + 1, Of: len(m.definition.Operations), Summary: operation.Describe(m.definition.Operations[m.failed]),
		Code: e.ErrorCode, Execution: e.ID, At: e.CreatedAt}
	if e.CompletedAt != nil {
		f.At = *e.CompletedAt
	}
	switch {
	case e.Result != nil && m.failed < len(e.Result.OperationsMetadata) && e.Result.OperationsMetadata[m.failed].Error != nil:
		f.Message = *e.Result.OperationsMetadata[m.failed].Error
	case e.Result != nil && m.failed < len(e.Result.OperationsMetadata) && answeredWithError(e.Result.OperationsMetadata[m.failed]):
		f.Code, f.Message = routine.CodeHTTPError, refusal(e.Result.OperationsMetadata[m.failed])
	case e.Error != nil:
		f.Message = operationPrefix.ReplaceAllString(*e.Error, "")
	}
	f.Message = ownMessage(m.definition.Operations[m.failed], f.Message)
	return f
}

// ownMessage returns the message of a failure without the script of a text form, which the
// author did not write.
func ownMessage(o routine.Operation, message string) string {
	if !operation.IsTextForm(o) {
		return message
	}
	message, _, _ = strings.Cut(message, " (line ")
	return strings.ReplaceAll(message, routine.Quote(operation.MarkSelector), "the element that was found by its text")
}

func refusal(r routine.OperationRecord) string {
	return fmt.Sprintf("the server answered with status %d", judge.StatusOf(r))
}
