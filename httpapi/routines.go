package httpapi

import (
	"net/http"

	"rote/routine"
)

// created is a routine's own fields, with what is doubtful about it.
type created struct {
	*routine.Routine
	Warnings []routine.Problem `json:"warnings"`
}

func (a *api) createRoutine(q *request) (answer, error) {
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	once, err := onceOf(q.Header, text)
	if err != nil {
		return answer{}, err
	}
	r, warnings, err := a.service.CreateRoutineOnce(q.Context(), q.principal, text, once)
	if err != nil {
		return answer{}, &failure{error: err, warnings: warnings}
	}
	return answer{status: http.StatusCreated, body: created{r, orNone(warnings)}, location: a.base + "/routines/" + r.ID}, nil
}

// validation is the answer to a definition that was accepted. One that was not
// is answered as a problem with valid false.
type validation struct {
	Valid    bool                `json:"valid"`
	Routine  *routine.Definition `json:"routine"`
	Errors   []routine.Problem   `json:"errors"`
	Warnings []routine.Problem   `json:"warnings"`
}

func (a *api) validateRoutine(q *request) (answer, error) {
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	d, warnings, err := a.service.Validate(text)
	if err != nil {
		return answer{}, &failure{error: err, warnings: warnings, validation: true}
	}
	return answer{status: http.StatusOK, body: validation{true, d, orNone[routine.Problem](nil), orNone(warnings)}}, nil
}

func (a *api) readRoutine(q *request) (answer, error) {
	r, err := a.service.Routine(q.Context(), q.principal, q.routineID())
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: r}, nil
}

func (a *api) listRoutines(q *request) (answer, error) {
	query, err := queryOf(q.URL)
	if err != nil {
		return answer{}, err
	}
	limit, offset := query.page()
	if err := query.err(); err != nil {
		return answer{}, err
	}
	rs, total, err := a.service.Routines(q.Context(), q.principal, routine.RoutineFilter{Limit: limit, Offset: offset})
	if err != nil {
		return answer{}, err
	}
	return answerPage(q, rs, total, limit, offset), nil
}

// orNone makes no items a list without items: null would be neither.
func orNone[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
