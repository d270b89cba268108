package httpapi

import "rote/routine"

// withheldRoutine is the answer to a change whose caller may not read the
// routine: enough to refer to it.
type withheldRoutine struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Status   routine.Status    `json:"routine_status"`
	Version  int               `json:"version"`
	Links    links             `json:"links"`
	Warnings []routine.Problem `json:"warnings,omitempty"`
}

// withheldExecution is the answer to the cancelling of an execution whose caller
// may not read it.
type withheldExecution struct {
	ID     string                  `json:"execution_id"`
	Status routine.ExecutionStatus `json:"status"`
	Links  links                   `json:"links"`
}

// links are paths, base path included.
type links struct {
	Self string `json:"self"`
}

func (a *api) withheldRoutine(r *routine.Routine, warnings []routine.Problem) withheldRoutine {
	return withheldRoutine{r.ID, r.Name, r.Status, r.Version, links{a.base + "/routines/" + r.ID}, warnings}
}

func (a *api) withheldExecution(e *routine.Execution) withheldExecution {
	return withheldExecution{e.ID, e.Status, links{a.base + "/executions/" + e.ID}}
}

// changedRoutine is the body that shows a routine after a change, with what is
// doubtful about its definition.
func (a *api) changedRoutine(r *routine.Routine, warnings []routine.Problem) any {
	if r.Withheld {
		return a.withheldRoutine(r, warnings)
	}
	return withWarnings{r, orNone(warnings)}
}
