package httpapi

import "rote/routine"

// withheldRoutine is the response to a change by a caller who may not read the
// routine.
type withheldRoutine struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Status   routine.Status    `json:"routine_status"`
	Version  int               `json:"version"`
	Links    links             `json:"links"`
	Warnings []routine.Problem `json:"warnings,omitempty"`
}

// withheldExecution is the response to the cancellation of an execution that
// the caller may not read.
type withheldExecution struct {
	ID     string                  `json:"execution_id"`
	Status routine.ExecutionStatus `json:"status"`
	Links  links                   `json:"links"`
}

// links are paths that include the base path.
type links struct {
	Self string `json:"self"`
}

func (a *api) withheldRoutine(r *routine.Routine, warnings []routine.Problem) withheldRoutine {
	return withheldRoutine{r.ID, r.Name, r.Status, r.Version, links{a.base + "/routines/" + r.ID}, warnings}
}

func (a *api) withheldExecution(e *routine.Execution) withheldExecution {
	return withheldExecution{e.ID, e.Status, links{a.base + "/executions/" + e.ID}}
}

// changedRoutine returns the body for a routine after a change.
func (a *api) changedRoutine(r *routine.Routine, warnings []routine.Problem) any {
	if r.Withheld {
		return a.withheldRoutine(r, warnings)
	}
	return withWarnings{r, nonNil(warnings)}
}
