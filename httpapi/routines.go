package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"

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
	r, warnings, err := a.service.CreateRoutine(q.Context(), q.principal, text)
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

// page is one part of a list.
type page[T any] struct {
	Items  []T `json:"items"`
	Total  int `json:"total"`
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
}

func (a *api) listRoutines(q *request) (answer, error) {
	limit, offset, err := pageOf(q.URL)
	if err != nil {
		return answer{}, err
	}
	rs, total, err := a.service.Routines(q.Context(), q.principal, limit, offset)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: page[*routine.Routine]{orNone(rs), total, limit, offset}}, nil
}

// pageOf reads which part of a list is asked for.
func pageOf(u *url.URL) (limit, offset int, err error) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return 0, 0, routine.Errorf(routine.CodeInvalid, "the query of the URL cannot be read: percent-encode its values")
	}
	var problems []routine.Problem
	integer := func(name string, or, low, high int, bounds string) int {
		if !values.Has(name) {
			return or
		}
		n, err := strconv.Atoi(values.Get(name))
		if err != nil || n < low || n > high || len(values[name]) > 1 {
			problems = append(problems, routine.Problem{Pointer: "/" + name, Code: "range", Message: fmt.Sprintf("%s must be one integer %s", name, bounds)})
		}
		return n
	}
	limit = integer("limit", routine.DefaultPageLimit, 1, routine.MaxPageLimit, fmt.Sprintf("from 1 to %d", routine.MaxPageLimit))
	offset = integer("offset", 0, 0, math.MaxInt, "of at least 0")
	if len(problems) > 0 {
		return 0, 0, badRequest(problems)
	}
	return limit, offset, nil
}

// orNone makes no items a list without items: null would be neither.
func orNone[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
