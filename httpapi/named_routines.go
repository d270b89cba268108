package httpapi

import (
	"net/http"
	"strings"

	"rote/routine"
	"rote/routine/service"
)

// readNamedRoutine returns the routine with the name in the path, of the
// caller's organization.
func (a *api) readNamedRoutine(q *request) (response, error) {
	r, err := a.service.RoutineNamed(q.Context(), q.principal, q.pathParameter("name"))
	if err != nil {
		return response{}, err
	}
	return a.routineResponse(q, r), nil
}

// putRoutine creates the routine with the name in the path, or stores the body
// as its next version. It returns 201 for a new routine, otherwise 200.
func (a *api) putRoutine(q *request) (response, error) {
	if err := a.service.MayChange(q.principal); err != nil {
		return response{}, err
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	condition, err := putCondition(q.Header, "the routine")
	if err != nil {
		return response{}, err
	}
	r, created, warnings, err := a.service.PutRoutine(q.Context(), q.principal, q.pathParameter("name"), text, condition)
	got, err := a.changeResponse(q, r, warnings, err)
	if created {
		got.status, got.location = http.StatusCreated, a.base+"/routines/"+r.ID
	}
	return got, err
}

// putCondition returns what If-Match and If-None-Match ask of the stored thing that a PUT
// changes.
func putCondition(h http.Header, what string) (condition service.PutCondition, err error) {
	if condition.Versions, err = ifMatchVersions(h); err != nil {
		return condition, err
	}
	if given := h.Values("If-None-Match"); len(given) > 0 {
		if strings.TrimSpace(strings.Join(given, ",")) != "*" {
			return condition, routine.Errorf(routine.CodeInvalid,
				"If-None-Match can only be * here: it creates %s and never changes one. To change a known version, send If-Match", what)
		}
		condition.New = true
	}
	return condition, nil
}
